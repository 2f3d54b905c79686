"""Shares one piece of work among processes, which keep what they have done in files of JSON Lines.

Each of n processes does every n-th part and adds a line for it to a file of its own. So a killed
run loses only the parts in progress, and goes on with any number of processes.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sbd_core.errors import ArgumentError

SECONDS_BETWEEN_LOOKS = 1.0


@dataclass(frozen=True, slots=True)
class Share:
    """The share of the work that this process has: items[rank::num_processes].

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

    def device(self, wanted: str) -> str:
        """Return `wanted`; but for "auto", "cuda:N" if there are GPUs and several processes."""
        if wanted != "auto" or self.num_processes == 1 or not torch.cuda.is_available():
            return wanted
        return f"cuda:{self.local_rank % torch.cuda.device_count()}"


class Journal:
    """Rows of one piece of work, each a JSON object, in one file per process.

    path: file of process 0, and of a process alone; that of process N is called STEM.N.SUFFIX.
    models, settings, prompts: all that the rows depend on, told in the first line of each file:
        models with `name` and `weights`, settings by their repr(), prompts as JSON data.
    """

    def __init__(
        self, path: Path, models: Sequence[Any], settings: object, prompts: object, rank: int = 0
    ) -> None:
        self._path = path
        weights = [[each.name, dict(each.weights), getattr(each, "runs_on", "")] for each in models]
        digest = hashlib.sha256(json.dumps(prompts).encode()).hexdigest()
        self._work = {"weights": weights, "settings": repr(settings), "prompts": digest}
        self._own = path.with_suffix(f".{rank}{path.suffix}") if rank else path
        self._is_begun = False

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Append rows to this process's file."""
        with self._own.open("ab") as file:
            if not self._is_begun:
                self._is_begun = True
                size = self._own.read_bytes().rfind(b"\n") + 1
                file.truncate(size)  # a kill may have cut the last line
                rows = [*([] if size else [self._work]), *rows]
            file.write("".join(json.dumps(row) + "\n" for row in rows).encode())

    def rows(self) -> list[dict[str, Any]]:
        """The rows of all processes, without lines that a killed process left incomplete.

        Raises ArgumentError if a file's work is another.
        """
        found: list[dict[str, Any]] = []
        for file in self.files():
            try:
                whole = file.read_text("utf-8").split("\n")[:-1]
                work, *rows = [json.loads(line) for line in whole] or [self._work]
            except FileNotFoundError:
                continue  # another process has finished the work and cleared up
            except ValueError as error:
                rule = "must have no other program's file at the path of its answers"
                raise ArgumentError("out", rule, str(file)) from error
            known = work if isinstance(work, dict) else {}
            others = [key for key in self._work if known.get(key) != self._work[key]]
            if others:
                rule = f"must not lie beside answers of other {others[0]}: remove them, or rename"
                raise ArgumentError("out", rule, str(file))
            found += rows
        return found

    def wait(self, is_whole: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        """Wait until other processes have added what is missing; returns the rows of all."""
        while not is_whole(rows := self.rows()):
            time.sleep(SECONDS_BETWEEN_LOOKS)
        return rows

    def clear(self) -> None:
        """Remove the files of every process."""
        for file in self.files():
            file.unlink(missing_ok=True)

    def files(self) -> list[Path]:
        """Paths of the existing files, one per process."""
        stem, suffix = re.escape(self._path.stem), re.escape(self._path.suffix)
        name = re.compile(rf"{stem}(\.\d+)?{suffix}")
        folder = self._path.absolute().parent
        return [self._path.with_name(n) for n in sorted(os.listdir(folder)) if name.fullmatch(n)]
