"""One test starts at once; many have every core at work."""

from pathlib import Path

import pytest

from tests.workers import is_for_few

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("files", "keyword", "is_few"),
    [
        ([], "", False),
        (["tests"], "", False),
        (["tests/core/test_masks.py", "tests/ui"], "", False),
        (["tests/core/test_masks.py"], "", True),
        (["tests/core/test_masks.py::test_one"], "", True),
        ([], "gamma", True),
    ],
)
def test_only_many_tests_are_spread_over_workers(files, keyword, is_few, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    assert is_for_few(files, keyword) == is_few
