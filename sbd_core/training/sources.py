"""Texts from outside the corpus: files and Hugging Face datasets. Knows no tokenizer.

A source is "file:PATH" or "hf:NAME[:SPLIT]" (split train unless named).
- A file that ends in .txt is UTF-8 text; every paragraph (separated by empty lines) is a text.
- A file that ends in .json, .jsonl, .ndjson, .csv, .tsv or .parquet holds records
  (sbd_core/records.py). Every assistant turn of a chat is learnt as the answer to all turns before
  it; a text alone is learnt without a prompt.
- Of a dataset, the first MAX_RECORDS records are read. `datasets` must be installed. NAME may be a
  folder, also one that save_to_disk() wrote; without a network, cached datasets work too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import TypeVar

from sbd_core.errors import MAX_SHOWN_PATH, ArgumentError, one_line, shown_name
from sbd_core.models.chat import Message
from sbd_core.records import Row, chat_of, read_rows, read_text, row_of, suffix_of
from sbd_core.tasks import Example, task

MAX_RECORDS = 50_000
SOURCE_RULE = "must be a list of sources, each file:PATH or hf:NAME[:SPLIT]"
TEXT, RECORDS = (".txt",), (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
SAVED = "state.json"
"""File in a folder that datasets' save_to_disk() wrote, which load_dataset() cannot read."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Record:
    """One answer of the assistant to the messages before it; without messages, a text alone.

    where: the file and its line. is_finished: False for an answer that was cut short.
    """

    messages: tuple[Message, ...]
    answer: str
    where: str
    is_finished: bool = True

    @property
    def prompt(self) -> str:
        """The text of all messages before the answer."""
        return "\n".join(content for _, content in self.messages)


def require_sources(data: object) -> None:
    """Raise ArgumentError unless `data` is a list of sources by their form; reads nothing."""
    if isinstance(data, str) or not isinstance(data, Sequence):
        raise ArgumentError("data", SOURCE_RULE, data)
    for source in data:
        if not isinstance(source, str) or not re.fullmatch(
            r"file:.+|hf:[^:\s]+(:[^:\s]+)?", source, re.DOTALL
        ):
            raise ArgumentError("data", SOURCE_RULE, source)


def mixed(
    seed: int, tasks: Mapping[str, float], sources: Sequence[Sequence[Item]]
) -> Iterator[Example | Item]:
    """Draw items endlessly: of tasks by their weights, of each source, none empty, at weight 1."""
    random = Random(f"{seed}/train")
    chosen = [task(name) for name in tasks]
    weights = [*tasks.values(), *(1.0 for _ in sources)]
    indices = range(len(weights))
    while True:
        index = random.choices(indices, weights)[0]
        if index < len(chosen):
            yield chosen[index].generate(random, "train")
        else:
            yield random.choice(sources[index - len(chosen)])


class Skipped:
    """Answers and texts of a source that are left out: their places, by reason."""

    def __init__(self, source: str) -> None:
        self._source = shown_name(source, MAX_SHOWN_PATH)
        self._places: dict[str, list[str]] = {}

    def add(self, reason: str, where: str, count: int = 1) -> None:
        """Note `count` texts at `where` that are left out; reason: a verb phrase ("are empty")."""
        if count:
            self._places.setdefault(reason, []).extend([where] * count)

    def notes(self) -> list[str]:
        """One line for each reason."""
        return [
            f"{self._source}: left out {len(places)} that {reason}; the first is {places[0]}"
            for reason, places in self._places.items()
        ]

    def require(self, learnt: Sequence[object]) -> None:
        """Raise ArgumentError if `learnt`, what is left to learn, is empty."""
        if not learnt:
            rule = "must hold something to learn" + "".join(f"; {note}" for note in self.notes())
            raise ArgumentError("data", rule, self._source)


def read_source(source: str, skipped: Skipped) -> list[Record]:
    """All records of a source, at least one; others go to `skipped`. Raises ArgumentError."""
    kind, _, name = source.partition(":")
    records: list[Record] = []
    if kind == "file" and suffix_of(Path(name)) in TEXT:
        text = read_text("data", Path(name)).replace("\r\n", "\n")
        paragraphs = re.split(r"\n[ \t]*\n", text)
        records = [Record((), part.strip(), source) for part in paragraphs if part.strip()]
    else:
        path = Path(name)
        if kind == "file" and (path.is_dir() or suffix_of(path) not in RECORDS):
            kinds = ", ".join((*TEXT, *RECORDS))
            rule = f"must be a file that ends in {kinds} (a folder of save_to_disk() is hf:FOLDER)"
            raise ArgumentError("data", rule, str(path))
        for row in _dataset(source, name) if kind == "hf" else read_rows("data", path):
            records += _answers(row, skipped)
    skipped.require(records)
    return records


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


def _answers(row: Row, skipped: Skipped) -> list[Record]:
    """Every assistant turn in one record, each with all turns before it."""
    chat = chat_of(row, has_answer=True)
    if chat.text is not None:
        if chat.text.strip():
            return [Record((), chat.text, row.where)]
        skipped.add("are empty", row.where)
        return []
    records = []
    is_finished = row.fields.get("finished") is not False
    for number, turn in enumerate(chat.turns):
        if turn.role == "assistant" and number and turn.is_learnt:
            if turn.content.strip():
                said = chat.messages[:number]
                records.append(Record(said, turn.content, row.where, is_finished))
            else:
                skipped.add("are empty", row.where)
    reason = "call tools, think apart, hold other than text, or follow such a turn"
    skipped.add(reason, row.where, chat.num_cut)
    if not any(turn.role == "assistant" for turn in chat.turns[1:]) and not chat.num_cut:
        skipped.add("have no answer to another turn", row.where)
    return records
