"""The committed recordings are what scripts.record decodes, and the index says what they show."""

import json
from dataclasses import replace

import pytest

from sbd_core import generate
from sbd_core.errors import TraceError
from sbd_core.tasks import story
from sbd_core.trace import Trace
from scripts.record import (
    CARDS,
    FAILURES,
    NANO,
    REAL_GROUP,
    RUNS,
    decoded,
    index,
    recorded_lanes,
    with_gamma,
)
from scripts.write_presets import LABELS
from ui.decode.verdict import verdict_of
from ui.examples import GALLERY_INDEX, LEARN_INDEX, TRACES, checked_example_for, recorded

RUNS_OF_ALL = [(model, name, *run) for model, runs in RUNS.items() for name, run in runs.items()]


def reveals(trace: Trace) -> list[list[tuple[int, int]]]:
    """Positions and tokens that each forward pass revealed."""
    return [[(item.position, item.token_id) for item in each.reveals] for each in trace.events]


@pytest.mark.parametrize(
    "name", ["learn/sudoku", "learn/edges", "learn/stale", "opening", "gallery/early-end"]
)
def test_a_recording_is_what_is_decoded_now(nano, name):
    for found, kept in zip(decoded(nano, name), recorded(name), strict=True):
        assert found.token_ids == kept.token_ids
        assert reveals(found) == reveals(kept)
        assert found.config == kept.config


def test_every_file_of_the_page_is_a_run_of_its_prompt_and_config():
    indexes = {GALLERY_INDEX, LEARN_INDEX}
    files = {TRACES / f"{name}.jsonl": name for _, name, *_ in RUNS_OF_ALL}
    found = set(TRACES.rglob("*.json*")) - indexes
    missing = [name for file, name in files.items() if file not in found]
    assert not missing, f"python -m scripts.record {' '.join(missing)}"
    assert found == set(files)
    for model, name, prompt, configs in RUNS_OF_ALL:
        for kept, config in zip(recorded(name), configs, strict=True):
            # The model's own penalty stands in for none.
            own = replace(config, repetition_penalty=kept.config.repetition_penalty)
            assert (kept.model, kept.prompt, kept.config) == (model, prompt, own), name


def test_the_index_of_the_gallery_counts_what_was_recorded():
    lines = index()  # raises for a card that is not recorded
    assert lines == GALLERY_INDEX.read_text("utf-8"), "python -m scripts.record gallery/NAME"
    groups = [card.group for card in CARDS]
    assert set(groups) == {REAL_GROUP, *LABELS.values(), FAILURES}
    assert all(groups.count(task) >= 2 for task in LABELS.values())
    sentences = [line["sentence"] for line in json.loads(lines)]
    assert len(set(sentences)) == len({card.name for card in CARDS}) == len(CARDS)
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in sentences)


def test_words_quoted_from_a_run_stand_in_it():
    for card in CARDS:
        for words in card.sentence.split("“")[1:]:
            text = recorded_lanes(card)[0].text
            assert words.partition("”")[0] in " ".join(text.split()), card.name


def test_what_verify_writes_are_the_words_of_next_token_prediction():
    for card in CARDS:
        if card.main.strategy == "verify":
            checked, plain = recorded_lanes(card)
            assert checked.token_ids == plain.token_ids
            assert checked.num_forwards < plain.num_forwards


def test_nano_is_wrong_only_under_what_goes_wrong():
    for card in CARDS:
        if card.model == NANO and card.group != FAILURES:
            verdicts = [verdict_of(trace) for trace in recorded_lanes(card)]
            assert all(verdict and verdict.right for verdict in verdicts), card.name


def test_a_card_that_brings_its_case_is_judged_by_it():
    cards = [card for card in CARDS if card.case]
    assert {bool(card.title) for card in cards} == {True, False}
    for card in cards:
        assert verdict_of(recorded_lanes(card)[0]), card.name


def test_a_card_without_its_recording_is_told_with_the_command_that_makes_it():
    command = "python -m scripts.record gallery/new-1"
    with pytest.raises(TraceError, match=command):
        recorded_lanes(replace(CARDS[0], name="new-1"))


def test_the_name_is_garbled_in_parallel_and_only_then(nano):
    (card,) = [card for card in CARDS if card.name == "name-garbled"]
    example = checked_example_for(card.prompt)
    mixed, plain = recorded_lanes(card)
    assert "Apollo" in card.prompt
    assert not story.check(example, mixed.text)
    assert story.check(example, plain.text)
    slow = generate(nano, card.prompt, with_gamma(0.0))
    assert story.check(example, slow.text)
    assert f"With γ = 0, in {slow.num_forwards}, the name is whole." in card.sentence
