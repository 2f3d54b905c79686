"""The examples of a step, a function of (recipe, step), so that resuming is exact."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from transformers import PreTrainedTokenizerFast

from sbd_core.errors import ModelError, TrainingError, shown
from sbd_core.models.chat import encode_plain, encode_turn, template_mark
from sbd_core.models.model_config import reach_of
from sbd_core.tasks import Example
from sbd_core.training.new_model import CHAT_TEMPLATE
from sbd_core.training.recipe import Recipe
from sbd_core.training.sources import Record, Skipped, mixed, read_source


def require_tokens(tokenizer: Any, argument: str, *, needs_mask: bool) -> None:
    """Raise TrainingError unless the tokenizer has the tokens that training needs."""
    if tokenizer.eos_token_id is None:
        raise TrainingError(
            f"{argument}: the tokenizer has no eos token, which ends every answer: give it one"
        )
    if needs_mask and tokenizer.mask_token_id is None:
        raise TrainingError(
            f"{argument}: the tokenizer has no mask token: sbd prepare gives a model one"
        )


def padding_id(tokenizer: Any) -> int:
    """Padding token: any would do, as nothing attends to it and nothing predicts it."""
    pad, end = tokenizer.pad_token_id, tokenizer.eos_token_id
    return int(end if pad is None else pad)


def writes_own_turns(tokenizer: Any) -> bool:
    """Whether the chat template is CHAT_TEMPLATE, which frames every text with the same tokens."""
    return bool(tokenizer.chat_template == CHAT_TEMPLATE)


def encode_plain_texts(tokenizer: PreTrainedTokenizerFast, texts: list[str]) -> list[list[int]]:
    """Token ids of each text as plain text: "<m>" in it is three characters, not the mask token."""
    if not texts:
        return []
    return tokenizer(texts, add_special_tokens=False, split_special_tokens=True)["input_ids"]


Pair = tuple[list[int], list[int]]
"""Token ids of a prompt up to the assistant's turn, and of the answer with its end token."""
Packed: TypeAlias = "tuple[array[int], array[int]]"
"""A Pair in arrays, which take a tenth of the memory of lists."""


ROWS_OF = 128
"""Row lengths are multiples of this many tokens, the size of FlexAttention's blocks."""
MOST_TRIED = 20
"""Most batches drawn to fill one with examples that fit into a row."""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Limits of a model: token ids below num_rows, and texts of at most `reach` positions."""

    num_rows: int | None = None
    reach: int | None = None

    @classmethod
    def of(cls, model: Any) -> "ModelLimits":
        """Read the limits of a transformers model."""
        return cls(int(model.get_input_embeddings().weight.shape[0]), reach_of(model.config))


NO_LIMITS = ModelLimits()


class ExampleStream:
    """Endless examples for one recipe.

    notes: lines on what is left out of its sources.
    row_tokens: length of a row. Without tasks, no more than the longest text needs, as padding
    costs as much as text.
    """

    def __init__(self, recipe: Recipe, tokenizer: Any, limits: ModelLimits = NO_LIMITS) -> None:
        self._limits = limits
        self._recipe = recipe
        self._tokenizer = tokenizer
        self.notes: list[str] = []
        self._sources = [self._pieces(source) for source in recipe.data]
        self.row_tokens = recipe.row_tokens
        if not recipe.tasks:
            longest = max(self._needed(*piece) for source in self._sources for piece in source)
            self.row_tokens = min(recipe.row_tokens, -(-longest // ROWS_OF) * ROWS_OF)

    def draw(self, step: int) -> list[Pair]:
        """The batch_size examples of `step`, the same for every stage. Raises TrainingError."""
        recipe = self._recipe
        seed = recipe.seed * 1_000_003 + step
        drawn = mixed(seed, recipe.tasks, self._sources)
        fitting: list[Pair] = []
        for _ in range(MOST_TRIED):
            pairs = self._encoded(list(islice(drawn, recipe.batch_size)))
            fitting += [pair for pair in pairs if self._fits(pair)]
            if len(fitting) >= recipe.batch_size:
                break
        if len(fitting) < recipe.batch_size:
            names = ", ".join((*recipe.tasks, *recipe.data))
            raise TrainingError(
                f"row_tokens: hardly any example of {names} fits into {recipe.row_tokens} tokens"
            )
        return fitting[: recipe.batch_size]

    def _encoded(self, items: "Sequence[Example | Packed]") -> list[Pair]:
        made = encode_examples(
            self._tokenizer, [item for item in items if isinstance(item, Example)]
        )
        waiting = iter(made)
        return [
            next(waiting) if isinstance(item, Example) else (list(item[0]), list(item[1]))
            for item in items
        ]

    def _pieces(self, source: str) -> list[Packed]:
        """The records of a source that fit into a row; texts that do not are cut evenly.

        Only the last piece of a text ends in <eos>. Raises ArgumentError where none fits.
        """
        pieces: list[Packed] = []
        skipped = Skipped(source)
        for record in read_source(source, skipped):
            if not record.messages:
                pieces += self._cut(record, skipped)
                continue
            pair = encoded_record(self._tokenizer, record, "init", skipped, self._limits)
            if pair and self._fits(pair):
                pieces.append((array("I", pair[0]), array("I", pair[1])))
            elif pair:
                size = f"a row of {self._recipe.row_tokens} tokens (--row-tokens)"
                skipped.add(f"do not fit with their masked copy into {size}", record.where)
        skipped.require(pieces)
        self.notes += skipped.notes()
        return pieces

    def _cut(self, record: Record, skipped: Skipped) -> list[Packed]:
        """Cut a plain text into pieces of equal length.

        The prompt of each is an empty turn, else the start token, else the piece's own first token.
        """
        mark = template_mark(self._tokenizer, record.answer)
        if mark is not None:
            reason = f"are chats as a template writes them, with {shown(mark)}: give their messages"
            skipped.add(reason, record.where)
            return []
        start = self._tokenizer.bos_token_id
        opening = [] if start is None else [start]
        if writes_own_turns(self._tokenizer):
            opening = self._tokenizer.convert_tokens_to_ids(["<user>", "<assistant>"])
        ids = [*encode_plain(self._tokenizer, record.answer), self._tokenizer.eos_token_id]
        if not _can_read(self._tokenizer, ids, self._limits, record, skipped):
            return []
        longest = (self._recipe.row_tokens - max(1, len(opening)) - self._longest_rest) // 2
        longest = min(longest, (self._limits.reach or longest) - len(opening))
        if longest < 1:
            return []
        num_first = 0 if opening else 1
        size = num_first + -(-len(ids) // -(-len(ids) // longest))
        pieces = [ids[start : start + size] for start in range(0, len(ids), size)]
        return [
            (array("I", [*opening, *piece[:num_first]]), array("I", piece[num_first:]))
            for piece in pieces
            if len(piece) > num_first
        ]

    @property
    def _longest_rest(self) -> int:
        """Most positions that the last block of a masked copy has beyond the answer's end."""
        return self._recipe.max_block_size - 1

    def _needed(self, prompt: Sequence[int], answer: Sequence[int]) -> int:
        """Most tokens that an example takes in a row, its masked copy included."""
        return len(prompt) + 2 * len(answer) + self._longest_rest

    def _fits(self, pair: Pair) -> bool:
        return self._needed(*pair) <= self._recipe.row_tokens


def encode_example(tokenizer: Any, example: Example) -> Pair:
    """Token ids of an example: its prompt as the chat template frames it, and its answer."""
    return encode_examples(tokenizer, [example])[0]


def encode_examples(tokenizer: Any, examples: Sequence[Example]) -> list[Pair]:
    """encode_example() of each; with our own chat template all in one call of the tokenizer."""
    if not writes_own_turns(tokenizer):
        return [
            encode_turn(tokenizer, (("user", one.prompt),), one.answer, "init") for one in examples
        ]
    user, assistant = tokenizer.convert_tokens_to_ids(["<user>", "<assistant>"])
    texts = [text for example in examples for text in (example.prompt, example.answer)]
    token_ids = encode_plain_texts(tokenizer, texts)
    return [
        ([user, *prompt, assistant], [*answer, tokenizer.eos_token_id])
        for prompt, answer in zip(token_ids[::2], token_ids[1::2], strict=True)
    ]


def encoded_record(
    tokenizer: Any,
    record: Record,
    name: str,
    skipped: Skipped,
    limits: ModelLimits = NO_LIMITS,
) -> Pair | None:
    """Token ids of a record; None, with the reason noted in `skipped`, if it cannot be learnt.

    name: of the tokenizer's model, for messages.
    """
    try:
        prompt, answer = encode_turn(tokenizer, record.messages, record.answer, name)
    except ModelError as error:
        skipped.add(f"cannot be written ({error})", record.where)
        return None
    if not _can_read(tokenizer, [*prompt, *answer], limits, record, skipped):
        return None
    if limits.reach is not None and len(prompt) + len(answer) > limits.reach:
        skipped.add(f"are longer than the {limits.reach} positions of the model", record.where)
        return None
    return prompt, answer if record.is_finished else answer[:-1]


def _can_read(
    tokenizer: Any, ids: Sequence[int], limits: ModelLimits, record: Record, skipped: Skipped
) -> bool:
    """Whether the model has an embedding for each token; if not, `skipped` takes the reason."""
    if limits.num_rows is None or max(ids) < limits.num_rows:
        return True
    token = shown(tokenizer.convert_ids_to_tokens(max(ids)))
    skipped.add(f"hold {token}, which the model has no embedding for", record.where)
    return False
