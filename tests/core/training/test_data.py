"""Sources are read, mixed or refused; an answer has the turns before it, by the template."""

import sys
import types
from collections import Counter
from itertools import islice

import pytest

from sbd_core.errors import ArgumentError
from sbd_core.models.chat import encode_turn
from sbd_core.tasks import Example
from sbd_core.training.batches import BatchBuilder
from sbd_core.training.data import Mixture, Skipped, mixed, read_source
from sbd_core.training.recipe import read_recipe
from tests.core.models.tiny_models import maskless_tokenizer, tiny_tokenizer
from tests.core.training.tiny_training import json_lines, written


def turns(source: str) -> list[tuple[str, str]]:
    return [(record.prompt, record.answer) for record in read_source(source, Skipped(source))]


def test_a_text_file_is_one_text_a_paragraph(tmp_path) -> None:
    source = written(tmp_path, "a.txt", "\ufeffOne\r\ntwo.\r\n\r\n \r\nThree, \u00e9.\n\n\n")
    assert turns(source) == [("", "One\ntwo."), ("", "Three, \u00e9.")]


@pytest.mark.parametrize("name", ["missing.txt", "", "nul\x00.txt"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path, name) -> None:
    with pytest.raises(ArgumentError, match="must be a file that"):
        turns(f"file:{tmp_path}/{name}")


def test_tasks_come_by_weight_and_the_same_for_a_seed() -> None:
    def drawn(seed: int) -> list[Example]:
        return list(islice(mixed(seed, {"math": 1.0, "sudoku": 3.0}), 4000))

    kinds = Counter(example.task for example in drawn(1))
    assert 900 < kinds["math"] < 1100
    assert drawn(1) == drawn(1) != drawn(2)


def test_a_runs_examples_fall_to_tasks_and_sources_by_weight_in_every_step() -> None:
    mixture, before = Mixture(3, [3.0, 1.0, 1.0]), [0, 0, 0]
    for step in range(1, 1500):  # beyond the first draw of CHUNK
        now = mixture.counts(50 * step)
        assert sum(now) == 50 * step
        assert all(new >= old for new, old in zip(now, before, strict=True))
        before = now
    assert before == pytest.approx([0.6 * 74_950, 0.2 * 74_950, 0.2 * 74_950], rel=0.03)
    assert mixture.counts(777) == Mixture(3, [3.0, 1.0, 1.0]).counts(777)


def test_a_dataset_without_the_package_or_the_hub_is_an_error(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ArgumentError, match="pip install datasets; got 'hf:someone/texts'"):
        turns("hf:someone/texts")


def dataset_library(monkeypatch, load_dataset) -> None:
    """Stands in for `datasets`, which no test may need installed."""
    package, errors = types.ModuleType("datasets"), types.ModuleType("datasets.exceptions")
    package.load_dataset, errors.DatasetsError = load_dataset, type("Other", (Exception,), {})
    package.load_from_disk = None
    monkeypatch.setitem(sys.modules, "datasets", package)
    monkeypatch.setitem(sys.modules, "datasets.exceptions", errors)


def test_a_dataset_is_read_by_name_and_split(monkeypatch) -> None:
    asked = []

    def load_dataset(name, split, streaming):
        asked.append((name, split, streaming))
        return iter([{"text": "One."}, {"prompt": "a", "answer": "b"}])

    dataset_library(monkeypatch, load_dataset)
    assert turns("hf:someone/texts:dev") == [("", "One."), ("a", "b")]
    assert len(turns("hf:texts")) == 2
    assert asked == [("someone/texts", "dev", True), ("texts", "train", True)]


def test_a_dataset_that_fails_or_has_other_fields_is_an_error(monkeypatch) -> None:
    def unreachable(name, split, streaming):
        raise ConnectionError("Couldn't reach\nthe Hub")

    dataset_library(monkeypatch, unreachable)
    with pytest.raises(ArgumentError, match=r"be loaded .Couldn't reach the Hub.; got 'hf:a'"):
        turns("hf:a")
    dataset_library(monkeypatch, lambda name, split, streaming: iter([{"question": "?"}]))
    with pytest.raises(ArgumentError, match="hf:a record 1 needs messages"):
        turns("hf:a")


# Shaped like Qwen3's: an end token and a line break after each turn, an empty thought in the last.
TEMPLATE = (
    "{% for m in messages %}<user>{{ m['role'] }}\n"
    "{% if m['role'] == 'assistant' and loop.last %}<think></think>{% endif %}"
    "{{ m['content'] | trim }}<eos>\n{% endfor %}"
    "{% if add_generation_prompt %}<user>assistant\n{% endif %}"
)
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Tara has 7."},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "And?"},
    {"role": "assistant", "content": "The answer is 7."},
]


def recipe_of(source: str, **changes):
    return read_recipe("sbd", None, {"data": (source,), "tasks": {}, "batch_size": 8, **changes})


def test_every_turn_of_the_assistant_is_learnt_with_all_before_it(tmp_path) -> None:
    source = json_lines(tmp_path, [{"messages": TALK, "id": 4}])
    first, second = read_source(source, Skipped(source))
    assert (first.answer, len(first.messages)) == ("Yes.", 2)
    assert (second.answer, len(second.messages)) == ("The answer is 7.", 4)
    assert second.messages[2] == ("assistant", "Yes.")


def test_a_template_that_tells_the_past_otherwise_leaves_the_answer_alone() -> None:
    other = tiny_tokenizer()
    other.chat_template = TEMPLATE.replace("<user>assistant\n{% endif", "<user>now\n{% endif")
    prompt, answer = encode_turn(other, [("user", "a")], "b", "it")
    assert other.decode(prompt).endswith("<user>now\n")
    assert other.decode(answer) == "b<eos>"


def test_without_a_template_messages_are_refused_and_prompts_stand_as_they_are(tmp_path) -> None:
    bare = maskless_tokenizer()
    with pytest.raises(ArgumentError, match=r"no chat template, which messages need.*line 1"):
        BatchBuilder(recipe_of(json_lines(tmp_path, [{"messages": TALK}])), bare)
    text = recipe_of(json_lines(tmp_path, [{"text": "abcdefgh"}]), row_tokens=40, max_block_size=16)
    drawn = {(*prompt, *answer) for prompt, answer in BatchBuilder(text, bare).draw(0)}
    assert drawn == {(*bare.encode("abcdefgh"), bare.eos_token_id)}
