"""Shares one piece of work among processes and keeps a journal of the finished parts.

Each of n processes does every n-th part, and records the part in the process's own journal file.
So no process waits for another, and a killed process loses only the part in progress. The process
that finds entries for all parts writes the result and removes the journal files.
"""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import torch


@dataclass(frozen=True, slots=True)
class Share:
    """The share of the work that this process has.

    rank: number of this process, from 0.
    num_processes: number of processes that share the work.
    local_rank: number of this process among those on the same machine, from 0.
    """

    rank: int = 0
    num_processes: int = 1
    local_rank: int = 0

    @classmethod
    def from_environment(cls) -> "Share":
        """The share that accelerate launch or torchrun assigns; without them, all of the work."""
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK")
        rank, size, local = (int(os.environ.get(name) or 0) for name in names)
        return cls(rank, max(size, 1), local)

    def device(self, asked: str) -> str:
        """Return `asked`; but for "auto", "cuda:N" if there are GPUs and several processes."""
        if asked != "auto" or self.num_processes == 1 or not torch.cuda.is_available():
            return asked
        return f"cuda:{self.local_rank % torch.cuda.device_count()}"

    def wait(self) -> None:
        """Wait until every process has called this."""
        if self.num_processes > 1:
            torch.distributed.init_process_group("gloo")
            torch.distributed.barrier()
            torch.distributed.destroy_process_group()


class Journal:
    """The numbered entries of one piece of work, in one file per process.

    out: path of the result; the journal files lie beside it.
    work: digest of all that the entries depend on; a journal with another digest is not read.
    rank: number of this process, from 0.
    """

    def __init__(self, out: Path, work: str, rank: int) -> None:
        self._out = out
        self._stem = f".{out.name}.{work}"
        self._own = out.with_name(f"{self._stem}.part-{rank}")

    @classmethod
    def of(cls, out: Path, work: object, rank: int) -> "Journal":
        """Make a journal. work: JSON data of all that the entries depend on, to make a digest."""
        return cls(out, hashlib.sha256(json.dumps(work).encode()).hexdigest()[:12], rank)

    def __enter__(self) -> Callable[[int, Any], None]:
        """Return write(number, entry), which adds an entry (JSON data) to this process's file."""
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
        """{number: entry} of all processes, without lines that a killed process left incomplete."""
        results: dict[int, Any] = {}
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
                results[number] = entry
        return results

    def clear(self) -> None:
        """Remove the journal files of every process."""
        for part in self.parts():
            part.unlink(missing_ok=True)

    def parts(self) -> list[Path]:
        """Paths of the existing journal files, one per process."""
        names = sorted(os.listdir(self._out.absolute().parent))
        return [
            self._out.with_name(name) for name in names if name.startswith(f"{self._stem}.part-")
        ]
