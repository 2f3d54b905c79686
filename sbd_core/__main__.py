"""The command line: `sbd COMMAND` or `python -m sbd_core COMMAND`.

The exit status is 0 on success, 2 on an error (one line on standard error) and 130 after Ctrl-C.
"""

import argparse
import json
import os
import signal
import sys
from typing import Any

if __name__ == "__main__" or os.path.basename(sys.argv[0]) == "sbd":
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # while the rest is imported

from sbd_core.cli import Command, generate, measure, model_folders, serve, training
from sbd_core.cli.output import interruptible, with_output
from sbd_core.errors import ADVICE, SetBlockDecodingError, is_out_of_memory, require_extra

COMMANDS: dict[str, Command] = {
    "generate": generate.generate,
    "fetch": model_folders.fetch,
    "prepare": model_folders.prepare,
    "synthesize": training.synthesize,
    "train": training.train,
    "train-adapter": training.train_adapter,
    "merge": model_folders.merge,
    "export": model_folders.export,
    "evaluate": measure.evaluate,
    "lm-eval": measure.lm_eval,
    "bench": measure.bench,
    "roofline": measure.roofline,
    "serve": serve.serve,
}
JSON_HELP = "one JSON object as the last line"


class _HelpFormatter(argparse.HelpFormatter):
    """Formats a command's help and shows the default of each flag that has one."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        has_default = bool(action.option_strings) and not (
            action.default is None or isinstance(action.default, bool | list)
        )
        words = action.help or ""
        if not has_default or action.default in (argparse.SUPPRESS, "") or words.endswith(")"):
            return action.help
        return f"{words} (%(default)s)".strip()


def main(words: list[str] | None = None) -> int:
    """Run one command and return its exit status. words: the arguments; None takes sys.argv."""
    return interruptible(lambda: with_output(lambda: _run(words)))


def _run(words: list[str] | None) -> int:
    is_script = os.path.basename(sys.argv[0]) == "sbd"
    name = "sbd" if is_script else "python -m sbd_core"
    parser = argparse.ArgumentParser(prog=name, description="Set Block Decoding")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        own = {"prefix_chars": "\0", "add_help": False} if command.takes_all_words else {}
        options: dict[str, Any] = {"formatter_class": _HelpFormatter, **own}
        flags = commands.add_parser(name, help=command.help, **options)
        command.add_flags(flags)
        if not (command.has_own_json or command.takes_all_words):
            flags.add_argument("--json", action="store_true", help=JSON_HELP)
    arguments = parser.parse_args(words)
    try:
        command = COMMANDS[arguments.command]
        if command.extra is not None:
            require_extra(command.extra)
        result = command.run(arguments)
        if result is not None and arguments.json:
            print(json.dumps(result))
    except SetBlockDecodingError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        print(f"error: {ADVICE}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
