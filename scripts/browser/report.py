"""What the commands that measure the browser have in common: flags, result and its targets."""

import argparse
import json
from pathlib import Path
from typing import Any

from sbd_core.circumstances import circumstances
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from sbd_core.package.files import write_text


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """A parser with the flags that every command has, described by its module's first line."""
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--model", type=Path, default=DEFAULT_CHECKPOINT, help="model folder")
    parser.add_argument("--out", type=Path, help="write the JSON object to this file too")
    return parser


def report(
    found: dict[str, Any], flags: argparse.Namespace, versions: dict[str, str], *, is_met: bool
) -> int:
    """Print the result as the last line, with where it was measured; write it if asked to.

    versions: of what measured beside Python. Returns the exit status: 0 every target is met, 1 not.
    """
    facts = {**circumstances(flags.model), **versions}
    result = {**found, "is_met": is_met, "circumstances": facts}
    if flags.out:
        flags.out.parent.mkdir(parents=True, exist_ok=True)
        write_text(flags.out, json.dumps(result, indent=1) + "\n")
    print(json.dumps(result))
    return 0 if is_met else 1
