"""Texts from outside the corpus: files and Hugging Face datasets. Knows no tokenizer.

A source is "file:PATH" or "hf:NAME[:SPLIT]" (split train unless named). A record is a prompt and
an answer; messages, each with a role and its content, of which every turn of the assistant is
learnt as the answer to all before it; or a text alone, to be written from nothing.
- A file that ends in .jsonl holds one JSON object a line, with fields prompt and answer, or
  messages, or text.
- Any other file is UTF-8 text; every paragraph (parted by empty lines) is a text.
- Of a dataset the first MAX_RECORDS records are read, with the same fields. `datasets` must be
  installed; without a network what it has cached, or a folder as NAME, still works.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from sbd_core.errors import MAX_SHOWN_PATH, ArgumentError, TrainingError, shown, shown_name
from sbd_core.json_node import json_of
from sbd_core.models.chat import Message
from sbd_core.tasks import Example, task

MAX_RECORDS = 50_000
SOURCE_RULE = "must be a list of sources, each file:PATH or hf:NAME[:SPLIT]"
NEEDED = "needs the fields prompt and answer, or messages, or text"
Piece = TypeVar("Piece")


@dataclass(frozen=True, slots=True)
class Record:
    """What the assistant is to answer after messages; without any, a text alone.

    where: the source and its line, for errors.
    """

    messages: tuple[Message, ...]
    answer: str
    where: str

    @property
    def prompt(self) -> str:
        """All that is said before the answer."""
        return "\n".join(content for _, content in self.messages)


def require_sources(data: object) -> None:
    """ArgumentError unless `data` is a list of sources by their form; nothing is read."""
    if isinstance(data, str) or not isinstance(data, Sequence):
        raise ArgumentError("data", SOURCE_RULE, data)
    for source in data:
        if not isinstance(source, str) or not re.fullmatch(
            r"file:.+|hf:[^:\s]+(:[^:\s]+)?", source, re.DOTALL
        ):
            raise ArgumentError("data", SOURCE_RULE, source)


def mixed(
    seed: int, tasks: Mapping[str, float], sources: Sequence[Sequence[Piece]]
) -> Iterator[Example | Piece]:
    """Without end: each item of a task, drawn by its weight, or of a source, at weight 1.

    No source is empty.
    """
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


def read_source(source: str) -> list[Record]:
    """All records of a source, at least one. Raises TrainingError naming file and line."""
    kind, _, name = source.partition(":")
    where = f"data {shown_name(source, MAX_SHOWN_PATH)}"
    if kind == "hf":
        found = _records(where, _dataset(where, name), "record")
    else:
        text = _read_text(where, Path(name))
        if Path(name).suffix.lower() == ".jsonl":
            found = _records(where, _json_lines(where, text), "line")
        else:
            paragraphs = re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n"))
            found = [Record((), part.strip(), where) for part in paragraphs if part.strip()]
    if not found:
        raise TrainingError(f"{where}: is empty")
    return found


def _read_text(where: str, path: Path) -> str:
    try:
        data = path.read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TrainingError(f"{where}: line {line} is not UTF-8 text") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TrainingError(f"{where}: cannot be read: {reason}") from error


def _json_lines(where: str, text: str) -> Iterator[tuple[int, object]]:
    # Not splitlines(): JSON text may hold the other line ends that Unicode has.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json_of(line)
            except ValueError as error:
                raise TrainingError(f"{where}: line {number} is not JSON: {shown(line)}") from error


def _dataset(where: str, name: str) -> Iterator[tuple[int, object]]:
    try:
        import httpx
        from datasets import load_dataset
        from datasets.exceptions import DatasetsError
    except ImportError as error:
        raise TrainingError(
            f"{where}: needs the package datasets; install it with: pip install datasets"
        ) from error
    folder, _, split = name.partition(":")
    try:
        records = load_dataset(folder, split=split or "train", streaming=True)
        yield from enumerate(islice(records, MAX_RECORDS), start=1)
    except (OSError, ValueError, RuntimeError, KeyError, DatasetsError, httpx.HTTPError) as error:
        reason = " ".join(str(error).split())[:200]
        raise TrainingError(f"{where}: cannot be loaded: {reason}") from error


def _records(where: str, records: Iterable[tuple[int, object]], unit: str) -> list[Record]:
    return [
        turn for number, record in records for turn in _turns(f"{where}: {unit} {number}", record)
    ]


def _turns(where: str, record: Any) -> list[Record]:
    """What one record teaches. Raises TrainingError."""
    fields = record if isinstance(record, Mapping) else {}
    if "messages" in fields:
        return _answered(where, fields["messages"])
    if "prompt" in fields and "answer" in fields:
        prompt = _text(where, "prompt", fields["prompt"])
        answer = _text(where, "answer", fields["answer"], may_be_empty=False)
        return [Record((("user", prompt),), answer, where)]
    if "text" in fields:
        return [Record((), _text(where, "text", fields["text"], may_be_empty=False), where)]
    raise TrainingError(f"{where} {NEEDED}; got {shown(record)}")


def _answered(where: str, messages: Any) -> list[Record]:
    """Every turn of the assistant, with all before it."""
    if isinstance(messages, str) or not isinstance(messages, Sequence):
        raise TrainingError(f"{where}: field messages must be a list; got {shown(messages)}")
    said: list[Message] = []
    found = []
    for number, message in enumerate(messages, start=1):
        fields = message if isinstance(message, Mapping) else {}
        for name in ("role", "content"):
            if name not in fields:
                raise TrainingError(
                    f"{where}: message {number} needs the fields role and content; "
                    f"got {shown(message)}"
                )
        role = _text(where, f"role of message {number}", fields["role"], may_be_empty=False)
        content = _text(where, f"content of message {number}", fields["content"])
        if role == "assistant" and said and content.strip():
            found.append(Record(tuple(said), content, where))
        said.append((role, content))
    if not found:
        raise TrainingError(f"{where}: no message is an answer of the assistant to another")
    return found


def _text(where: str, name: str, value: object, *, may_be_empty: bool = True) -> str:
    if not isinstance(value, str) or not _is_encodable(value):
        raise TrainingError(f"{where}: field {name} must be text; got {shown(value)}")
    if not may_be_empty and not value.strip():
        raise TrainingError(f"{where}: field {name} must not be empty")
    return value


def _is_encodable(text: str) -> bool:
    """False for halves of surrogate pairs, which JSON can hold and UTF-8 cannot."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)
