"""Answers a file of prompts. Several processes can share the work, and a killed run can resume.

Each of the n processes that `accelerate launch` starts answers every n-th prompt and keeps its
answers beside the file to write. The process that finds all answers there writes the file. No
process waits for another, so none can time out.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sbd_core.chats import prompt_of
from sbd_core.config import DecodeConfig
from sbd_core.data_files import read_rows
from sbd_core.decoding.api import make_trace, prompt_token_ids, resolve_defaults, stream_batch
from sbd_core.errors import ArgumentError
from sbd_core.events import StepEvent
from sbd_core.files import require_writable, write_text
from sbd_core.models.protocol import SetBlockModel
from sbd_core.shared_work import Journal, Share


def read_prompts(argument: str, path: Path) -> list[dict[str, Any]]:
    """Read a file's records. Under "prompt", each record gets its prompt as text or messages.

    Raises ArgumentError naming a bad line, and for a file without records.
    """
    prompts = [{**row.fields, "prompt": prompt_of(row)} for row in read_rows(argument, path)]
    if not prompts:
        raise ArgumentError(argument, "must hold at least one record", str(path))
    return prompts


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over all answers, whichever process made them."""

    num_prompts: int
    num_tokens: int
    num_forwards: int


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
    """Answer this process's share of the prompts, then write `out` if no answer is missing.

    prompts: records from read_prompts().
    out: JSON Lines file to write: each record in the order of the prompts, with `text`,
        `token_ids`, `num_tokens`, `num_forwards` and `finish` added.
    report: called with (number of this process's finished answers, number of all its answers).
    Returns None if other processes have yet to answer. Raises ArgumentError.
    """
    require_writable("out", out)
    config = resolve_defaults(model, config)
    read = [prompt_token_ids(model, row["prompt"], config) for row in prompts]
    path = out.with_name(f".{out.name}.part")
    journal = Journal(path, [model], config, list(prompts), share.rank)
    done = {row["number"] for row in journal.rows()}
    mine = range(len(prompts))[share.rank :: share.num_processes]
    missing = [number for number in mine if number not in done]
    num_found = len(mine) - len(missing)
    report(num_found, len(mine))
    answers = _finished(model, [read[number] for number in missing], config, batch_size)
    for count, (index, answer) in enumerate(answers, start=num_found + 1):
        journal.add([{"number": missing[index], "answer": answer}])
        report(count, len(mine))
    answered = {row["number"]: row["answer"] for row in journal.rows()}
    if len(answered) < len(prompts):
        return None
    rows = [{**prompt, **answered[number]} for number, prompt in enumerate(prompts)]
    write_text(out, "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows))
    journal.clear()
    sums = (sum(row[name] for row in rows) for name in ("num_tokens", "num_forwards"))
    return Summary(len(prompts), *sums)


def _finished(
    model: SetBlockModel, read: Sequence[Sequence[int]], config: DecodeConfig, batch_size: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (index, answer) once a prompt's answer is complete. read: token ids of each prompt."""
    events: list[list[StepEvent]] = [[] for _ in read]
    lengths = [0] * len(read)
    for index, event in stream_batch(model, read, config, batch_size=batch_size):
        events[index].append(event)
        lengths[index] += len(event.committed)
        has_ended = bool(event.committed) and event.committed[-1] in model.end_token_ids
        if has_ended or lengths[index] >= config.max_new_tokens:
            trace = make_trace(model, read[index], read[index], config, events[index])
            events[index] = []
            names = ("text", "token_ids", "num_tokens", "num_forwards", "finish")
            yield index, {name: getattr(trace, name) for name in names}
