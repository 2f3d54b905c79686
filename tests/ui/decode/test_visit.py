"""What the page holds of a visitor: whether their decodes run, and whether to stop them."""

import copy

from ui.decode.visit import Visit


def test_stop_is_heard_by_what_runs_and_not_by_what_comes_after() -> None:
    visit = Visit()
    running = visit.watch()
    assert not running()
    visit.stop()
    assert running()
    assert not visit.watch()()


def test_a_visitor_is_decoding_while_any_of_their_decodes_is() -> None:
    visit = Visit()
    assert visit.is_decoding("first", is_running=True)
    assert visit.is_decoding("second", is_running=True)
    assert visit.is_decoding("first", is_running=False)
    assert not visit.is_decoding("second", is_running=False)


def test_every_visitor_has_a_visit_of_their_own() -> None:
    prototype = Visit()
    anna, bert = copy.deepcopy(prototype), copy.deepcopy(prototype)
    heard = bert.watch()
    anna.stop()
    assert not heard()
    assert anna.is_decoding(1, is_running=True)
    assert not bert.is_decoding(1, is_running=False)
