"""`generate`: decode one prompt, printing the text as it becomes final, or a file of prompts."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sbd_core.cli import decoding_flags, prompt_file
from sbd_core.config import DecodeConfig
from sbd_core.cost.forward_cost import total_cost
from sbd_core.errors import ArgumentError
from sbd_core.package.files import require_writable, write_text

if TYPE_CHECKING:
    from sbd_core.events import StepEvent
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
        decoding_flags.refuse_given(arguments, ("trace",), "must come with one prompt")
        prompt_file.run(arguments, config)
        return
    decoding_flags.refuse_given(arguments, ("out", "batch_size"), "needs --prompts")
    prompt = sys.stdin.read() if arguments.prompt == "-" else arguments.prompt
    if not prompt.strip():
        raise ArgumentError("prompt", "must not be empty", prompt)
    if arguments.trace is not None:
        require_writable("trace", arguments.trace)
    trace, where = _decoded(arguments, prompt, config)
    if arguments.trace is not None:
        write_text(arguments.trace, trace.to_json())
    if arguments.json:
        print(json.dumps(_result(trace)))
        return
    print(
        f"\n[{trace.num_tokens} tokens in {trace.num_forwards} forward passes, "
        f"{trace.tokens_per_forward:.2f} tokens a forward pass, {trace.seconds:.3f} s, {where}]",
        file=sys.stderr,
    )


def _decoded(
    arguments: argparse.Namespace, prompt: str, config: DecodeConfig
) -> "tuple[Trace, str]":
    """Decode one prompt, and what made the forward passes.

    Without --json the text is printed as it becomes final.
    """
    # Imported here so that --help and bad flags answer at once.
    from sbd_core.decoding.api import make_trace, stream
    from sbd_core.decoding.readable import with_new_text
    from sbd_core.models.model_config import untrained_note

    model = decoding_flags.load_model(arguments)

    def printed() -> "Iterator[StepEvent]":
        for event, text in with_new_text(model, events):
            print(text, end="", flush=True)
            yield event

    events = stream(model, prompt, config)
    note = untrained_note(model.model.config, model.name)
    if note is not None and config.strategy != "ntp":
        print(f"note: {note}", file=sys.stderr)
    trace = make_trace(model, prompt, config, events if arguments.json else printed())
    return trace, "in C" if model.is_native else "in PyTorch"


def _result(trace: "Trace") -> dict[str, Any]:
    """What --json prints: rows, operations and bytes are null where the shape is not known."""
    cost = None if trace.costs is None else total_cost(trace.costs)
    return {
        "text": trace.text,
        "token_ids": list(trace.token_ids),
        "num_tokens": trace.num_tokens,
        "num_forwards": trace.num_forwards,
        "seconds": round(trace.seconds, 6),
        **{name: getattr(cost, name, None) for name in ("rows", "flops", "bytes_read")},
    }
