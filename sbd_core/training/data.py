"""Training data: generated exercises and texts of files and datasets, drawn at random and encoded.

A source is "file:PATH" or "hf:NAME[:SPLIT]". The default SPLIT is train.
- A .txt file holds UTF-8 text, in which empty lines separate one text from the next.
- A .json, .jsonl, .ndjson, .csv, .tsv or .parquet file holds records (sbd_core/chats.py). Each
  assistant turn of a chat is learnt as the answer to all turns before it, unless the record marks
  it as not learnt; a plain text is learnt without a prompt.
- A dataset is read up to MAX_RECORDS records; `datasets` must be installed. NAME may also be a
  folder, such as one that save_to_disk() wrote. Cached datasets need no network.
"""

import hashlib
import random
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedTokenizerFast

from sbd_core.chats import chat_of, unread_fields
from sbd_core.data_files import Row, read_rows, read_text, row_of, suffix_of
from sbd_core.errors import (
    MAX_SHOWN_PATH,
    ArgumentError,
    ModelError,
    one_line,
    shown,
    shown_name,
)
from sbd_core.models.chat import Message, encode_turn
from sbd_core.models.model_folder import reach_of
from sbd_core.tasks import Example, task
from sbd_core.tasks.manners import training_example

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}<assistant>{{ message['content'] }}<eos>"
    "{% else %}<user>{{ message['content'] }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
"""Chat template of a new model: every turn begins with one token."""
MAX_RECORDS = 50_000
TEXT, RECORDS = (".txt",), (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
SAVED = "state.json"
"""File in a folder that datasets' save_to_disk() wrote, which load_dataset() cannot read."""


@dataclass(frozen=True, slots=True)
class Text:
    """An answer of the assistant with the messages before it, or a plain text without messages.

    where: place of the text in its source, for notes to the user.
    is_finished: False if the answer was cut short, so that no end token may follow.
    """

    messages: tuple[Message, ...]
    answer: str
    where: str
    is_finished: bool = True

    @property
    def prompt(self) -> str:
        """The text of all messages before the answer."""
        return "\n".join(content for _, content in self.messages)


def mixed(seed: int, tasks: Mapping[str, float]) -> Iterator[Example]:
    """Yield examples without end, each of a task that is drawn by weight.

    tasks: {task name: weight}.
    """
    draw, chosen, weights = random.Random(f"{seed}/train"), [*map(task, tasks)], [*tasks.values()]
    while True:
        yield training_example(draw, draw.choices(chosen, weights)[0])


class Mixture:
    """Draws a task or source for each example of a run, by weight.

    The n-th example that falls to a source is known from n alone, as each step is built alone.
    """

    CHUNK = 65_536

    def __init__(self, seed: int, weights: Sequence[float]) -> None:
        """weights: weight of each task and source."""
        self._seed = seed
        self._shares = np.array(weights) / sum(weights)
        self._before = [np.zeros(len(weights), np.int64)]

    def counts(self, num_examples: int) -> list[int]:
        """How many of the run's first num_examples examples fall to each task and source."""
        number, rest = divmod(num_examples, self.CHUNK)
        while len(self._before) <= number:
            self._before.append(self._before[-1] + self._counted(len(self._before) - 1))
        return (self._before[number] + self._counted(number, rest)).tolist()

    def _counted(self, number: int, stop: int | None = None) -> Any:
        draw = np.random.default_rng([self._seed, number])
        drawn = draw.choice(len(self._shares), self.CHUNK, p=self._shares)[:stop]
        return np.bincount(drawn, minlength=len(self._shares))


def in_epochs(seed: int, size: int, first: int, stop: int) -> list[int]:
    """The indices of the first-th to (stop - 1)-th draw from `size` texts.

    Each epoch has every text once, in an order of its own.
    """
    places = (divmod(place, size) for place in range(first, stop))
    return [_epoch_order(seed, epoch, size)[place] for epoch, place in places]


@lru_cache(8)
def _epoch_order(seed: int, epoch: int, size: int) -> list[int]:
    generator = torch.Generator().manual_seed((seed + epoch) * 1_000_003)
    return torch.randperm(size, generator=generator).tolist()


def digest_of(pairs: Iterable[tuple[Sequence[int], Sequence[int]]]) -> str:
    """SHA-256 of encoded texts, by which a resumed run knows its data again."""
    digest = hashlib.sha256()
    for prompt, answer in pairs:
        sizes = len(prompt), len(answer)
        digest.update(array("I", [*sizes, *prompt, *answer]).tobytes())
    return digest.hexdigest()


class Skipped:
    """The texts that training skips in one source, with the reasons."""

    def __init__(self, source: str) -> None:
        self._source = shown_name(source, MAX_SHOWN_PATH)
        self._places: dict[str, list[str]] = {}
        self.fields: set[str] = set()
        """Names of the records' fields that are not read."""

    def add(self, reason: str, where: str, count: int = 1) -> None:
        """Record that `count` texts at `where` are skipped. reason: words like "are empty"."""
        if count:
            self._places.setdefault(reason, []).extend([where] * count)

    def notes(self) -> list[str]:
        """One line for each reason: how many texts are skipped, and where the first one is.

        A line about fields that are not read comes first.
        """
        names = ", ".join(shown_name(name) for name in sorted(self.fields))
        return [f"{self._source}: fields that are not read: {names}"] * bool(names) + [
            f"{self._source}: left out {len(places)} that {reason}; the first is {places[0]}"
            for reason, places in self._places.items()
        ]

    def require(self, learnt: Sequence[object]) -> None:
        """Raise ArgumentError with the notes if `learnt`, the texts not skipped, is empty."""
        if not learnt:
            rule = "must hold something to learn" + "".join(f"; {note}" for note in self.notes())
            raise ArgumentError("data", rule, self._source)


def read_source(source: str, skipped: Skipped) -> list[Text]:
    """Read the texts of a source; record in `skipped` the texts that cannot be learnt.

    Raises ArgumentError if the source cannot be read or has no text to learn.
    """
    kind, _, name = source.partition(":")
    texts: list[Text] = []
    if kind == "file" and suffix_of(Path(name)) in TEXT:
        text = read_text("data", Path(name)).replace("\r\n", "\n")
        paragraphs = re.split(r"\n[ \t]*\n", text)
        texts = [Text((), part.strip(), source) for part in paragraphs if part.strip()]
    else:
        path = Path(name)
        if kind == "file" and (path.is_dir() or suffix_of(path) not in RECORDS):
            kinds = ", ".join((*TEXT, *RECORDS))
            rule = f"must be a file that ends in {kinds} (a folder of save_to_disk() is hf:FOLDER)"
            raise ArgumentError("data", rule, str(path))
        for row in _dataset(source, name) if kind == "hf" else read_rows("data", path):
            skipped.fields |= unread_fields(row.fields)
            texts += _answers(row, skipped)
    skipped.require(texts)
    return texts


def _dataset(source: str, name: str) -> Iterator[Row]:
    try:
        import httpx
        from datasets import load_dataset, load_from_disk
        from datasets.exceptions import DatasetsError
    except ImportError as error:
        rule = "must be a file, or datasets be installed: pip install datasets"
        raise ArgumentError("data", rule, source) from error
    folder, _, split = name.partition(":")
    try:
        if (Path(folder) / SAVED).is_file() and not split:
            records = load_from_disk(folder)
        else:
            records = load_dataset(folder, split=split or "train", streaming=True)
        for number, record in enumerate(islice(records, MAX_RECORDS), start=1):
            yield row_of("data", f"{source} record {number}", record)
    except ArgumentError:
        raise
    except (OSError, ValueError, RuntimeError, KeyError, DatasetsError, httpx.HTTPError) as error:
        raise ArgumentError(
            "data", f"must be a dataset that can be loaded ({one_line(error)})", source
        ) from error


def _answers(row: Row, skipped: Skipped) -> list[Text]:
    """Return a record's texts: its plain text, or its learnt answers with all earlier turns."""
    chat = chat_of(row, has_answer=True)
    if chat.text is not None:
        if chat.text.strip():
            return [Text((), chat.text, row.where)]
        skipped.add("are empty", row.where)
        return []
    texts = []
    is_finished = row.fields.get("finished") is not False
    for number, turn in enumerate(chat.turns):
        if turn.role == "assistant" and number and turn.is_learnt:
            if turn.content.strip():
                messages = chat.messages[:number]
                texts.append(Text(messages, turn.content, row.where, is_finished))
            else:
                skipped.add("are empty", row.where)
    reason = "call tools, think apart, hold other than text, or follow such a turn"
    skipped.add(reason, row.where, chat.num_cut)
    if not any(turn.role == "assistant" for turn in chat.turns[1:]) and not chat.num_cut:
        skipped.add("have no answer to another turn", row.where)
    return texts


def has_own_template(tokenizer: Any) -> bool:
    """True if the chat template is CHAT_TEMPLATE, which frames every text with the same tokens."""
    return bool(tokenizer.chat_template == CHAT_TEMPLATE)


def encode_plain_texts(tokenizer: PreTrainedTokenizerFast, texts: list[str]) -> list[list[int]]:
    """Encode texts without special tokens: "<m>" in a text does not become the mask token."""
    if not texts:
        return []
    return tokenizer(texts, add_special_tokens=False, split_special_tokens=True)["input_ids"]


Pair = tuple[list[int], list[int]]
"""Token ids of a prompt up to the assistant's turn, and of the answer with its end token."""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Limits of the texts that a model can read; None stands for no limit.

    num_embeddings: number of embeddings; every token id is below this number.
    max_tokens: greatest number of tokens in a text.
    """

    num_embeddings: int | None = None
    max_tokens: int | None = None

    @classmethod
    def of(cls, model: Any) -> "ModelLimits":
        """Read the limits of a transformers model."""
        return cls(int(model.get_input_embeddings().weight.shape[0]), reach_of(model.config))


NO_LIMITS = ModelLimits()


def encode_examples(tokenizer: Any, examples: Sequence[Example]) -> list[Pair]:
    """Encode the prompts and answers of examples; the chat template frames each prompt."""
    if not has_own_template(tokenizer):
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


def encoded_text(
    tokenizer: Any,
    text: Text,
    name: str,
    skipped: Skipped,
    limits: ModelLimits = NO_LIMITS,
) -> Pair | None:
    """Encode a text. If it cannot be learnt, record the reason in `skipped` and return None."""
    try:
        prompt, answer = encode_turn(tokenizer, text.messages, text.answer, name)
    except ModelError as error:
        skipped.add(f"cannot be written ({error})", text.where)
        return None
    if not can_read(tokenizer, [*prompt, *answer], limits, text, skipped):
        return None
    if limits.max_tokens is not None and len(prompt) + len(answer) > limits.max_tokens:
        skipped.add(f"are longer than the {limits.max_tokens} positions of the model", text.where)
        return None
    return prompt, answer if text.is_finished else answer[:-1]


def can_read(
    tokenizer: Any, ids: Sequence[int], limits: ModelLimits, text: Text, skipped: Skipped
) -> bool:
    """Whether every id in `ids` has an embedding in the model; if not, `skipped` records `text`."""
    if limits.num_embeddings is None or max(ids) < limits.num_embeddings:
        return True
    token = shown(tokenizer.convert_ids_to_tokens(max(ids)))
    skipped.add(f"hold {token}, which the model has no embedding for", text.where)
    return False
