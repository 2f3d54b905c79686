"""The instructions of IFEval are checked as lm-eval does it, without a download."""

import random

import pytest

from sbd_core import ArgumentError
from sbd_core.errors import EXTRAS, MissingExtraError
from sbd_core.evaluation.ifeval import check_of, verifiers

ROW = {
    "prompt": "Answer in two sentences without a comma.",
    "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_sentences"],
    "kwargs": [{}, {"relation": "at least", "num_sentences": 2, "num_words": None}],
}


def test_instructions_are_checked_without_a_download() -> None:
    pytest.importorskip("lm_eval", reason='needs pip install "sbd-core[lm-eval]"')
    check = check_of(ROW)
    assert check is not None
    assert check("This is one. That is two.")
    assert not check("This is one, and it is all.")
    assert not check("Only one.")
    assert not check(" ")
    assert check_of({"prompt": "p"}) is None
    with pytest.raises(ArgumentError, match="must be IFEval's, one mapping per instruction"):
        check_of({**ROW, "kwargs": [{}]})
    with pytest.raises(ArgumentError, match="must be IFEval's"):
        check_of({**ROW, "instruction_id_list": ["made:up", "made:up"]})


def test_a_verdict_is_the_same_each_time_and_letters_are_those_given() -> None:
    pytest.importorskip("lm_eval", reason='needs pip install "sbd-core[lm-eval]"')

    def verdicts(name: str, given: dict[str, object], answer: str) -> set[bool]:
        check = check_of({"prompt": "p", "instruction_id_list": [name], "kwargs": [given]})
        assert check is not None
        return {check(answer) for _ in range(60)}

    # Unseeded: 22 times English, 38 times not.
    assert len(verdicts("change_case:english_lowercase", {}, "hello world i am at it de la")) == 1
    hashes = {"letter": "#", "let_frequency": 4, "let_relation": "at least"}
    assert verdicts("keywords:letter_frequency", hashes, "# a # b # c #") == {True}
    assert verdicts("keywords:letter_frequency", hashes, "aaaa bbbb eeee # oooo") == {False}
    state = random.getstate()
    open_ended = {"let_relation": "at least"}
    assert len(verdicts("keywords:letter_frequency", open_ended, "eeee tttt oooo")) == 1
    assert random.getstate() == state


def test_instructions_without_verifiers_are_refused_in_one_line(monkeypatch) -> None:
    monkeypatch.setitem(EXTRAS, "lm-eval", ("package_that_nobody_has",))
    verifiers.cache_clear()
    with pytest.raises(MissingExtraError, match="lm-eval"):
        check_of(ROW)
