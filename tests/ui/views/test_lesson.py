"""The lesson: every number in its words is counted from the recorded runs."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from ui import examples, learn
from ui.best_settings import EVALUATION
from ui.learn import facts
from ui.page import lesson_html


@pytest.fixture
def kept():
    return examples.learn_runs()


def test_the_numbers_are_those_of_the_runs(kept):
    known, lanes = facts(kept), kept.runs["text"]
    alone = told("one-at-a-time")
    assert f"do {len(lanes['ntp'].token_ids)} tokens take" in alone["question"]
    assert alone["answer"].startswith(f"{len(lanes['ntp'].events)}: one")
    assert f"became {len(lanes['sbd'].events)}. Is it" in told("what-it-buys")["question"]
    first = examples.gallery_traces(examples.HOME_RUN)
    passes = [first[lane].num_forwards for lane in ("ntp", "sbd")]
    assert known["first_rate"] == f"{passes[0] / passes[1]:.2f}"
    ratio = first["ntp"].seconds / first["sbd"].seconds
    # Beside the opening page's own words, the same digits.
    assert f"{known['first_ratio']} times" in told("what-it-buys")["why"]
    assert known["first_ratio"] == f"{ratio:.1f}"
    assert f"then {lanes['sbd'].config.block_size} empty" in told("masks")["question"]
    assert known["clash"] in " ".join(kept.runs[first_broken(kept)]["sbd"].text.split())


def test_what_stale_keys_and_a_model_without_training_write_is_quoted_from_their_runs(kept):
    known = facts(kept)
    stale, exact, untrained = (kept.runs[name]["sbd"] for name in ("stale", "text", "untrained"))
    assert stale.prompt == exact.prompt
    assert stale.config.solver == exact.config.solver
    assert known["stale_words"] in " ".join(stale.text.split())
    assert known["kept_words"] in " ".join(exact.text.split())
    assert known["stale_words"] not in " ".join(exact.text.split())
    assert known["untrained_text"] in " ".join(untrained.text.split())
    assert f"answers “{untrained.prompt}”" in told("masks")["why"]
    # Before the first block there are no keys of one.
    size = exact.config.block_size
    assert stale.token_ids[:size] == exact.token_ids[:size]


def test_what_it_costs_in_accuracy_is_what_the_evaluation_says(kept):
    known, rows = facts(kept), json.loads(EVALUATION.read_text("utf-8"))["rows"]
    gamma = kept.runs["text"]["sbd"].config.solver.gamma
    for name, row in (("ntp", "NTP"), ("sbd", f"SBD gamma {gamma:g}"), ("verify", "verify")):
        part = float(known[f"{name}_accuracy"].removesuffix("\N{NO-BREAK SPACE}%"))
        assert part == pytest.approx(100 * rows[row]["mean"]["accuracy"], abs=0.05)
    assert known["sbd_accuracy"] != known["ntp_accuracy"]


def told(address: str) -> dict[str, str]:
    return next(scene for scene in learn.scenes() if scene["address"] == address)


def first_broken(kept) -> str:
    return f"edge-{[edge.is_right for edge in kept.choices.edges].index(False)}"


def test_an_order_that_settles_nothing_is_not_said_to(monkeypatch, kept):
    order = SimpleNamespace(**{**vars(kept.choices.order), "settled_by": []})
    plain = SimpleNamespace(**{**vars(kept.choices), "order": order})
    monkeypatch.setattr(learn, "learn_runs", lambda: replace(kept, choices=plain))
    learn.scenes.cache_clear()
    scene = told("out-of-order")
    learn.scenes.cache_clear()
    assert "settled" not in scene["answer"]
    assert scene["answer"].endswith("with its help.")


def test_what_the_check_of_a_story_quotes_is_found_in_it(kept):
    for edge, told in zip(kept.choices.edges, json.loads(learn.lesson())["edges"], strict=True):
        texts = [text for text, _ in told["tokens"]]
        quoted = re.search("“(.+)”", edge.fault)
        found = "".join(texts[at] for at in told["fault_tokens"])
        is_there = quoted is not None and quoted[1] in "".join(texts)
        assert (quoted is not None and quoted[1] in found) == is_there
    assert any(row["fault_tokens"] for row in json.loads(learn.lesson())["edges"])


def test_the_lesson_is_one_file_that_asks_for_nothing():
    text = lesson_html()
    assert "default-src 'none'" in text
    assert not re.search(r"(?:src|href)=[\"']?https?:", text.replace("https://arxiv.org", ""))
    assert "<!--LESSON-->" not in text
    assert "/*SCRIPTS*/" not in text
