"""The texts of a training step, and how many masked copies a row takes beside them."""

from dataclasses import replace

import pytest
from accelerate import Accelerator

import sbd_core
from sbd_core.errors import TrainingError
from sbd_core.training.batches import Feed
from sbd_core.training.examples import Data
from sbd_core.training.recipe import Recipe, read_recipe

RECIPE = read_recipe("sbd", None, {"batch_size": 50})


@pytest.fixture(scope="module")
def tokenizer():
    return sbd_core.load(device="cpu").tokenizer


def test_the_texts_of_a_step_depend_on_recipe_and_step_alone(tokenizer) -> None:
    in_order = [Data(RECIPE, tokenizer).pairs(step) for step in range(4)]
    for step in (3, 0, 2):
        assert Data(RECIPE, tokenizer).pairs(step) == in_order[step]
        assert Data(replace(RECIPE, stage="ntp"), tokenizer).pairs(step) == in_order[step]
    assert in_order[0] != in_order[1]
    assert Data(replace(RECIPE, seed=1), tokenizer).pairs(0) != in_order[0]


def test_a_text_is_the_chat_turn_ends_in_eos_and_fits_a_row_with_its_copy(tokenizer) -> None:
    model = sbd_core.load(device="cpu")
    user, assistant, end = tokenizer.convert_tokens_to_ids(["<user>", "<assistant>", "<eos>"])
    for prompt, answer in Data(RECIPE, tokenizer).pairs(0):
        assert (prompt[0], prompt[-1], answer[-1]) == (user, assistant, end)
        assert list(model.encode(tokenizer.decode(prompt[1:-1]), False)) == prompt
        longest = len(prompt) + 2 * len(answer) + RECIPE.max_block_size - 1
        assert longest <= RECIPE.row_tokens


def test_a_text_has_the_asked_copies_or_as_many_as_its_row_holds(tokenizer) -> None:
    def copies(recipe: Recipe) -> list[int]:
        layout = Feed(recipe, tokenizer, None, Accelerator()).rows(0)[0].layout
        found = layout.document
        numbers = range(int(found.max()) + 1)
        return [int(layout.copy[found == number].max()) for number in numbers]

    assert copies(RECIPE) == [1] * 50
    several = copies(replace(RECIPE, masked_copies=3))
    assert min(several) < 3, "a long text of this step leaves room for fewer"
    assert several.count(3) > 25


def test_rows_no_example_fits_are_an_error_not_an_endless_search(tokenizer) -> None:
    with pytest.raises(TrainingError, match="row_tokens"):
        Data(replace(RECIPE, row_tokens=20), tokenizer).pairs(0)
