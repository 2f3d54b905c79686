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
from sbd_core.package.journal import Journal


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
    journal = Journal(out, _fingerprint(model, prompts, config), share.rank)
    mine = list(range(share.rank, len(prompts), share.num_processes))
    done = journal.entries()
    missing = [index for index in mine if index not in done]
    report(len(mine) - len(missing), len(mine))
    with journal as write:
        chosen = [prompts[index]["prompt"] for index in missing]
        answers = _finished(model, chosen, config, batch_size)
        for count, (place, answer) in enumerate(answers, start=1):
            write(missing[place], {**prompts[missing[place]], **answer})
            report(len(mine) - len(missing) + count, len(mine))
    return _written(out, journal, len(prompts))


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


def _written(out: Path, journal: Journal, count: int) -> Summary | None:
    answers = journal.entries()
    if len(answers) < count:
        return None
    rows = [answers[index] for index in range(count)]
    write_text(out, "".join(json.dumps(row) + "\n" for row in rows))
    journal.clear()
    sums = (sum(row[name] for row in rows) for name in ("num_tokens", "num_forwards"))
    return Summary(count, *sums)


def _fingerprint(
    model: SetBlockModel, prompts: Sequence[dict[str, Any]], config: DecodeConfig
) -> str:
    """What answers depend on: those of another run are not taken for this one's."""
    asked = json.dumps([model.name, model.num_parameters, repr(config), list(prompts)])
    return hashlib.sha256(asked.encode()).hexdigest()[:12]
