"""A browser decodes an exported folder as Python does: every strategy, whatever its settings."""

from dataclasses import replace
from urllib.parse import urlencode

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.models.loading import load
from sbd_core.rules import EntropyBound, LeftToRight, Random
from tests.browser.site.conftest import RUN, address, is_complete

pytestmark = pytest.mark.browser
PROMPTS = {
    "sbd-nano": "Tara has 49 pencils. Hugo takes 12. How many pencils does Tara have now?",
    "adapted": "a b c",
}
LONGEST = 40
WAYS = {
    "ntp": DecodeConfig(strategy="ntp"),
    "sbd": DecodeConfig(strategy="sbd", solver=EntropyBound(0.35)),
    "sbd-random": DecodeConfig(strategy="sbd", solver=Random(2), seed=5),
    "sbd-left-to-right": DecodeConfig(strategy="sbd", solver=LeftToRight(3), block_size=8),
    "verify": DecodeConfig(strategy="verify", block_size=8),
    "verify-12-rows": DecodeConfig(strategy="verify", max_rows=12),
    "verify-penalised": DecodeConfig(strategy="verify", repetition_penalty=1.3),
}


def link_of(config: DecodeConfig, prompt: str) -> str:
    """The address that asks for a decode."""
    query = {"prompt": prompt, "strategy": config.strategy, "tokens": LONGEST, "seed": config.seed,
             "block": config.block_size, "penalty": config.repetition_penalty or 0,
             "max_rows": config.max_rows, "solver": config.solver.name,
             **{name: getattr(config.solver, name)
                for name in ("gamma", "k") if hasattr(config.solver, name)}}  # fmt: skip
    return urlencode(query)


@pytest.fixture(scope="module")
def models(exports):
    """The same exports in Python."""
    return {export.name: load(export.folder) for export in exports}


@pytest.mark.parametrize("name", PROMPTS)
def test_every_strategy_gives_the_tokens_of_python(open_page, server, models, name) -> None:
    model = models[name]
    for way, config in WAYS.items():
        expected = generate(model, PROMPTS[name], replace(config, max_new_tokens=LONGEST))
        link = link_of(config, PROMPTS[name])
        page = open_page(f"{address(server)}?model=models/{name}&{link}")
        is_complete(page, "opening")
        found = page.evaluate(
            f"[{RUN}.model, {RUN}.main.text, {RUN}.main.steps.length,"
            f" {RUN}.main.steps.flatMap((step) => step.committed)]"
        )
        page.close()
        tokens = [token for event in expected.events for token in event.committed]
        assert found == [name, expected.text, expected.num_forwards, tokens], way
