"""A file of prompts to a file of answers, shared over processes, taken up again after a kill.

Every process that `accelerate launch` starts takes each n-th prompt and keeps a journal of its own
beside the file of answers; whoever finds all answers in the journals writes the file. Nobody waits
for anybody, so nothing can time out.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import make_trace, prompt_token_ids, stream_batch
from sbd_core.errors import ArgumentError
from sbd_core.events import StepEvent
from sbd_core.models.protocol import SetBlockModel
from sbd_core.package.files import require_writable, write_text


@dataclass(frozen=True, slots=True)
class Share:
    """Which process of how many this one is, and its number on its machine."""

    rank: int = 0
    num_processes: int = 1
    local_rank: int = 0

    @classmethod
    def of_environment(cls) -> "Share":
        """As accelerate launch and torchrun say it; one process of one without them."""
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK")
        rank, size, local = (int(os.environ.get(name) or 0) for name in names)
        return cls(rank, max(size, 1), local)

    def device(self, asked: str) -> str:
        """The device of this process: with "auto" and several, a GPU each where there are GPUs."""
        if asked != "auto" or self.num_processes == 1 or not torch.cuda.is_available():
            return asked
        return f"cuda:{self.local_rank % torch.cuda.device_count()}"


@dataclass(frozen=True, slots=True)
class Summary:
    """Of all answers, whoever made them."""

    num_prompts: int
    num_tokens: int
    num_forwards: int


def read_prompts(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file, each with a `prompt`. Raises ArgumentError with the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ArgumentError("prompts", "must be a JSONL file of UTF-8 text", str(path)) from error
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        prompt = row.get("prompt") if isinstance(row, dict) else None
        if not isinstance(prompt, str) or not prompt.strip():
            rule = f'line {number} must be an object with a text "prompt"'
            raise ArgumentError("prompts", rule, line)
        found.append(row)
    if not found:
        raise ArgumentError("prompts", "must hold at least one line", str(path))
    return found


def answer_prompts(
    model: SetBlockModel,
    prompts: Sequence[dict[str, Any]],
    config: DecodeConfig,
    out: Path,
    *,
    batch_size: int,
    share: Share,
    report: Callable[[int, int], Any] = lambda done, of: None,
) -> Summary | None:
    """Answer this process's share, then write `out` if every answer is there.

    A line of `out` is the object of its prompt with `text`, `token_ids`, `num_tokens`,
    `num_forwards` and `finish`, in the order of the prompts. report: called with the answers of
    this share that are done, and how many it has. Gives None if other processes still work.
    Raises ArgumentError.
    """
    require_writable("out", out)
    for row in prompts:
        prompt_token_ids(model, row["prompt"], config)
    stem = f".{out.name}.{_fingerprint(model, prompts, config)}"
    mine = list(range(share.rank, len(prompts), share.num_processes))
    done = _answers(out, stem)
    missing = [index for index in mine if index not in done]
    report(len(mine) - len(missing), len(mine))
    with _Journal(out.with_name(f"{stem}.part-{share.rank}")) as write:
        chosen = [prompts[index]["prompt"] for index in missing]
        answers = _finished(model, chosen, config, batch_size)
        for count, (place, answer) in enumerate(answers, start=1):
            write(json.dumps([missing[place], {**prompts[missing[place]], **answer}]) + "\n")
            report(len(mine) - len(missing) + count, len(mine))
    return _written(out, stem, len(prompts))


def _finished(
    model: SetBlockModel, prompts: Sequence[str], config: DecodeConfig, batch_size: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(index, answer) of each prompt as soon as it is complete."""
    events: list[list[StepEvent]] = [[] for _ in prompts]
    lengths = [0] * len(prompts)
    for index, event in stream_batch(model, prompts, config, batch_size=batch_size):
        events[index].append(event)
        lengths[index] += len(event.committed)
        has_ended = bool(event.committed) and event.committed[-1] in model.end_token_ids
        if has_ended or lengths[index] >= config.max_new_tokens:
            trace = make_trace(model, prompts[index], config, events[index])
            events[index] = []
            yield (
                index,
                {
                    "text": trace.text,
                    "token_ids": list(trace.token_ids),
                    "num_tokens": trace.num_tokens,
                    "num_forwards": trace.num_forwards,
                    "finish": trace.finish,
                },
            )


class _Journal:
    """A file that lines are added to, each on the disk before the next."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Callable[[str], None]:
        self._file = self._path.open("a", encoding="utf-8")
        if self._file.tell():
            self._file.write("\n")  # a kill may have cut the last line; an empty one does no harm
        return self._write

    def _write(self, line: str) -> None:
        self._file.write(line)
        self._file.flush()

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _answers(out: Path, stem: str) -> dict[int, dict[str, Any]]:
    """{index: line} of every journal; what was cut off by a kill is left out."""
    found: dict[int, dict[str, Any]] = {}
    for part in _parts(out, stem):
        try:
            text = part.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            continue  # another process has written the answers and cleared up
        for line in text.splitlines():
            try:
                index, answer = json.loads(line)
            except ValueError:
                continue
            found[index] = answer
    return found


def _written(out: Path, stem: str, count: int) -> Summary | None:
    answers = _answers(out, stem)
    if len(answers) < count:
        return None
    rows = [answers[index] for index in range(count)]
    write_text(out, "".join(json.dumps(row) + "\n" for row in rows))
    for part in _parts(out, stem):
        part.unlink(missing_ok=True)
    sums = (sum(row[name] for row in rows) for name in ("num_tokens", "num_forwards"))
    return Summary(count, *sums)


def _parts(out: Path, stem: str) -> list[Path]:
    names = sorted(os.listdir(out.absolute().parent))
    return [out.with_name(name) for name in names if name.startswith(f"{stem}.part-")]


def _fingerprint(
    model: SetBlockModel, prompts: Sequence[dict[str, Any]], config: DecodeConfig
) -> str:
    """What answers depend on: those of another run are not taken for this one's."""
    asked = json.dumps([model.name, model.num_parameters, repr(config), list(prompts)])
    return hashlib.sha256(asked.encode()).hexdigest()[:12]
