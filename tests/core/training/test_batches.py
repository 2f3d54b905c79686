"""The batch of a step: texts cut to fit, drawn, masked by Alg. 1, packed, built by workers."""

import json
import os
import signal
from dataclasses import replace
from itertools import chain, islice

import numpy as np
import pytest
import torch

import sbd_core
from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.training.batches import (
    NO_TARGET,
    Batch,
    BatchBuilder,
    batches,
    chosen_workers,
    draw_masks,
    pack,
)
from sbd_core.training.data import ModelLimits
from sbd_core.training.new_model import new_model
from sbd_core.training.recipe import Recipe, read_recipe
from tests.core.models.tiny_models import tiny_model, tiny_tokenizer
from tests.core.training.tiny_training import (
    MASK,
    PAD,
    SUM,
    TINY,
    copy_of,
    json_lines,
    noisy,
    pairs,
    train,
    written,
)


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


def test_every_text_of_a_file_is_learnt_once_before_any_is_learnt_again(tmp_path) -> None:
    texts = [{"prompt": "a", "answer": f"It is {number}."} for number in range(7)]
    recipe = replace(alone(json_lines(tmp_path, texts)), batch_size=3)
    builder = BatchBuilder(recipe, tiny_tokenizer())
    drawn = [tuple(answer) for step in range(14) for _, answer in builder.draw(step)]
    epochs = [drawn[first : first + 7] for first in range(0, 42, 7)]
    assert all(len(set(epoch)) == 7 for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 1, "each in an order of its own"
    later = BatchBuilder(recipe, tiny_tokenizer())
    assert [tuple(answer) for _, answer in later.draw(9)] == drawn[27:30], "whichever came before"


def alone(source: str) -> Recipe:
    return replace(TINY, tasks={}, data=(source,), batch_size=2, row_tokens=512, max_positions=512)


def test_chats_that_a_template_wrote_as_text_are_not_learnt_as_letters(tmp_path) -> None:
    """unsloth 2026.10.9 and trl 1.16.0: a text that apply_chat_template() made."""
    tokenizer = tiny_tokenizer()
    text = tokenizer.apply_chat_template(SUM, tokenize=False)
    source = json_lines(tmp_path, [{"text": text}, {"text": "A plain text."}])
    builder = BatchBuilder(alone(source), tokenizer)
    assert "left out 1 that are chats as a template writes them, with '<eos>'" in builder.notes[0]
    assert {tokenizer.decode(answer) for _, answer in builder.draw(0)} == {"A plain text.<eos>"}
    with pytest.raises(ArgumentError, match="give their messages"):
        BatchBuilder(alone(json_lines(tmp_path, [{"text": text}])), tokenizer)


def test_what_a_model_has_no_row_or_position_for_is_left_out_by_name(tmp_path) -> None:
    """transformers 5.23.0: tokens added without a resize. Any program: answers too long for it."""
    tokenizer = tiny_tokenizer()
    limits = ModelLimits.of(tiny_model("llama", len(tokenizer)))
    tokenizer.add_tokens(["zebra"])
    rows = [{"messages": SUM}, {"prompt": "a zebra", "answer": "b"}, {"text": "zebras"}]
    long = {"prompt": "a", "answer": "7 " * 120}
    builder = BatchBuilder(alone(json_lines(tmp_path, [*rows, long])), tokenizer, limits)
    assert "left out 2 that hold 'zebra', which the model has no embedding for" in builder.notes[0]
    assert "left out 1 that are longer than the 128 positions of the model" in builder.notes[1]
    end = replace(alone(json_lines(tmp_path, rows[:1])))
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
        assert all(builder.batch(step).token_ids.shape[1] == length for step in range(4))


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


@pytest.mark.parametrize(("block_size", "phase"), [(4, 0), (5, 2), (16, 9), (1, 0)])
@pytest.mark.parametrize("lengths", [(3, 9), (5, 4), (1, 1), (2, 16)])
def test_x_hat_copies_the_answer_in_whole_blocks_and_wants_its_masked_tokens(
    block_size, phase, lengths
) -> None:
    [(prompt, answer)] = pairs(0, [lengths])
    for seed in range(10):
        text = noisy((prompt, answer), block_size, phase, seed)
        clean, copied = text[text["copy"] == 0], text[text["copy"] > 0]
        copy, has_target = copy_of(text)
        assert clean["token_ids"].tolist() == [*prompt, *answer]
        after = copy[len(answer) :]
        assert after == [MASK] * len(after)
        assert not any(has_target[len(answer) :]), "what follows the end is unknown, not wanted"
        for token, wanted, truth in zip(copy, has_target, answer, strict=False):
            assert token == (MASK if wanted else truth)
        targets = copied["targets"][np.array(has_target)]
        assert targets.tolist() == [t for t, w in zip(answer, has_target, strict=False) if w]
        assert (len(copy) + phase) % block_size == 0
        assert len(copy) < len(answer) + block_size
        places = range(len(prompt), len(prompt) + len(copy))
        assert copied["position"].tolist() == list(places)
        blocks = [(place - len(prompt) + phase) // block_size for place in places]
        assert copied["block"].tolist() == blocks
        expected = [-1] * len(prompt) + blocks[: len(answer)]
        assert clean["block"].tolist() == expected


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
        assert np.array_equal(rows.token_ids[row, places], text["token_ids"])
        assert np.array_equal(rows.targets[row, places], text["targets"])
        assert np.array_equal(rows.weights[row, places], text["weights"])
        for name in ("position", "block", "copy"):
            assert np.array_equal(getattr(rows.layout, name)[row, places], text[name])


@pytest.fixture(scope="module")
def new_tokenizer():
    return new_model(TINY)[1]


def test_workers_build_the_batches_of_the_run_in_order(new_tokenizer) -> None:
    builder = BatchBuilder(TINY, new_tokenizer)
    alone = islice(batches(builder, 3, 0), 6)
    ahead = islice(batches(builder, 3, 2), 6)
    for step, (own, found) in enumerate(zip(alone, ahead, strict=True), start=3):
        assert torch.equal(own.token_ids, found.token_ids)
        assert torch.equal(own.targets, found.targets)
        assert torch.equal(builder.batch(step).token_ids, found.token_ids)
        assert own.ntp_weight == found.ntp_weight


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
    assert torch.equal(found.targets, BatchBuilder(TINY, new_tokenizer).batch(0).targets)


def test_a_cpu_keeps_its_cores_and_a_gpu_gets_workers(tmp_path) -> None:
    assert chosen_workers(torch.device("cpu")) == 0
    assert chosen_workers(torch.device("cuda")) >= 1
    for wrong in (-1, 1.5):
        with pytest.raises(ArgumentError, match="workers: must be a whole number"):
            train(TINY, None, tmp_path / "model", num_workers=wrong)
