"""The texts of a step, as a function of (recipe, step) alone: what makes resuming exact."""

from itertools import islice
from typing import Any

from sbd_core.errors import TrainingError
from sbd_core.training.corpus import Example, examples
from sbd_core.training.recipe import Recipe
from sbd_core.training.tokenizer import encode_plain

Pair = tuple[list[int], list[int]]
"""Ids of (<user>prompt<assistant>, answer<eos>), the turn the chat template writes."""


MOST_TRIED = 20
"""Examples looked at for one that fits into a row."""


class Data:
    """Endless texts for one recipe."""

    def __init__(self, recipe: Recipe, tokenizer: Any) -> None:
        self._recipe = recipe
        self._tokenizer = tokenizer

    def pairs(self, step: int) -> list[Pair]:
        """The batch_size texts of step `step`: the same for every stage, whatever it masks."""
        recipe = self._recipe
        seed = recipe.seed * 1_000_003 + step
        stream = map(self._encode, examples(seed, "train", recipe.families))
        tried = islice(stream, MOST_TRIED * recipe.batch_size)
        pairs = list(islice(filter(self._fits, tried), recipe.batch_size))
        if len(pairs) < recipe.batch_size:
            families = ", ".join(recipe.families)
            raise TrainingError(
                f"row_tokens: hardly an example of {families} fits into {recipe.row_tokens} tokens"
            )
        return pairs

    def _fits(self, pair: Pair) -> bool:
        prompt, answer = pair
        longest = len(prompt) + 2 * len(answer) + self._recipe.max_block_size - 1
        return longest <= self._recipe.row_tokens

    def _encode(self, example: Example) -> Pair:
        tokenizer = self._tokenizer
        user, assistant = tokenizer.convert_tokens_to_ids(["<user>", "<assistant>"])
        prompt = [user, *encode_plain(tokenizer, example.prompt), assistant]
        return prompt, [*encode_plain(tokenizer, example.answer), tokenizer.eos_token_id]
