"""The committed recordings are what scripts.record decodes, and the index says what they show."""

import json
from dataclasses import replace

import pytest

from sbd_core import generate
from sbd_core.tasks import story
from sbd_core.trace import Trace
from scripts.record import CARDS, FAILURES, NANO, REAL_GROUP, RUNS, by, decoded, index
from ui.examples import example_of
from ui.recordings import GALLERY_INDEX, LEARN_INDEX, TRACES, gallery_traces, recorded

RUNS_OF_ALL = [(model, name, *run) for model, runs in RUNS.items() for name, run in runs.items()]
PER_TASK = 2


def reveals(trace: Trace) -> list[list[tuple[int, int]]]:
    """Positions and tokens that each forward pass revealed."""
    return [[(item.position, item.token_id) for item in each.reveals] for each in trace.events]


@pytest.mark.parametrize("name", ["learn/sudoku", "learn/edges", "opening", "gallery/early-end"])
def test_a_recording_is_what_is_decoded_now(nano, name):
    for found, kept in zip(decoded(nano, name), recorded(name), strict=True):
        assert found.token_ids == kept.token_ids
        assert reveals(found) == reveals(kept)
        assert found.config == kept.config


def test_every_file_of_the_page_is_a_run_of_its_prompt_and_config():
    indexes = {GALLERY_INDEX, LEARN_INDEX}
    files = {TRACES / f"{name}.jsonl" for _, name, *_ in RUNS_OF_ALL}
    assert set(TRACES.rglob("*.json*")) - indexes == files
    for model, name, prompt, configs in RUNS_OF_ALL:
        for kept, config in zip(recorded(name), configs, strict=True):
            # The model's own penalty stands in for none.
            own = replace(config, repetition_penalty=kept.config.repetition_penalty)
            assert (kept.model, kept.prompt, kept.config) == (model, prompt, own), name


def test_the_index_of_the_gallery_counts_what_was_recorded():
    assert index() == GALLERY_INDEX.read_text("utf-8")
    groups = [card.group for card in CARDS]
    tasks = set(groups) - {REAL_GROUP, FAILURES}
    assert [groups.count(task) for task in tasks] == [PER_TASK] * 6
    sentences = [line["sentence"] for line in json.loads(index())]
    assert len(set(sentences)) == len(CARDS)
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in sentences)


def test_words_quoted_from_a_run_stand_in_it():
    for card in CARDS:
        for words in card.sentence.split("“")[1:]:
            text = recorded(f"gallery/{card.name}")[0].text
            assert words.partition("”")[0] in " ".join(text.split()), card.name


def test_what_the_real_model_checks_are_the_words_of_next_token_prediction():
    for card in CARDS:
        if card.main.strategy == "verify":
            checked, plain = gallery_traces(card.name).values()
            assert checked.token_ids == plain.token_ids
            assert checked.num_forwards < plain.num_forwards
            assert card.model != NANO


def test_the_name_is_garbled_in_parallel_and_only_then(nano):
    (card,) = [card for card in CARDS if card.name == "name-garbled"]
    example = example_of(card.prompt)
    mixed, plain = gallery_traces(card.name).values()
    assert "Bubbles" in card.prompt
    assert not story.check(example, mixed.text)
    assert story.check(example, plain.text)
    slow = generate(nano, card.prompt, by(0.0))
    assert story.check(example, slow.text)
    assert f"With γ = 0, in {slow.num_forwards}, the name is whole." in card.sentence
