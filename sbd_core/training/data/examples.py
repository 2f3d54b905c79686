"""The examples of a step, as a function of (recipe, step): what makes resuming exact."""

from array import array
from collections.abc import Sequence
from itertools import islice
from typing import Any

from sbd_core.errors import MAX_SHOWN_PATH, TrainingError, shown_name
from sbd_core.tasks import Example
from sbd_core.training.data.sources import mixed, read_source
from sbd_core.training.data.task_weights import Weights, recipe_weights
from sbd_core.training.data.tokenizer import encode_plain_texts
from sbd_core.training.recipes.recipe import Recipe

Pair = tuple[list[int], list[int]]
"""Ids of (<user>prompt<assistant>, answer<eos>), the turn the chat template writes."""


MOST_TRIED = 20
"""Batches of examples looked at for one of examples that fit into a row."""


class ExampleStream:
    """Endless texts for one recipe."""

    def __init__(self, recipe: Recipe, tokenizer: Any) -> None:
        self._recipe = recipe
        self._tokenizer = tokenizer
        self._sources = [self._pieces(source) for source in recipe.data]

    def draw(self, step: int, weights: Weights | None = None) -> list[tuple[str, Pair]]:
        """The batch_size examples of step `step`, each with its group: the same for every stage.

        weights: of groups; None stands for the recipe's.
        """
        recipe = self._recipe
        seed = recipe.seed * 1_000_003 + step
        drawn = mixed(seed, weights or recipe_weights(recipe), self._sources)
        found: list[tuple[str, Pair]] = []
        for _ in range(MOST_TRIED):
            some = list(islice(drawn, recipe.batch_size))
            pairs = self._encoded([item for _, item in some])
            groups = (group for group, _ in some)
            found += [each for each in zip(groups, pairs, strict=True) if self._fits(each[1])]
            if len(found) >= recipe.batch_size:
                break
        if len(found) < recipe.batch_size:
            names = ", ".join((*recipe.tasks, *recipe.data))
            raise TrainingError(
                f"row_tokens: hardly an example of {names} fits into {recipe.row_tokens} tokens"
            )
        return found[: recipe.batch_size]

    def _encoded(self, items: "Sequence[Example | tuple[array[int], array[int]]]") -> list[Pair]:
        made = encode_examples(
            self._tokenizer, [item for item in items if isinstance(item, Example)]
        )
        waiting = iter(made)
        return [
            next(waiting) if isinstance(item, Example) else (list(item[0]), list(item[1]))
            for item in items
        ]

    def _pieces(self, source: str) -> "list[tuple[array[int], array[int]]]":
        """The records of a source that fit into a row; texts that do not are cut evenly.

        Only the last piece of a text ends in <eos>. Raises TrainingError where none fits.
        """
        recipe = self._recipe
        pieces = []
        for record in read_source(source):
            prompt, answer = encode_example(self._tokenizer, record)
            longest = (recipe.row_tokens - len(prompt) - recipe.max_block_size + 1) // 2
            if longest < 1 or (record.prompt and len(answer) > longest):
                continue
            size = -(-len(answer) // -(-len(answer) // longest))
            for start in range(0, len(answer), size):
                # Arrays take a tenth of what lists of numbers take.
                pieces.append((array("I", prompt), array("I", answer[start : start + size])))
        if not pieces:
            where = f"data {shown_name(source, MAX_SHOWN_PATH)}"
            raise TrainingError(f"{where}: no record fits into {recipe.row_tokens} tokens")
        return pieces

    def _fits(self, pair: Pair) -> bool:
        prompt, answer = pair
        longest = len(prompt) + 2 * len(answer) + self._recipe.max_block_size - 1
        return longest <= self._recipe.row_tokens


def encode_example(tokenizer: Any, example: Example) -> Pair:
    """The turn that the chat template writes for this prompt, and its answer."""
    return encode_examples(tokenizer, [example])[0]


def encode_examples(tokenizer: Any, examples: Sequence[Example]) -> list[Pair]:
    """encode_example() of each, all in one call of the tokenizer."""
    user, assistant = tokenizer.convert_tokens_to_ids(["<user>", "<assistant>"])
    texts = [text for example in examples for text in (example.prompt, example.answer)]
    found = encode_plain_texts(tokenizer, texts)
    return [
        ([user, *prompt, assistant], [*answer, tokenizer.eos_token_id])
        for prompt, answer in zip(found[::2], found[1::2], strict=True)
    ]
