"""What the page says γ bounds, by solver."""

import pytest

from sbd_core.config import SOLVERS
from ui.components.controls import gamma_words
from ui.form.bounds import BOUNDS
from ui.page import PARAMETERS, _parameters_of


def test_every_solver_has_a_row_and_those_with_a_gamma_say_what_it_is():
    assert list(BOUNDS) == list(SOLVERS)
    for name, rule in SOLVERS.items():
        has_gamma = "gamma" in rule.__dataclass_fields__
        bound = BOUNDS[name]
        assert (bound.kind != "none") == bool(bound.gamma) == bool(bound.exempt) == has_gamma, name


@pytest.mark.parametrize(
    ("solver", "words"),
    [("entropy-bound", "a forward pass may take on"), ("entropy-threshold", "a token must stay")],
)
def test_the_form_says_what_gamma_is_to_the_solver_that_is_chosen(solver, words):
    gamma = dict(zip(PARAMETERS, _parameters_of("sbd", solver), strict=True))["gamma"]
    assert gamma["visible"]
    assert words in gamma["info"]


def test_a_solver_without_a_gamma_leaves_the_words_of_the_papers():
    assert gamma_words("random") == gamma_words("entropy-bound") == gamma_words("")
