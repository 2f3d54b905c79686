"""The browser's engine decodes what sbd_core does: a short form of its compare_engines."""

import shutil

import pytest
import torch

from scripts.browser import compare_engines
from scripts.browser.build_wasm import FILES

WAYS = 4
"""Of one prompt; the next ones take the next ways."""

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")


@pytest.fixture(scope="module")
def num_prompts(nano) -> int:
    """Enough for every way to be gone twice."""
    return -(-2 * len(compare_engines.ways(nano)) // WAYS)


@pytest.fixture(scope="module")
def lines(nano, num_prompts) -> list[str]:
    return list(compare_engines.traces(nano, num_prompts, WAYS))


@needs_node
@pytest.mark.parametrize("wasm", FILES)
def test_tokens_and_reveals_are_those_of_sbd_core(lines, num_prompts, wasm) -> None:
    said = compare_engines.compare(lines, wasm=wasm)
    assert said["differences"] == []
    assert said["cases"] == num_prompts * WAYS
    # Positions that are equally good up to rounding are rare.
    assert said["ties"] <= said["cases"] // 20
    assert 0 < said["largest"] < 1e-4


@needs_node
def test_another_model_is_told_apart(nano) -> None:
    norm = nano.backend.weights.norm.scale
    kept = norm.clone()
    try:
        norm.mul_(torch.linspace(0.5, 1.5, len(norm)))
        said = compare_engines.compare(compare_engines.traces(nano, 2, 3))
    finally:
        norm.copy_(kept)
    assert len(said["differences"]) == said["cases"] == 6
