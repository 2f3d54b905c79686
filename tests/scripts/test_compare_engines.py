"""The browser's engine decodes what sbd_core does: a short form of its compare_engines."""

import shutil

import pytest
import torch

from scripts.browser import compare_engines
from scripts.browser.build_wasm import FILES

PROMPTS, WAYS = 12, 4

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")


@pytest.fixture(scope="module")
def lines(nano) -> list[str]:
    assert 2 * len(compare_engines.ways(nano)) <= PROMPTS * WAYS, "every way, and twice"
    return list(compare_engines.traces(nano, PROMPTS, WAYS))


@needs_node
@pytest.mark.parametrize("wasm", FILES)
def test_tokens_and_reveals_are_those_of_sbd_core(lines, wasm) -> None:
    said = compare_engines.compare(lines, wasm=wasm)
    assert said["differences"] == []
    assert said["cases"] == PROMPTS * WAYS
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
