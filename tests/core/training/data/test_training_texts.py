"""The texts of a training step, and how many masked copies a row takes beside them."""

from dataclasses import replace

import pytest

import sbd_core
from sbd_core.errors import TrainingError
from sbd_core.training.data.examples import ExampleStream
from sbd_core.training.recipes.recipe import read_recipe

RECIPE = read_recipe("sbd", None, {"batch_size": 50})


@pytest.fixture(scope="module")
def tokenizer():
    return sbd_core.load(device="cpu").tokenizer


def test_the_texts_of_a_step_depend_on_recipe_and_step_alone(tokenizer) -> None:
    in_order = [ExampleStream(RECIPE, tokenizer).draw(step) for step in range(4)]
    for step in (3, 0, 2):
        assert ExampleStream(RECIPE, tokenizer).draw(step) == in_order[step]
        assert ExampleStream(replace(RECIPE, stage="ntp"), tokenizer).draw(step) == in_order[step]
    assert in_order[0] != in_order[1]
    assert ExampleStream(replace(RECIPE, seed=1), tokenizer).draw(0) != in_order[0]


def test_a_text_is_the_chat_turn_ends_in_eos_and_fits_a_row_with_its_copy(tokenizer) -> None:
    model = sbd_core.load(device="cpu")
    user, assistant, end = tokenizer.convert_tokens_to_ids(["<user>", "<assistant>", "<eos>"])
    for prompt, answer in ExampleStream(RECIPE, tokenizer).draw(0):
        assert (prompt[0], prompt[-1], answer[-1]) == (user, assistant, end)
        assert list(model.encode(tokenizer.decode(prompt[1:-1]), is_raw=False)) == prompt
        longest = len(prompt) + 2 * len(answer) + RECIPE.max_block_size - 1
        assert longest <= RECIPE.row_tokens


def test_rows_no_example_fits_are_an_error_not_an_endless_search(tokenizer) -> None:
    with pytest.raises(TrainingError, match="row_tokens"):
        ExampleStream(replace(RECIPE, row_tokens=20), tokenizer).draw(0)
