"""Reads the rows of data files that other programs write.

A file may hold JSON (one array, or one value after another as in JSON Lines), or CSV or TSV with a
header. All of these may be compressed by gzip. Parquet is read if pyarrow is installed.
"""

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sbd_core.errors import MAX_SHOWN_PATH, ArgumentError, one_line, shown_name
from sbd_core.files import read_file
from sbd_core.json_node import finite_or_none, json_fault

SHAPES = (
    "messages (role, content), conversations (from, value), instruction (input) and output, "
    "prompt and answer, or text"
)
VALUE = re.compile(r"[^ \t\r\n]")
"""The beginning of a JSON value, behind space."""


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a file. argument: the caller's name for the file. where: file and place."""

    fields: Mapping[str, Any]
    where: str
    argument: str

    def wrong(self, rule: str, value: object) -> ArgumentError:
        """Make the ArgumentError for a record that breaks `rule`."""
        return ArgumentError(self.argument, f"{self.where} {rule}", value)

    def given(self, *names: str) -> Any:
        """The value of the first field in `names` that exists and is not null; else None."""
        return next(
            (self.fields[name] for name in names if self.fields.get(name) is not None), None
        )

    def text(self, name: str, value: object) -> str:
        """Return `value` of field `name`. Raises ArgumentError if `value` is not Unicode text."""
        if not isinstance(value, str) or any("\ud800" <= sign <= "\udfff" for sign in value):
            raise self.wrong(f"must have text as {name}", value)
        return value


def read_rows(argument: str, path: Path) -> list[Row]:
    """Read all records of a file. Raises ArgumentError naming `argument` and the record's place."""
    name, kind = shown_name(str(path), MAX_SHOWN_PATH), suffix_of(path)
    placed: Iterable[tuple[str, object]]
    if kind == ".parquet":
        placed = _parquet(argument, name, path)
    elif kind in (".csv", ".tsv"):
        placed = _table(argument, name, read_text(argument, path), "\t" if kind == ".tsv" else ",")
    else:
        placed = _values(argument, name, read_text(argument, path))
    return [row_of(argument, f"{name}: {place}", value) for place, value in placed]


def row_of(argument: str, where: str, value: object) -> Row:
    """Make a record of `value`. Raises ArgumentError unless `value` is a mapping of fields."""
    if not isinstance(value, Mapping):
        raise ArgumentError(argument, f"{where} needs {SHAPES}", value)
    return Row(value, where, argument)


def suffix_of(path: Path) -> str:
    """The file's extension in lower case, ignoring .gz: ".jsonl" for a.JSONL.gz."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


def read_text(argument: str, path: Path) -> str:
    """Read a UTF-8 file, which may be compressed by gzip. Raises ArgumentError naming the line."""
    name = shown_name(str(path), MAX_SHOWN_PATH)
    try:
        data = read_file(path)
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ArgumentError(
            argument, f"{name}: line {line} must be UTF-8 text", data[:20]
        ) from error
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArgumentError(
            argument, f"must be a file that can be read ({reason})", name
        ) from error


def _values(argument: str, name: str, text: str) -> Iterator[tuple[str, object]]:
    """Yield (place, value) for the items of a JSON array, or for one JSON value after another."""
    # Python writes NaN where a table has no value: read as null, as are numbers beyond all floats.
    decoder = json.JSONDecoder(parse_constant=lambda _: None, parse_float=finite_or_none)
    place, line, is_array = 0, 1, text.lstrip().startswith("[")
    try:
        if is_array:
            for number, item in enumerate(decoder.decode(text), start=1):
                yield f"record {number}", item
            return
        while found := VALUE.search(text, place):
            line, place = line + text.count("\n", place, found.start()), found.start()
            value, end = decoder.raw_decode(text, place)
            yield f"line {line}", value
            line, place = line + text.count("\n", place, end), end
    except (ValueError, RecursionError) as error:
        if is_array:  # read as one value
            fault = getattr(error, "pos", 0)
            line, place = text.count("\n", 0, fault) + 1, text.rfind("\n", 0, fault) + 1
        rule = f"{name}: line {line} must be JSON ({json_fault(error)})"
        raise ArgumentError(argument, rule, text[place : place + 200].split("\n")[0]) from error


def _table(argument: str, name: str, text: str, delimiter: str) -> Iterator[tuple[str, object]]:
    csv.field_size_limit(2**31 - 1)  # Python's own limit of 131,072 is not one of CSV
    # strict: else a quote that is not closed would swallow all that follows.
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    line = 1
    try:
        for cells in rows:
            if not header:
                header = [cell.strip() for cell in cells]
            elif cells and len(cells) != len(header):
                rule = f"{name}: line {line} must have the {len(header)} cells of the header"
                raise ArgumentError(argument, rule, cells)
            elif cells:
                yield f"line {line}", dict(zip(header, cells, strict=True))
            line = rows.line_num + 1
    except csv.Error as error:
        raise ArgumentError(argument, f"{name}: line {line} must be CSV ({error})", name) from error


def _parquet(argument: str, name: str, path: Path) -> Iterable[tuple[str, object]]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import read_table
    except ImportError as error:
        rule = "must be another kind of file, or pyarrow be installed: pip install pyarrow"
        raise ArgumentError(argument, rule, name) from error
    try:
        # Through JSON, so that times and the like become text: rows are written out again.
        text = json.dumps(read_table(path).to_pylist(), default=str)
        rows = json.loads(text, parse_constant=lambda _: None)
    except (OSError, ArrowException) as error:
        raise ArgumentError(
            argument, f"must be a Parquet file ({one_line(error)})", name
        ) from error
    return ((f"row {number}", row) for number, row in enumerate(rows, start=1))
