"""`generate`: decode one prompt, printing the text as it becomes final, or a file of prompts."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from sbd_core.cli import decoding_flags
from sbd_core.config import DecodeConfig, require_integer
from sbd_core.cost.forward_cost import total_cost
from sbd_core.errors import ArgumentError
from sbd_core.package.files import require_writable, write_text

if TYPE_CHECKING:
    from sbd_core.events import StepEvent
    from sbd_core.models.protocol import SetBlockModel
    from sbd_core.trace import Trace

HELP = "decode one prompt, or a file of prompts"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `generate`."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "prompt", metavar="PROMPT", nargs="?", help="the prompt; - reads standard input"
    )
    which.add_argument(
        "--prompts",
        type=Path,
        metavar="FILE",
        help='JSON lines with a "prompt" each; under accelerate launch processes share them',
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="with --prompts: the lines with their answers"
    )
    parser.add_argument("--batch-size", type=int, help="with --prompts: decoded together (32)")
    decoding_flags.add_arguments(parser)
    parser.add_argument("--raw", action="store_true", help="do not wrap in the chat template")
    parser.add_argument(
        "--pin",
        action="append",
        default=[],
        metavar="OFFSET=TOKEN_ID",
        help="a given token of the answer, decoded around; may be repeated (sbd)",
    )
    parser.add_argument("--trace", type=Path, metavar="FILE", help="write the trace as JSON")


def run(arguments: argparse.Namespace) -> None:
    """Decode and print. Raises our errors."""
    config = decoding_flags.decode_config(
        arguments, pinned=decoding_flags.pins(arguments.pin), is_raw_prompt=arguments.raw
    )
    if arguments.prompts is not None:
        _answer_file(arguments, config)
        return
    _refuse_given(arguments, ("out", "batch_size"), "needs --prompts")
    prompt = sys.stdin.read() if arguments.prompt == "-" else arguments.prompt
    if not prompt.strip():
        raise ArgumentError("prompt", "must not be empty", prompt)
    if arguments.trace is not None:
        require_writable("trace", arguments.trace)
    # Imported here so that --help and bad flags answer at once.
    from sbd_core.decoding.api import make_trace, stream
    from sbd_core.models.loading import load
    from sbd_core.models.model_config import untrained_note
    from sbd_core.models.threads import choose_threads

    model = load(
        arguments.model, device=arguments.device, dtype=arguments.dtype, native=arguments.native
    )
    choose_threads(model.num_parameters)
    events = stream(model, prompt, config)
    note = untrained_note(model.model.config, model.name)
    if note is not None and config.strategy != "ntp":
        print(f"note: {note}", file=sys.stderr)
    shown = events if arguments.json else _print_text(model, events)
    trace = make_trace(model, prompt, config, shown)
    if arguments.trace is not None:
        write_text(arguments.trace, trace.to_json())
    result = {
        "text": trace.text,
        "token_ids": list(trace.token_ids),
        "num_tokens": trace.num_tokens,
        "num_forwards": trace.num_forwards,
        "seconds": round(trace.seconds, 6),
        **_totals(trace),
    }
    if arguments.json:
        print(json.dumps(result))
        return
    print(
        f"\n[{trace.num_tokens} tokens in {trace.num_forwards} forward passes, "
        f"{trace.tokens_per_forward:.2f} tokens a forward pass, {trace.seconds:.3f} s]",
        file=sys.stderr,
    )


def _totals(trace: "Trace") -> dict[str, int | None]:
    """Rows, floating-point operations and bytes read of all forward passes; None where unknown."""
    costs = trace.costs
    if costs is None:
        return {"rows": None, "flops": None, "bytes_read": None}
    whole = total_cost(costs)
    return {"rows": whole.rows, "flops": whole.flops, "bytes_read": whole.bytes_read}


def _answer_file(arguments: argparse.Namespace, config: DecodeConfig) -> None:
    """Answer a file of prompts, this process's share of it. Raises our errors."""
    _refuse_given(arguments, ("trace",), "must come with one prompt")
    if arguments.out is None:
        raise ArgumentError("out", "must be given with --prompts", None)
    batch_size = 32 if arguments.batch_size is None else arguments.batch_size
    require_integer("batch_size", batch_size, 1)
    require_writable("out", arguments.out)
    from sbd_core.hf.prompt_files import Share, answer_prompts, read_prompts
    from sbd_core.models.loading import load
    from sbd_core.models.threads import choose_threads

    prompts, share = read_prompts(arguments.prompts), Share.of_environment()
    model = load(
        arguments.model,
        device=share.device(arguments.device),
        dtype=arguments.dtype,
        native=arguments.native,
    )
    choose_threads(model.num_parameters)
    done = answer_prompts(
        model,
        prompts,
        config,
        arguments.out,
        batch_size=batch_size,
        share=share,
        report=_report if sys.stderr.isatty() else lambda done, of: None,
    )
    if done is None:
        return
    if arguments.json:
        print(json.dumps({"out": str(arguments.out), **asdict(done)}))
        return
    print(
        f"{done.num_prompts} answers in {arguments.out}: {done.num_tokens} tokens in "
        f"{done.num_forwards} forward passes",
        file=sys.stderr,
    )


def _report(done: int, of: int) -> None:
    print(f"\r{done} of {of} prompts", end="\n" if done == of else "", file=sys.stderr, flush=True)


def _refuse_given(arguments: argparse.Namespace, names: tuple[str, ...], rule: str) -> None:
    for name in names:
        if getattr(arguments, name) is not None:
            raise ArgumentError(name, rule, str(getattr(arguments, name)))


def _print_text(model: "SetBlockModel", events: Iterable["StepEvent"]) -> Iterator["StepEvent"]:
    """Pass the events on, printing what they add to the text."""
    token_ids: list[int] = []
    printed = ""
    for event in events:
        token_ids.extend(event.committed)
        # A character split over tokens shows as U+FFFD until its last byte is there.
        text = model.decode(token_ids).rstrip("\ufffd")
        if text.startswith(printed):
            print(text[len(printed) :], end="", flush=True)
            printed = text
        yield event
