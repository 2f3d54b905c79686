"""The command line: `sbd COMMAND` or `python -m sbd_core COMMAND`.

Exit status: 0 done, 2 bad arguments (one line on standard error), 130 stopped with Ctrl-C.
"""

import argparse
import json
import os
import sys

from sbd_core.cli import (
    bench,
    evaluate,
    export,
    fetch,
    generate,
    lm_eval,
    merge,
    prepare,
    roofline,
    synthesize,
    train,
    train_adapter,
)
from sbd_core.cli.output import with_output
from sbd_core.errors import ADVICE, SetBlockDecodingError, is_out_of_memory, require_extra

COMMANDS = {
    "generate": generate,
    "fetch": fetch,
    "prepare": prepare,
    "synthesize": synthesize,
    "train": train,
    "train-adapter": train_adapter,
    "merge": merge,
    "export": export,
    "evaluate": evaluate,
    "lm-eval": lm_eval,
    "bench": bench,
    "roofline": roofline,
}
EXTRA = {
    "fetch": "fetch",
    "synthesize": "train",
    "train-adapter": "train",
    "train": "train",
    "merge": "lora",
    "evaluate": "eval",
    "bench": "eval",
    "lm-eval": "lm-eval",
}
"""The optional part that a command needs."""
OWN_JSON = ("export", "lm-eval")
"""Commands that add --json themselves, or that another program parses."""
JSON_HELP = "one JSON object as the last line"


class _HelpFormatter(argparse.HelpFormatter):
    """Adds a flag's default, if it has one, to its help."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        has_default = bool(action.option_strings) and not (
            action.default is None or isinstance(action.default, bool | list)
        )
        words = action.help or ""
        if not has_default or action.default in (argparse.SUPPRESS, "") or words.endswith(")"):
            return action.help
        return f"{words} (%(default)s)".strip()


def main(words: list[str] | None = None) -> int:
    """Run one command and return its exit status. words: None takes them from sys.argv."""
    return with_output(lambda: _run(words))


def _run(words: list[str] | None) -> int:
    is_script = os.path.basename(sys.argv[0]) == "sbd"
    name = "sbd" if is_script else "python -m sbd_core"
    parser = argparse.ArgumentParser(prog=name, description="Set Block Decoding")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        parser_options = {"formatter_class": _HelpFormatter, **getattr(module, "PARSER", {})}
        flags = commands.add_parser(name, help=module.HELP, **parser_options)
        module.add_arguments(flags)
        if name not in OWN_JSON:
            flags.add_argument("--json", action="store_true", help=JSON_HELP)
    arguments = parser.parse_args(words)
    try:
        if arguments.command in EXTRA:
            require_extra(EXTRA[arguments.command])
        result = COMMANDS[arguments.command].run(arguments)
        if result is not None and arguments.json:
            print(json.dumps(result))
    except SetBlockDecodingError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        print(f"error: {ADVICE}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
