"""Writes ui/web/constants.json and story_words.json: what Python and JavaScript both must know.

python -m scripts.web_constants           write the files
python -m scripts.web_constants --check   exit status 1 if a committed file is another one
"""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sbd_core import roofline
from sbd_core.config import SOLVER_TITLES
from sbd_core.plots import theme
from sbd_core.replay import wire_format
from sbd_core.tasks.story import facts
from sbd_core.tasks.story.vocabulary import vocabulary
from sbd_core.tasks.story.words import LISTS
from sbd_core.tasks.words import MEN, WOMEN
from ui.browser.engine_choice import BROWSER_TASKS
from ui.components.controls import FIELD_IDS, STRATEGIES
from ui.decode import blanks, form, verdict
from ui.form import bounds
from ui.race import entry
from ui.share import permalink, sheet, trace_files

WEB = Path(__file__).parents[1] / "ui" / "web"


def constants() -> dict[str, Any]:
    """Everything shared, each value from the Python module that owns it."""
    schemes = {"light": theme.LIGHT, "dark": theme.DARK}
    names = [*permalink.FIELDS, *permalink.RACE_FIELDS]
    return {
        "wireUnits": wire_format.UNITS,
        "laneNames": wire_format.LANE_NAMES,
        "fieldLabels": form.LABELS,
        "race": {"lanes": entry.LANES, "ahead": entry.AHEAD, "lowGamma": entry.LOW_GAMMA},
        "solverNames": SOLVER_TITLES,
        "bounds": {solver: asdict(bound) for solver, bound in bounds.BOUNDS.items()},
        "noBound": asdict(bounds.NO_BOUND),
        "entropyScale": {
            "max": theme.MAX_ENTROPY,
            "ticks": theme.TICKS,
            "ramps": {name: ink.ramp.split() for name, ink in schemes.items()},
        },
        "inks": {name: {**asdict(ink), "ramp": name} for name, ink in schemes.items()},
        "linkFields": {name: field for name, field in permalink.FIELDS.items() if name != "pins"},
        "formIds": FIELD_IDS,
        "strategyTitles": {name: title for title, name in STRATEGIES},
        "linkNames": list(dict.fromkeys(names)),
        "devices": {name: _device(device) for name, device in roofline.DEVICES.items()},
        "verdicts": {
            "words": {task: verdict.WORDS[task] for task in verdict.WORDS if task in BROWSER_TASKS},
            "sudokuWords": verdict.SUDOKU_WORDS,
            "sumWords": verdict.SUM_WORDS,
            "jsonWords": verdict.JSON_WORDS,
            "noSolution": verdict.NO_SOLUTION,
            "partedDigits": verdict.PARTED_DIGITS,
            "sumFrames": verdict.sum_frames(),
            "storyWords": verdict.STORY_WORDS,
            "notRun": verdict.NOT_RUN["browser"],
        },
        "limits": _limits(),
    }


def _device(device: roofline.Device) -> dict[str, Any]:
    return {
        "name": device.name,
        "flops": device.linear_flops,
        "attentionFlops": device.attention_flops,
        "bandwidth": device.bandwidth,
        "valueBytes": device.bytes_per_value,
        "source": device.source,
    }


def _limits() -> dict[str, int]:
    """The most of a file, a form and a run that the page takes."""
    return {
        "block": wire_format.MAX_SHOWN_BLOCK,
        "fileBytes": trace_files.MAX_FILE_BYTES,
        "fileName": sheet.MAX_NAME,
        "newTokens": form.MAX_NEW_TOKENS,
        "passes": trace_files.MAX_PASSES,
        "positions": trace_files.MAX_POSITIONS,
        "promptCharacters": form.MAX_PROMPT_CHARACTERS,
        "typedCharacters": form.MAX_TYPED_CHARACTERS,
        "templateCharacters": blanks.MAX_TEMPLATE_CHARACTERS,
    }


def story_words() -> dict[str, Any]:
    """What a story's checker knows of words, each list as one line; only the engine reads it."""
    return {
        "lists": {slot: _line(words) for slot, words in LISTS.items()},
        "women": _line(WOMEN),
        "men": _line(MEN),
        "noNames": _line(facts.NO_NAMES),
        "starts": _line(facts.STARTS),
        "others": _line(vocabulary().difference(*LISTS.values())),
    }


def _line(words: Iterable[str]) -> str:
    return " ".join(sorted(words))


def texts() -> dict[Path, str]:
    """The content of every file."""
    contents = {
        WEB / "constants.json": constants(),
        WEB / "engine" / "session" / "story_words.json": story_words(),
    }
    return {
        file: json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        for file, content in contents.items()
    }


def main() -> int:
    """The command line. Exit status: 0 done or fresh, 1 a committed file is stale."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    is_check, status = parser.parse_args().check, 0
    for file, text in texts().items():
        if not is_check:
            file.write_text(text, encoding="utf-8")
        elif file.read_text(encoding="utf-8") != text:
            print(f"{file} is stale: run python -m scripts.web_constants", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
