"""Texts from outside the corpus: files and Hugging Face datasets. Knows no tokenizer.

A source is "file:PATH" or "hf:NAME[:SPLIT]" (split train unless named). A record is a prompt and
an answer, or a text alone: then the prompt is empty, and the model learns to write the text
from nothing, as after <user><assistant>.
- A file that ends in .jsonl holds one JSON object a line, with fields prompt and answer, or text.
- Any other file is UTF-8 text; every paragraph (parted by empty lines) is a text.
- Of a dataset the first MAX_RECORDS records are read, with the same fields. `datasets` must be
  installed; without a network what it has cached, or a folder as NAME, still works.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from sbd_core.errors import MAX_SHOWN_PATH, ArgumentError, TrainingError, shown, shown_name
from sbd_core.tasks import Example, task
from sbd_core.tasks.drills import generate_kind

MAX_RECORDS = 50_000
SOURCE_RULE = "must be a list of sources, each file:PATH or hf:NAME[:SPLIT]"
Piece = TypeVar("Piece")


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
    seed: int, groups: Mapping[str, float], sources: Sequence[Sequence[Piece]]
) -> Iterator[tuple[str, Example | Piece]]:
    """Without end: each item of a task or a kind of drill ("drill:add"), drawn by its weight, or
    of a source, at weight 1, with the name of its group ("data" for a source).

    No source is empty.
    """
    random = Random(f"{seed}/train")
    names = [*groups, *("data" for _ in sources)]
    weights = [*groups.values(), *(1.0 for _ in sources)]
    indices = range(len(weights))
    while True:
        index = random.choices(indices, weights)[0]
        if index < len(groups):
            yield names[index], _generated(names[index], random)
        else:
            yield names[index], random.choice(sources[index - len(groups)])


def _generated(group: str, random: Random) -> Example:
    name, _, kind = group.partition(":")
    if kind:
        return generate_kind(random, "train", kind)
    return task(name).generate(random, "train")


def read_source(source: str) -> list[Example]:
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
            found = [_example("", part.strip()) for part in paragraphs if part.strip()]
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
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
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


def _records(where: str, records: Iterable[tuple[int, object]], unit: str) -> list[Example]:
    return [_record(f"{where}: {unit} {number}", record) for number, record in records]


def _record(where: str, record: Any) -> Example:
    fields = record if isinstance(record, Mapping) else {}
    if "prompt" in fields and "answer" in fields:
        told, learnt = "prompt", "answer"
    elif "text" in fields:
        told, learnt = "", "text"
    else:
        needed = "needs the fields prompt and answer, or text"
        raise TrainingError(f"{where} {needed}; got {shown(record)}")
    prompt, answer = (fields[told] if told else ""), fields[learnt]
    for name, value in ((told, prompt), (learnt, answer)):
        if not isinstance(value, str) or not _is_encodable(value):
            raise TrainingError(f"{where}: field {name} must be text; got {shown(value)}")
    if not answer.strip():
        raise TrainingError(f"{where}: field {learnt} must not be empty")
    return _example(prompt, answer)


def _is_encodable(text: str) -> bool:
    """False for halves of surrogate pairs, which JSON can hold and UTF-8 cannot."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def _example(prompt: str, answer: str) -> Example:
    return Example("data", prompt, answer, "")
