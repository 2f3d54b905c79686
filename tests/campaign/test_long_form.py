"""The campaign at full size, part by part, where somebody asks for it."""

import os

import pytest

from tests.campaign.__main__ import PARTS

IN_BROWSER = ("dom", "trees")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.environ.get("SBD_CAMPAIGN") != "full",
        reason="takes about twenty minutes: SBD_CAMPAIGN=full runs it",
    ),
]


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.browser if n in IN_BROWSER else ()) for n in PARTS],
)
def test_the_target_is_met_at_full_size(name):
    run_it, _ = PARTS[name]
    figure = run_it()
    assert figure.is_met, figure
