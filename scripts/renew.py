"""Renew every committed file that depends on a bundled model.

    python -m scripts.renew                     what is not of the present weights yet
    python -m scripts.renew --list              the steps, and which are done
    python -m scripts.renew --only sweep bench  these steps, done or not

A step is done once its command has ended well with the present weights, which
assets/results/renewed.json records; an interrupted run goes on with the first step that is not.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sbd_core.files import weights_sha256, write_text

ROOT = Path(__file__).parents[1]
CHECKPOINT = ROOT / "assets" / "checkpoints" / "sbd-nano"
REAL_CHECKPOINT = ROOT / "assets" / "checkpoints" / "sbd-smollm2-135m"
STATE = ROOT / "assets" / "results" / "renewed.json"
ASSISTANT = "runs/assistant"


@dataclass(frozen=True, slots=True)
class Step:
    """words: after `python`. output: a file that it writes. is_timed: on a quiet machine only.
    is_real: it depends on the adapter of SmolLM2, and needs `sbd fetch`."""

    words: str
    output: str = ""
    is_timed: bool = False
    is_real: bool = False


def result(name: str, words: str, *, is_timed: bool = False) -> Step:
    """A command of ours that writes its results to a file of that name."""
    file = f"assets/results/{name}.json"
    return Step(f"-m sbd_core {words} --out {file}", file, is_timed)


TRACES = "assets/traces"
TRAIN = "train --stage ntp --recipe assistant --minutes 12 --tokenizer assets/checkpoints/sbd-nano"
PREDRAFTS = "bench --predrafts --limit 50 --rounds 1"
DTYPES = "bench --dtypes --model sbd-smollm2-135m"
STEPS = {
    "presets": Step("-m scripts.write_presets", "assets/presets.json"),
    "opening": Step("-m scripts.record_opening", f"{TRACES}/opening-verify.json"),
    "gallery": Step("-m scripts.record_gallery", f"{TRACES}/gallery/index.json"),
    # Its runs' seconds are shown.
    "learn": Step("-m scripts.record_learn", f"{TRACES}/learn/index.json", is_timed=True),
    "evaluation": result("evaluation", "evaluate --table --limit 100"),
    "sweep": result("sweep", "evaluate --sweep --limit 25"),
    "bench": result("bench", "bench --limit 20", is_timed=True),
    "predrafts": result("predrafts", PREDRAFTS, is_timed=True),
    # An assistant needs the tokenizer alone; one that is there is only looked at again.
    "assistant": Step(f"-m sbd_core {TRAIN} --out {ASSISTANT}"),
    "peers": result("peers", f"bench --peers --limit 20 --assistant {ASSISTANT}"),
    "shape": result("shape", "bench --shape", is_timed=True),
    "gallery-real": Step(
        "-m scripts.record_gallery --real", f"{TRACES}/gallery/index.json", is_real=True
    ),
    "opening-real": Step(
        "-m scripts.record_opening --real", f"{TRACES}/opening-real-verify.json", is_real=True
    ),
    "dtypes": replace(result("dtypes", DTYPES, is_timed=True), is_real=True),
    "pictures": Step("-m scripts.take_pictures", "assets/pictures/watch-1440-light.png"),
    "tables": Step("-m scripts.write_tables", "README.md"),
}
"""In the order in which they run: tables last, as they read all others."""


def read_state() -> dict[str, object]:
    """{step: its entry} of the steps that ended well; none if the file is unreadable."""
    try:
        state = json.loads(STATE.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def entry(step: Step) -> dict[str, str]:
    """What the state says of a step that ended well, with the present weights."""
    weights = weights_sha256(REAL_CHECKPOINT if step.is_real else CHECKPOINT) or ""
    return {"weights_sha256": weights, "command": f"python {step.words}"}


def run(names: Iterable[str]) -> int:
    """Run the steps in order; the exit status of the first that fails, else 0."""
    for name in names:
        words = STEPS[name].words
        print(f"== {name}: python {words}", flush=True)
        status = subprocess.run([sys.executable, *words.split()], cwd=ROOT).returncode
        if status != 0:
            print(f"renew: {name} ended with {status}; nothing after it was run", file=sys.stderr)
            return status
        state = read_state() | {name: entry(STEPS[name])}
        write_text(STATE, json.dumps(state, indent=1) + "\n")
    return 0


def main(words: Sequence[str] | None = None) -> int:
    """The command line. Exit status: 0 done, 130 stopped by Ctrl-C, else that of a failed step."""
    parser = argparse.ArgumentParser(prog="python -m scripts.renew", description=__doc__)
    parser.add_argument("--list", action="store_true", help="show the steps and run none")
    parser.add_argument("--only", nargs="+", metavar="STEP", choices=STEPS, help="done or not")
    flags = parser.parse_args(words)
    state = read_state()
    todo = [
        name
        for name, step in STEPS.items()
        if state.get(name) != entry(step) or not (ROOT / step.output).exists()
    ]
    if flags.list:
        for name, step in STEPS.items():
            note = " (on a quiet machine)" if step.is_timed else ""
            print(f"{'to do' if name in todo else 'done':<6} {name:<12} python {step.words}{note}")
        return 0
    try:
        return run([name for name in STEPS if name in (flags.only or todo)])
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
