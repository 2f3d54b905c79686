"""The command `generate`: decodes one prompt and prints the text, or answers a file of prompts."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sbd_core.cli import Command, decoding_flags
from sbd_core.config import DecodeConfig
from sbd_core.cost import total_cost
from sbd_core.errors import ArgumentError, require_integer, shown_name
from sbd_core.files import require_writable, write_text

if TYPE_CHECKING:
    from sbd_core.decoding.api import Prompt
    from sbd_core.events import StepEvent
    from sbd_core.models.protocol import SetBlockModel


def _generate_flags(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("prompt", metavar="PROMPT", nargs="?", help="or - for standard input")
    which.add_argument(
        "--prompts",
        type=Path,
        metavar="FILE",
        help="file of records with a prompt or chat; under accelerate launch processes share them",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="with --prompts: the same records with answers"
    )
    parser.add_argument(
        "--batch-size", type=int, help="with --prompts: number decoded together (32)"
    )
    decoding_flags.add_arguments(parser)
    parser.add_argument("--system", metavar="TEXT", help="system message before the prompt")
    parser.add_argument("--raw", action="store_true", help="do not wrap in the chat template")
    parser.add_argument(
        "--pin",
        action="append",
        default=[],
        metavar="OFFSET=TOKEN_ID",
        help="fix a token of the answer and decode around it; may be repeated (sbd)",
    )
    parser.add_argument("--trace", type=Path, metavar="FILE", help="write the trace as JSON")


@partial(Command, add_flags=_generate_flags)
def generate(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """Decode one prompt, or a file of prompts."""
    config = decoding_flags.decode_config(
        arguments, pinned=decoding_flags.pins(arguments.pin), is_raw_prompt=arguments.raw
    )
    if arguments.prompts is not None:
        decoding_flags.refuse_given(arguments, ("trace", "system"), "must come with one prompt")
        return _answer_file(arguments, config)
    decoding_flags.refuse_given(arguments, ("out", "batch_size"), "needs --prompts")
    prompt = arguments.prompt
    if prompt == "-":
        try:
            prompt = sys.stdin.read()
        except UnicodeDecodeError as error:
            rule = f"must be text in {error.encoding} on standard input"
            wrong = error.object[error.start : error.start + 20]
            raise ArgumentError("prompt", rule, wrong) from error
    if not prompt.strip():
        raise ArgumentError("prompt", "must not be empty", prompt)
    if arguments.trace is not None:
        require_writable("trace", arguments.trace)
    asked: Prompt = prompt
    if arguments.system is not None:
        if arguments.raw:
            raise ArgumentError("system", "must come without --raw", arguments.system)
        turns = ("system", arguments.system), ("user", prompt)
        asked = [{"role": role, "content": content} for role, content in turns]
    # Imported here so that --help and bad flags answer at once.
    from sbd_core.decoding.api import stream
    from sbd_core.models.model_folder import untrained_note

    model = decoding_flags.load_model(arguments)
    events = stream(model, asked, config)
    note = untrained_note(model.model.config, model.name)
    if note is not None and events.config.strategy != "ntp":
        print(f"note: {note}", file=sys.stderr)
    for text in _new_texts(model, events):
        if not arguments.json:
            print(text, end="", flush=True)
    trace = events.trace()
    if arguments.trace is not None:
        write_text(arguments.trace, trace.to_json())
    if arguments.json:
        cost = None if trace.costs is None else total_cost(trace.costs)  # unknown shape
        return {
            "text": trace.text,
            "token_ids": list(trace.token_ids),
            "num_tokens": trace.num_tokens,
            "num_forwards": trace.num_forwards,
            "seconds": round(trace.seconds, 6),
            **{name: getattr(cost, name, None) for name in ("rows", "flops", "bytes_read")},
        }
    exactness = trace.versions.get("exactness")
    where = f"in {model.runs_on}" + (f", next to ntp {exactness}" if exactness else "")
    print(
        f"\n[{trace.num_tokens} tokens in {trace.num_forwards} forward passes, "
        f"{trace.tokens_per_forward:.2f} tokens a forward pass, {trace.seconds:.3f} s, {where}]",
        file=sys.stderr,
    )
    return None


def _new_texts(model: "SetBlockModel", events: Iterable["StepEvent"]) -> Iterator[str]:
    """Yield the text that each event adds, without characters that still lack a byte.

    Text that the next token may still change is held back until a later event. If text that was
    already yielded changes, the whole text is yielded at the end.
    """
    token_ids: list[int] = []
    given = ""
    for event in events:
        token_ids.extend(event.committed)
        text = model.decode(token_ids).rstrip("\ufffd")
        is_final = model.decode(token_ids + token_ids[-1:]).startswith(text)
        if is_final and text.startswith(given):
            yield text.removeprefix(given)
            given = text
    yield model.decode(token_ids).removeprefix(given)


def _answer_file(arguments: argparse.Namespace, config: DecodeConfig) -> dict[str, Any] | None:
    if arguments.out is None:
        raise ArgumentError("out", "must be given with --prompts", None)
    batch_size = 32 if arguments.batch_size is None else arguments.batch_size
    require_integer("batch_size", batch_size, 1)
    require_writable("out", arguments.out)
    from sbd_core.chats import unread_fields
    from sbd_core.decoding.prompt_files import answer_prompts, read_prompts
    from sbd_core.shared_work import Share

    def report(done: int, of: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == of else ""
            print(f"\r{done} of {of} prompts", end=end, file=sys.stderr, flush=True)

    prompts, share = read_prompts("prompts", arguments.prompts), Share.from_environment()
    unread = sorted(set[str]().union(*map(unread_fields, prompts)))
    if unread and not share.rank:
        names = ", ".join(map(shown_name, unread))
        print(f"note: fields that are no part of a prompt: {names}", file=sys.stderr)
    done = answer_prompts(
        decoding_flags.load_model(arguments, device=share.device(arguments.device)),
        prompts,
        config,
        arguments.out,
        batch_size=batch_size,
        share=share,
        report=report,
    )
    if done is None:
        return None
    if arguments.json:
        return {"out": str(arguments.out), **asdict(done)}
    print(
        f"{done.num_prompts} answers in {arguments.out}: {done.num_tokens} tokens in "
        f"{done.num_forwards} forward passes, {done.num_tokens / done.num_forwards:.2f} tokens a "
        "forward pass",
        file=sys.stderr,
    )
    return None
