"""The presets that are right are counted by the verdict that the page gives."""

from dataclasses import replace

import sbd_core
from sbd_core.decoding.api import generate
from scripts.measures.presets import STRATEGIES, measure
from scripts.tables.results_files import results
from ui.decode.form import Form, checked
from ui.decode.verdict import verdict_of
from ui.gallery.examples import presets


def test_a_count_is_that_of_the_pages_verdicts() -> None:
    model = sbd_core.load(device="cpu")
    sudoku, *_, infill = presets()
    chosen = [replace(one, prompts=one.prompts[:3]) for one in (sudoku, infill)]
    found = measure(model, chosen)["presets"]
    for one in chosen:
        row = found[one.label]
        assert row["num_prompts"] == 3
        assert row["right"]["verify"] == row["right"]["ntp"]
        said = [verdict_of(generate(model, *checked(Form(prompt)))) for prompt in one.prompts]
        assert row["right"]["sbd"] == sum(verdict.right for verdict in said)
    assert found[sudoku.label]["right"]["sbd"] > found[infill.label]["right"]["sbd"]


def test_the_committed_counts_are_of_todays_presets() -> None:
    found = results("presets")["presets"]
    assert {one.label: len(one.prompts) for one in presets()} == {
        label: row["num_prompts"] for label, row in found.items()
    }
    for row in found.values():
        assert tuple(row["right"]) == STRATEGIES
        assert row["right"]["verify"] == row["right"]["ntp"]
