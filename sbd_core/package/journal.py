"""What several processes have finished of one piece of work, in files beside its result.

Each process adds lines to a file of its own, so that nobody waits for anybody and a kill loses only
what was under way. Whoever finds everything there writes the result and clears the files away.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO


class Journal:
    """The entries of one piece of work, by number.

    out: the file of the result. work: a short digest of all that the entries depend on, so that
    those of another run are not taken for this one's. rank: of this process.
    """

    def __init__(self, out: Path, work: str, rank: int) -> None:
        self._out = out
        self._stem = f".{out.name}.{work}"
        self._own = out.with_name(f"{self._stem}.part-{rank}")

    def __enter__(self) -> Callable[[int, Any], None]:
        """Gives what writes an entry of JSON, on its way to the disk when it returns."""
        self._file: TextIO | None = None
        return self._write

    def _write(self, number: int, entry: Any) -> None:
        if self._file is None:
            self._file = self._own.open("a", encoding="utf-8")
            if self._file.tell():
                self._file.write("\n")  # a kill may have cut the last line; an empty one is fine
        self._file.write(json.dumps([number, entry]) + "\n")
        self._file.flush()

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def entries(self) -> dict[int, Any]:
        """Those of every process; what was cut off by a kill is left out."""
        found: dict[int, Any] = {}
        for part in self.parts():
            try:
                text = part.read_text(encoding="utf-8", errors="replace")
            except FileNotFoundError:
                continue  # another process has written the result and cleared up
            for line in text.splitlines():
                try:
                    number, entry = json.loads(line)
                except ValueError:
                    continue
                found[number] = entry
        return found

    def clear(self) -> None:
        """Remove the files of every process."""
        for part in self.parts():
            part.unlink(missing_ok=True)

    def parts(self) -> list[Path]:
        """The files that there are."""
        names = sorted(os.listdir(self._out.absolute().parent))
        return [
            self._out.with_name(name) for name in names if name.startswith(f"{self._stem}.part-")
        ]
