"""The campaign in small: each part finds what it looks for, and every target is met."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.campaign.figure import Figure
from tests.campaign.parts.abandoned import caches_after
from tests.campaign.parts.cold_starts import cold_starts
from tests.campaign.parts.command_lines import command_lines, lines, start_ups
from tests.campaign.parts.doors import dom_elements, links, posts, trace_files
from tests.campaign.parts.proxies import behind_a_proxy
from tests.campaign.parts.visitors import crowd
from ui.decode import session
from ui.hosting.limits import PUBLIC


def is_met(figure: Figure) -> bool:
    """Whether it is; else the failure shows the details."""
    assert figure.is_met, figure
    return True


def alone(part: Callable[..., Figure], *counts: int) -> Figure:
    """A part in a thread of its own: in this one the browser tests' Playwright may be at work."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(part, *counts).result()


def test_abandoned_runs_leave_no_cache():
    assert is_met(caches_after(6))


def test_who_cannot_be_served_hears_so_at_once(monkeypatch):
    # Other tests run beside this one; still sooner than who waits in vain to the end.
    monkeypatch.setattr(session, "MAX_WAIT_SECONDS", 5.0)
    figure = crowd(16, 0.8, seconds_to_hear=4.0)
    assert is_met(figure)
    assert figure.details["other_words"] == []
    assert figure.details["num_refused"] > 0, "nobody was refused: nothing was tried"
    assert figure.details["num_served"] > 2
    assert figure.details["num_overtaken"] == 0


def test_hostile_posts_leave_no_traceback(tmp_path):
    assert is_met(posts(20, tmp_path / "log"))


def test_hostile_command_lines_end_in_one_line():
    assert is_met(command_lines(24))


def test_start_up_faults_end_in_one_line():
    assert is_met(start_ups(1))


def test_behind_a_proxy_everyone_is_served_or_told_and_nobody_forges_a_way_past():
    figure = behind_a_proxy(16, 8, 0.1)
    assert is_met(figure)
    assert figure.details["num_served"] > PUBLIC.max_places, "as if they had one address"


def test_links_in_the_first_seconds_end_no_program():
    assert is_met(cold_starts(1))


@pytest.mark.browser
def test_no_link_and_no_trace_file_fills_the_page():
    assert is_met(alone(dom_elements, 2, 3))


def test_the_lists_are_long_enough_and_the_same_every_time():
    assert len(list(links())) > 200
    assert len(list(trace_files())) > 40
    assert list(lines(400)) == list(lines(400))
    assert len({" ".join(words) for words in lines(400)}) > 300


def test_a_figure_above_its_target_is_not_met():
    assert not Figure("x", 1, 0).is_met
    assert Figure("x", 0, 0).to_data()["wanted"] == "at most 0"
