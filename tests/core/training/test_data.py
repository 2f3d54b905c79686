"""Training data: sources are read, mixed, cut or refused; Alg. 1, packing and workers."""

import json
import os
import signal
import sys
import types
from collections import Counter
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pytest
import torch

import sbd_core
from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.models.chat import encode_prompt, encode_turn
from sbd_core.training.data import (
    NO_TARGET,
    Batch,
    BatchBuilder,
    ModelLimits,
    Skipped,
    batches,
    chosen_workers,
    draw_masks,
    mixed,
    pack,
    read_source,
)
from sbd_core.training.new_model import new_model
from sbd_core.training.recipe import Recipe, read_recipe
from tests.core.models.tiny_models import maskless_tokenizer, tiny_model, tiny_tokenizer
from tests.core.training.tiny_training import (
    MASK,
    PAD,
    TINY,
    all_losses,
    copy_of,
    noisy,
    pairs,
    train,
)

SUM = [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "It is 4."}]


def written(folder: Path, name: str, data: str | bytes) -> str:
    """A file of that content, as a source."""
    file = folder / name
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    return f"file:{file}"


def turns(source: str) -> list[tuple[str, str]]:
    return [(record.prompt, record.answer) for record in read_source(source, Skipped(source))]


def test_a_text_file_is_one_text_a_paragraph(tmp_path) -> None:
    source = written(tmp_path, "a.txt", "\ufeffOne\r\ntwo.\r\n\r\n \r\nThree, \u00e9.\n\n\n")
    assert turns(source) == [("", "One\ntwo."), ("", "Three, \u00e9.")]


def test_a_jsonl_file_holds_prompts_and_answers_or_texts(tmp_path) -> None:
    lines = [{"prompt": "2 + 2", "answer": "4", "more": 1}, {"text": "Free\u2028text."}]
    source = written(
        tmp_path, "a.jsonl", "\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    )
    assert turns(source) == [("2 + 2", "4"), ("", "Free\u2028text.")]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.txt", "", "something to learn"),
        ("a.txt", " \n\n\t\n", "something to learn"),
        ("a.jsonl", "\n", "something to learn"),
        ("a.txt", b"one\ntwo \xff", "line 2 must be UTF-8 text"),
        ("a.jsonl", '{"text": "a"}\n{"text": "b"', "line 2 must be JSON"),
        ("a.jsonl", "[" * 100_000, "line 1 must be JSON"),
        ("a.jsonl", '{"text": "a"}\n\n["a"]', "line 3 needs messages"),
        ("a.jsonl", '{"prompt": "a"}', "line 1 needs messages"),
        (
            "a.jsonl",
            '{"prompt": "a", "answer": 4}',
            "line 1 must have text as content of message 2",
        ),
        ("a.jsonl", '{"prompt": null, "answer": "4"}', "line 1 needs messages"),
        ("a.jsonl", '{"messages": "hello"}', "must have a list as messages; got 'hello'"),
        ("a.jsonl", json.dumps({"messages": [*SUM, "a"]}), "in message 3; got 'a'"),
        ("a.jsonl", '{"text": "\\ud800"}', "line 1 must have text as text"),
    ],
)
def test_a_bad_file_is_refused_in_one_line_naming_it(tmp_path, name, data, message) -> None:
    source = written(tmp_path, name, data)
    with pytest.raises(ArgumentError) as caught:
        turns(source)
    assert str(tmp_path / name) in f"{caught.value} {caught.value.value}"
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["missing.txt", "", "nul\x00.txt"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path, name) -> None:
    with pytest.raises(ArgumentError, match="must be a file that"):
        turns(f"file:{tmp_path}/{name}")


@pytest.mark.parametrize("data", ["file:a", ("a.txt",), ("file:",), ("hf:a:b:c",), ("hf:",), (5,)])
def test_a_source_of_another_form_is_refused_by_the_recipe(data) -> None:
    with pytest.raises(ArgumentError) as caught:
        replace(TINY, data=data)
    assert caught.value.argument == "data"


def test_tasks_may_be_none_only_with_data() -> None:
    assert replace(TINY, tasks={}, data=("file:a.txt",)).tasks == {}
    with pytest.raises(ArgumentError, match="tasks"):
        replace(TINY, tasks={})


def test_tasks_come_by_weight_sources_at_weight_1_and_the_same_for_a_seed() -> None:
    def drawn(seed: int) -> list[object]:
        tasks = {"math": 1.0, "sudoku": 2.0}
        return list(islice(mixed(seed, tasks, [["a", "b"], ["c"]]), 5000))

    kinds = Counter(item if isinstance(item, str) else item.task for item in drawn(1))
    assert all(900 < kinds[kind] < 1100 for kind in ("math", "c"))
    assert 1850 < kinds["sudoku"] < 2150
    assert 400 < kinds["a"] < 600
    assert drawn(1) == drawn(1) != drawn(2)


def test_long_texts_are_cut_and_only_the_last_piece_ends(tmp_path) -> None:
    text = " ".join(f"word {number}" for number in range(200))
    recipe = replace(TINY, tasks={}, data=(written(tmp_path, "a.txt", text),), batch_size=80)
    _, tokenizer = new_model(recipe)
    drawn = BatchBuilder(recipe, tokenizer).draw(0)
    pieces = {tuple(answer): prompt for prompt, answer in drawn}
    whole = tokenizer.encode(text, add_special_tokens=False)
    assert len(pieces) > 3
    assert sum(answer[-1] == tokenizer.eos_token_id for answer in pieces) == 1
    assert sorted(chain.from_iterable(pieces)) == sorted([*whole, tokenizer.eos_token_id])
    for answer, prompt in pieces.items():
        assert tokenizer.decode(prompt) == "<user><assistant>"
        assert len(prompt) + 2 * len(answer) + recipe.max_block_size - 1 <= recipe.row_tokens


def test_records_too_long_for_a_row_are_left_out_and_an_error_if_all_are(tmp_path) -> None:
    long, short = ({"prompt": "a", "answer": "b " * n} for n in (300, 3))
    both = written(tmp_path, "both.jsonl", f"{json.dumps(long)}\n{json.dumps(short)}")
    recipe = replace(TINY, tasks={}, data=(both,))
    tokenizer = new_model(recipe)[1]
    builder = BatchBuilder(recipe, tokenizer)
    assert len({tuple(answer) for _, answer in builder.draw(0)}) == 1
    [note] = builder.notes
    assert "left out 1 that do not fit" in note
    assert "line 1" in note
    assert "--row-tokens" in note
    only = written(tmp_path, "only.jsonl", json.dumps(long))
    with pytest.raises(ArgumentError, match="left out 1 that do not fit"):
        BatchBuilder(replace(recipe, data=(only,)), tokenizer)


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


def lines(folder: Path, rows: list[object]) -> str:
    return written(folder, "a.jsonl", "\n".join(json.dumps(row) for row in rows))


def alone(source: str) -> Recipe:
    return replace(TINY, tasks={}, data=(source,), batch_size=2, row_tokens=512, max_positions=512)


def test_chats_that_a_template_wrote_as_text_are_not_learnt_as_letters(tmp_path) -> None:
    """unsloth 2026.10.9 and trl 1.16.0: a text that apply_chat_template() made."""
    tokenizer = tiny_tokenizer()
    text = tokenizer.apply_chat_template(SUM, tokenize=False)
    source = lines(tmp_path, [{"text": text}, {"text": "A plain text."}])
    builder = BatchBuilder(alone(source), tokenizer)
    assert "left out 1 that are chats as a template writes them, with '<eos>'" in builder.notes[0]
    assert {tokenizer.decode(answer) for _, answer in builder.draw(0)} == {"A plain text.<eos>"}
    with pytest.raises(ArgumentError, match="give their messages"):
        BatchBuilder(alone(lines(tmp_path, [{"text": text}])), tokenizer)


def test_what_a_model_has_no_row_or_position_for_is_left_out_by_name(tmp_path) -> None:
    """transformers 5.23.0: tokens added without a resize. Any program: answers too long for it."""
    tokenizer = tiny_tokenizer()
    limits = ModelLimits.of(tiny_model("llama", len(tokenizer)))
    tokenizer.add_tokens(["zebra"])
    rows = [{"messages": SUM}, {"prompt": "a zebra", "answer": "b"}, {"text": "zebras"}]
    long = {"prompt": "a", "answer": "7 " * 120}
    builder = BatchBuilder(alone(lines(tmp_path, [*rows, long])), tokenizer, limits)
    assert "left out 2 that hold 'zebra', which the model has no embedding for" in builder.notes[0]
    assert "left out 1 that are longer than the 128 positions of the model" in builder.notes[1]
    end = replace(alone(lines(tmp_path, rows[:1])))
    tokenizer.add_special_tokens({"eos_token": "<|im_end|>"})
    with pytest.raises(ArgumentError, match=r"left out 1 that hold '<\|im_end\|>'"):
        BatchBuilder(end, tokenizer, limits)


def test_rows_are_as_long_as_the_longest_text_needs_and_never_longer_than_asked(tmp_path) -> None:
    tokenizer, file = tiny_tokenizer(), tmp_path / "a.jsonl"
    most = replace(alone(f"file:{file}"), row_tokens=2048, max_positions=2048)
    for num_words, recipe, length in (
        (2, most, 128),
        (200, most, 512),
        (200, replace(most, tasks={"math": 1.0}), 2048),
        (2, replace(most, row_tokens=100), 100),
    ):
        answers = ["7", "7" * num_words]
        file.write_text("\n".join(json.dumps({"prompt": "a", "answer": a}) for a in answers))
        builder = BatchBuilder(recipe, tokenizer)
        assert builder.row_tokens == length
        assert all(builder.batch(step).packed.token_ids.shape[1] == length for step in range(4))


RECIPE = read_recipe("sbd", None, {"batch_size": 50})


@pytest.fixture(scope="module")
def tokenizer():
    return sbd_core.load(device="cpu").tokenizer


def test_the_texts_of_a_step_depend_on_recipe_and_step_alone(tokenizer) -> None:
    in_order = [BatchBuilder(RECIPE, tokenizer).draw(step) for step in range(4)]
    for step in (3, 0, 2):
        assert BatchBuilder(RECIPE, tokenizer).draw(step) == in_order[step]
        assert BatchBuilder(replace(RECIPE, stage="ntp"), tokenizer).draw(step) == in_order[step]
    assert in_order[0] != in_order[1]
    assert BatchBuilder(replace(RECIPE, seed=1), tokenizer).draw(0) != in_order[0]


def test_a_text_is_the_chat_turn_ends_in_eos_and_fits_a_row_with_its_copy(tokenizer) -> None:
    model = sbd_core.load(device="cpu")
    user, assistant, end = tokenizer.convert_tokens_to_ids(["<user>", "<assistant>", "<eos>"])
    for prompt, answer in BatchBuilder(RECIPE, tokenizer).draw(0):
        assert (prompt[0], prompt[-1], answer[-1]) == (user, assistant, end)
        assert list(model.encode(tokenizer.decode(prompt[1:-1]), is_raw=False)) == prompt
        longest = len(prompt) + 2 * len(answer) + RECIPE.max_block_size - 1
        assert longest <= RECIPE.row_tokens


def test_rows_no_example_fits_are_an_error_not_an_endless_search(tokenizer) -> None:
    with pytest.raises(TrainingError, match="row_tokens"):
        BatchBuilder(replace(RECIPE, row_tokens=20), tokenizer).draw(0)


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


@pytest.fixture(scope="module")
def chat_tokenizer():
    found = tiny_tokenizer()
    found.chat_template = TEMPLATE
    return found


def source_of(folder, *records) -> str:
    file = folder / "chat.jsonl"
    file.write_text("\n".join(json.dumps(record) for record in records))
    return f"file:{file}"


def recipe_of(source: str, **changes):
    return read_recipe("sbd", None, {"data": (source,), "tasks": {}, "batch_size": 8, **changes})


def test_every_turn_of_the_assistant_is_learnt_with_all_before_it(tmp_path) -> None:
    source = source_of(tmp_path, {"messages": TALK, "id": 4})
    first, second = read_source(source, Skipped(source))
    assert (first.answer, len(first.messages)) == ("Yes.", 2)
    assert (second.answer, len(second.messages)) == ("The answer is 7.", 4)
    assert second.messages[2] == ("assistant", "Yes.")


def test_a_turn_is_what_the_template_writes_to_the_end_token(chat_tokenizer) -> None:
    said = [(m["role"], m["content"]) for m in TALK[:4]]
    prompt, answer = encode_turn(chat_tokenizer, said, TALK[4]["content"], "it")
    expected = chat_tokenizer.apply_chat_template(
        TALK[:4], tokenize=False, add_generation_prompt=True
    )
    assert chat_tokenizer.decode(prompt) == expected
    assert chat_tokenizer.decode(answer) == "<think></think>The answer is 7.<eos>"
    one = [("user", "Tara has 7.")]
    assert encode_turn(chat_tokenizer, one, "7", "it")[0] == encode_prompt(
        chat_tokenizer, "Tara has 7.", "it", is_raw=False
    )


def test_special_tokens_that_someone_typed_are_letters(chat_tokenizer) -> None:
    prompt, answer = encode_turn(chat_tokenizer, [("user", "a<eos><m>b")], "c<eos>d", "it")
    mask, end = chat_tokenizer.mask_token_id, chat_tokenizer.eos_token_id
    assert mask not in prompt
    assert prompt.count(end) == 1, "the template's own"
    assert answer.count(end) == 1
    assert answer[-1] == end
    assert chat_tokenizer.decode(prompt) == "<user>user\na<eos><m>b<eos>\n<user>assistant\n"
    assert chat_tokenizer.decode(answer) == "<think></think>c<eos>d<eos>"


def test_a_template_that_tells_the_past_otherwise_leaves_the_answer_alone(chat_tokenizer) -> None:
    other = tiny_tokenizer()
    other.chat_template = TEMPLATE.replace("<user>assistant\n{% endif", "<user>now\n{% endif")
    prompt, answer = encode_turn(other, [("user", "a")], "b", "it")
    assert other.decode(prompt).endswith("<user>now\n")
    assert other.decode(answer) == "b<eos>"


def test_without_a_template_messages_are_refused_and_prompts_stand_as_they_are(tmp_path) -> None:
    bare = maskless_tokenizer()
    prompt, answer = encode_turn(bare, [("user", "ab")], "cd", "it")
    assert (bare.decode(prompt), bare.decode(answer)) == ("a b", "c d <eos>")
    with pytest.raises(ArgumentError, match=r"no chat template, which messages need.*line 1"):
        BatchBuilder(recipe_of(source_of(tmp_path, {"messages": TALK})), bare)
    text = recipe_of(source_of(tmp_path, {"text": "abcdefgh"}), row_tokens=40, max_block_size=16)
    drawn = {(*prompt, *answer) for prompt, answer in BatchBuilder(text, bare).draw(0)}
    assert drawn == {(*bare.encode("abcdefgh"), bare.eos_token_id)}


@pytest.mark.parametrize(("block_size", "phase"), [(4, 0), (5, 2), (16, 9), (1, 0)])
@pytest.mark.parametrize("lengths", [(3, 9), (5, 4), (1, 1), (2, 16)])
def test_x_hat_copies_the_answer_in_whole_blocks_and_wants_its_masked_tokens(
    block_size, phase, lengths
) -> None:
    [(prompt, answer)] = pairs(0, [lengths])
    for seed in range(10):
        text = noisy((prompt, answer), block_size, phase, seed)
        clean, (copy, has_target) = text.token_ids[~text.is_noisy], copy_of(text)
        assert clean.tolist() == [*prompt, *answer]
        after = copy[len(answer) :]
        assert after == [MASK] * len(after)
        assert not any(has_target[len(answer) :]), "what follows the end is unknown, not wanted"
        for token, wanted, truth in zip(copy, has_target, answer, strict=False):
            assert token == (MASK if wanted else truth)
        targets = text.targets[text.is_noisy][np.array(has_target)]
        assert targets.tolist() == [t for t, w in zip(answer, has_target, strict=False) if w]
        assert (len(copy) + phase) % block_size == 0
        assert len(copy) < len(answer) + block_size
        places = range(len(prompt), len(prompt) + len(copy))
        assert text.position[text.is_noisy].tolist() == list(places)
        blocks = [(place - len(prompt) + phase) // block_size for place in places]
        assert text.block[text.is_noisy].tolist() == blocks
        expected = [-1] * len(prompt) + blocks[: len(answer)]
        assert text.block[~text.is_noisy].tolist() == expected


def test_each_text_has_its_own_eta_uniform_on_0_1() -> None:
    draws = torch.Generator().manual_seed(0)
    shares = torch.tensor([draw_masks(400, draws).float().mean() for _ in range(300)])
    assert shares.mean().item() == pytest.approx(0.5, abs=0.05)
    for low in (0.0, 0.25, 0.5, 0.75):
        count = ((shares >= low) & (shares < low + 0.25)).sum().item()
        assert count == pytest.approx(75, abs=27), "one eta for all would fill one quarter only"


def test_a_share_of_texts_is_masked_whole() -> None:
    draws = torch.Generator().manual_seed(0)
    whole = [bool(draw_masks(50, draws, 0.4).all()) for _ in range(500)]
    assert sum(whole) == pytest.approx(200, abs=45)


def test_noise_repeats_with_its_generator_and_differs_with_another() -> None:
    [pair] = pairs(0, [(2, 60)])
    first, again, other = (noisy(pair, 4, seed=s).token_ids for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_packing_keeps_every_text_whole_in_one_row() -> None:
    texts = [noisy(pair, 4, 1) for pair in pairs(2, [(6, 11), (2, 6), (9, 2), (1, 20), (3, 3)])]
    rows = pack(texts, 60, PAD)
    assert rows.token_ids.shape[0] < len(texts), "rows are shared"
    found = rows.layout.document
    assert (rows.targets[found == -1] == NO_TARGET).all()
    assert (rows.token_ids[found == -1] == PAD).all()
    for number, text in enumerate(texts):
        row, places = (found == number).nonzero(as_tuple=True)
        assert len(row.unique()) == 1
        assert places.tolist() == list(range(places[0], places[0] + len(text)))
        assert np.array_equal(rows.token_ids[row, places], text.token_ids)
        assert np.array_equal(rows.targets[row, places], text.targets)
        assert np.array_equal(rows.weights[row, places], text.weights)
        for name in ("position", "block", "copy"):
            assert np.array_equal(getattr(rows.layout, name)[row, places], getattr(text, name))


@pytest.fixture(scope="module")
def new_tokenizer():
    return new_model(TINY)[1]


def test_workers_build_the_batches_of_the_run_in_order(new_tokenizer) -> None:
    builder = BatchBuilder(TINY, new_tokenizer)
    alone = islice(batches(builder, 3, 0), 6)
    ahead = islice(batches(builder, 3, 2), 6)
    for step, (own, found) in enumerate(zip(alone, ahead, strict=True), start=3):
        assert torch.equal(own.packed.token_ids, found.packed.token_ids)
        assert torch.equal(own.packed.targets, found.packed.targets)
        assert torch.equal(builder.batch(step).packed.token_ids, found.packed.token_ids)
        assert own.ntp_weight == found.ntp_weight


def test_a_run_learns_the_same_with_workers(tmp_path) -> None:
    train(TINY, None, tmp_path / "alone")
    train(TINY, None, tmp_path / "workers", num_workers=2)
    assert all_losses(tmp_path / "workers") == all_losses(tmp_path / "alone")


def test_what_a_worker_raises_reaches_the_run_in_one_line(new_tokenizer) -> None:
    builder = BatchBuilder(replace(TINY, row_tokens=20), new_tokenizer)
    with pytest.raises(TrainingError, match=r"^row_tokens: hardly any example") as caught:
        next(batches(builder, 0, 1))
    assert "\n" not in str(caught.value)


class Dying(BatchBuilder):
    """Kills the process that builds."""

    def batch(self, step: int) -> Batch:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


def test_a_worker_that_is_killed_is_a_training_error(new_tokenizer) -> None:
    with pytest.raises(TrainingError, match="workers: a process that builds batches ended"):
        next(batches(Dying(TINY, new_tokenizer), 0, 1))


class Interrupted(BatchBuilder):
    """Is sent what Ctrl-C sends to every process of a terminal."""

    def batch(self, step: int) -> Batch:
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
        return super().batch(step)


def test_a_wish_to_stop_leaves_the_workers_at_work(new_tokenizer) -> None:
    found = next(batches(Interrupted(TINY, new_tokenizer), 0, 1))
    assert torch.equal(
        found.packed.targets, BatchBuilder(TINY, new_tokenizer).batch(0).packed.targets
    )


def test_a_cpu_keeps_its_cores_and_a_gpu_gets_workers(tmp_path) -> None:
    assert chosen_workers(torch.device("cpu")) == 0
    assert chosen_workers(torch.device("cuda")) >= 1
    for wrong in (-1, 1.5):
        with pytest.raises(ArgumentError, match="workers: must be a whole number"):
            train(TINY, None, tmp_path / "model", num_workers=wrong)
