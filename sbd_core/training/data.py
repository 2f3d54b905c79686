"""The batch of a step, as a function of (recipe, step) alone: what makes resuming exact.

Examples come in chunks of several batches, sorted by length inside a chunk so that a batch
holds little padding, and served in a seeded order.
"""

import random
from itertools import islice
from typing import Any

from sbd_core.errors import TrainingError
from sbd_core.training.corpus import Example, examples
from sbd_core.training.noising import Batch, collate
from sbd_core.training.recipe import Recipe
from sbd_core.training.tokenizer import encode_plain

BATCHES_PER_CHUNK = 8


class Data:
    """Endless batches for one recipe."""

    def __init__(self, recipe: Recipe, tokenizer: Any) -> None:
        self._recipe = recipe
        self._tokenizer = tokenizer
        self._chunk_index = -1
        self._chunk: list[Batch] = []

    def batch(self, step: int) -> Batch:
        """The batch of step `step`; asking in order costs one chunk each BATCHES_PER_CHUNK."""
        chunk_index, offset = divmod(step, BATCHES_PER_CHUNK)
        if chunk_index != self._chunk_index:
            self._chunk = self._make_chunk(chunk_index)
            self._chunk_index = chunk_index
        return self._chunk[offset]

    def _make_chunk(self, chunk_index: int) -> list[Batch]:
        recipe = self._recipe
        seed = recipe.seed * 1_000_003 + chunk_index
        wanted = BATCHES_PER_CHUNK * recipe.batch_size
        stream = (self._encode(item) for item in examples(seed, "train", recipe.families))
        fits = (pair for pair in stream if len(pair[0]) + len(pair[1]) <= recipe.max_tokens)
        pairs = list(islice(fits, wanted))
        if len(pairs) < wanted:
            raise TrainingError(f"families {', '.join(recipe.families)}: the stream ended")
        pairs.sort(key=lambda pair: (len(pair[1]) // 8, len(pair[0])))
        starts = list(range(0, wanted, recipe.batch_size))
        random.Random(seed).shuffle(starts)
        pad_id = self._tokenizer.pad_token_id
        return [collate(pairs[start : start + recipe.batch_size], pad_id) for start in starts]

    def _encode(self, example: Example) -> tuple[list[int], list[int]]:
        """Ids of (<user>prompt<assistant>, answer<eos>), the turn the chat template writes."""
        tokenizer = self._tokenizer
        user, assistant = tokenizer.convert_tokens_to_ids(["<user>", "<assistant>"])
        prompt = [user, *encode_plain(tokenizer, example.prompt), assistant]
        return prompt, [*encode_plain(tokenizer, example.answer), tokenizer.eos_token_id]
