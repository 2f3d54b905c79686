"""`generate --prompts`: answer a file of prompts, this process's share of it."""

import argparse
import json
import sys
from dataclasses import asdict

from sbd_core.cli.decoding_flags import load_model
from sbd_core.config import DecodeConfig, require_integer
from sbd_core.errors import ArgumentError
from sbd_core.package.files import require_writable


def run(arguments: argparse.Namespace, config: DecodeConfig) -> None:
    """Answer and count. Raises our errors."""
    if arguments.out is None:
        raise ArgumentError("out", "must be given with --prompts", None)
    batch_size = 32 if arguments.batch_size is None else arguments.batch_size
    require_integer("batch_size", batch_size, 1)
    require_writable("out", arguments.out)
    from sbd_core.hf.prompt_files import Share, answer_prompts, read_prompts

    prompts, share = read_prompts(arguments.prompts), Share.of_environment()
    done = answer_prompts(
        load_model(arguments, share.device(arguments.device)),
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
        f"{done.num_forwards} forward passes, {done.num_tokens / done.num_forwards:.2f} tokens a "
        "forward pass",
        file=sys.stderr,
    )


def _report(done: int, of: int) -> None:
    print(f"\r{done} of {of} prompts", end="\n" if done == of else "", file=sys.stderr, flush=True)
