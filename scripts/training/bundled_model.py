"""The bundled checkpoint's whole way anew: every stretch of its training, and the means.

    python -m scripts.training.bundled_model --compile                     about twelve hours
    python -m scripts.training.bundled_model --steps-ratio 0.01            to try it

The model is then runs/bundled/bundled. Stopped with Ctrl-C and started again with the same flags,
it goes on. The texts are today's, wider than those that the first stretches had.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sbd_core.config import require_number
from sbd_core.errors import SetBlockDecodingError
from sbd_core.package.files import write_text
from scripts.training.average_checkpoints import average
from scripts.training.commands import CommandError, command
from scripts.training.stretches import WAY, Mean, Stretch

LEAST_STEPS = 2


def recipe_of(stretch: Stretch, ratio: float) -> dict[str, Any]:
    """The recipe of a stretch, with `ratio` times its steps, as a file that `--recipe` takes."""
    steps = max(LEAST_STEPS, round(stretch.steps * ratio))
    falling = min(steps - 1, round(stretch.num_falling * ratio))
    return {"base": stretch.stage, **stretch.changes, "steps": steps, "decay_steps": falling}


def walk(way: Sequence[Stretch | Mean], folder: Path, ratio: float, flags: Sequence[str]) -> Path:
    """Train and average along `way`, each model in a folder of its name; the last one's path.

    What is done already is left. Raises CommandError, or what average() raises.
    """
    out = folder
    for part in way:
        out = folder / part.name
        if isinstance(part, Stretch):
            recipe = folder / f"{part.name}.json"
            write_text(recipe, json.dumps(recipe_of(part, ratio), indent=2) + "\n")
            start = ("--init", folder / part.start) if part.start else ()
            command(
                "train", "--stage", part.stage, "--recipe", recipe, *start, "--out", out, *flags
            )
        elif not out.exists():
            names = ", ".join(part.parts)
            print(f"== mean of {names}", flush=True)
            average([folder / name for name in part.parts], list(part.parts.values()), out)
    return out


def main(words: Sequence[str] | None = None) -> int:
    """The command line. Exit status: 0 done, else that of the command that failed."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.training.bundled_model",
        description="Train the bundled checkpoint anew, stretch by stretch.",
    )
    parser.add_argument("--compile", action="store_true", help="as `train --compile`")
    parser.add_argument("--precision", default="auto", help="as `train --precision` (auto)")
    parser.add_argument(
        "--steps-ratio", type=float, default=1.0, help="of every stretch, to try it (1)"
    )
    parser.add_argument(
        "--folder", type=Path, default=Path("runs/bundled"), help="of the models (%(default)s)"
    )
    chosen = parser.parse_args(words)
    flags = ["--precision", chosen.precision, *(["--compile"] if chosen.compile else [])]
    try:
        require_number("steps_ratio", chosen.steps_ratio, 0, 1)
        chosen.folder.mkdir(parents=True, exist_ok=True)
        out = walk(WAY, chosen.folder, chosen.steps_ratio, flags)
    except CommandError as error:
        return error.status
    except KeyboardInterrupt:
        return 130
    except (SetBlockDecodingError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"the model is {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
