"""Renew every committed file that depends on the bundled checkpoint.

    python -m scripts.renew                     what is not of the present weights yet
    python -m scripts.renew --list              the steps, and which are done
    python -m scripts.renew --only sweep page   these steps, done or not

A step is done once its command has ended well with the present weights; assets/results/renewed.json
says so. Stopped and started again, it goes on with the first step that is not done. Knows commands
and files only; what the numbers mean is the commands' business.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sbd_core.files import weights_sha256, write_text

ROOT = Path(__file__).parents[1]
CHECKPOINT = ROOT / "assets" / "checkpoints" / "sbd-nano"
STATE = ROOT / "assets" / "results" / "renewed.json"
ASSISTANT = Path("runs") / "assistant"
RESULTS = "assets/results"


@dataclass(frozen=True, slots=True)
class Step:
    """One command. words: after `python`; outputs: files it writes, from the repository's root.

    is_timed: its figures need a machine on which nothing else runs.
    """

    words: str
    outputs: tuple[str, ...]
    is_timed: bool = False


def steps() -> dict[str, Step]:
    """Every step by name, in the order in which they run: tables last, as they read all others."""
    return {
        **recordings(),
        **accuracy(),
        **times(),
        "pictures": Step("-m scripts.take_pictures", ("assets/pictures/watch-1440-light.png",)),
        "tables": Step("-m scripts.write_tables", ("README.md",)),
    }


def recordings() -> dict[str, Step]:
    """What the page shows without a model."""
    traces = "assets/traces"
    opening = (f"{traces}/opening-verify.json", f"{traces}/opening-ntp.json")
    return {
        "presets": Step("-m scripts.write_presets", ("assets/presets.json",)),
        "opening": Step("-m scripts.record_opening", opening),
        "gallery": Step("-m scripts.record_gallery", (f"{traces}/gallery/index.json",)),
        # Its runs' seconds are shown.
        "learn": Step("-m scripts.record_learn", (f"{traces}/learn/index.json",), is_timed=True),
    }


def accuracy() -> dict[str, Step]:
    """What `evaluate` counts."""
    evaluate = "-m sbd_core evaluate"
    return {
        "evaluation": _result("evaluation", f"{evaluate} --table --limit 100"),
        "sweep": _result("sweep", f"{evaluate} --sweep --limit 25"),
    }


def times() -> dict[str, Step]:
    """What is measured in seconds, and the forward passes of others' ways to decode."""
    bench = "-m sbd_core bench"
    ahead = f"{bench} --predrafts --limit 50 --rounds 1"
    assistant = "-m sbd_core train --stage ntp --recipe assistant"
    tokenizer = "--tokenizer assets/checkpoints/sbd-nano"
    return {
        "bench": _result("bench", f"{bench} --limit 20", is_timed=True),
        "predrafts": _result("predrafts", ahead, is_timed=True),
        # An assistant needs the tokenizer alone; what is there is only looked at again.
        "assistant": Step(f"{assistant} {tokenizer} --out {ASSISTANT}", ()),
        "peers": _result("peers", f"{bench} --peers --limit 20 --assistant {ASSISTANT}"),
        "shape": _result("shape", f"{bench} --shape", is_timed=True),
    }


def _result(name: str, words: str, *, is_timed: bool = False) -> Step:
    """A command of ours that writes its results to a file of that name."""
    file = f"{RESULTS}/{name}.json"
    return Step(f"{words} --out {file}", (file,), is_timed)


def read_state() -> dict[str, dict[str, str]]:
    """{step: {"weights_sha256", "command"}} of the steps that ended well; none if unreadable."""
    try:
        state = json.loads(STATE.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def is_done(step: Step, said: object, weights: str) -> bool:
    """Whether a step's entry in the state is of these weights and this command."""
    return said == entry(step, weights) and all((ROOT / name).exists() for name in step.outputs)


def entry(step: Step, weights: str) -> dict[str, str]:
    """What the state says of a step that ended well."""
    return {"weights_sha256": weights, "command": f"python {step.words}"}


def run(todo: Mapping[str, Step], weights: str) -> int:
    """Run the steps in order; the exit status of the first that fails, else 0."""
    for name, step in todo.items():
        print(f"== {name}: python {step.words}", flush=True)
        status = subprocess.run([sys.executable, *step.words.split()], cwd=ROOT).returncode
        if status != 0:
            print(f"renew: {name} ended with {status}; nothing after it was run", file=sys.stderr)
            return status
        write_text(STATE, json.dumps(read_state() | {name: entry(step, weights)}, indent=1) + "\n")
    return 0


def main(words: Sequence[str] | None = None) -> int:
    """The command line. Exit status: 0 done, 130 stopped by Ctrl-C, else that of a failed step."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.renew",
        description="Renew every committed file that depends on the bundled checkpoint.",
    )
    parser.add_argument("--list", action="store_true", help="show the steps and run none")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="STEP",
        choices=list(steps()),
        help="these, done or not",
    )
    flags = parser.parse_args(words)
    known, state = steps(), read_state()
    weights = weights_sha256(CHECKPOINT) or ""
    done = {name for name, step in known.items() if is_done(step, state.get(name), weights)}
    if flags.list:
        for name, step in known.items():
            note = " (on a quiet machine)" if step.is_timed else ""
            print(f"{'done' if name in done else 'to do':<6} {name:<16} python {step.words}{note}")
        return 0
    chosen = flags.only or [name for name in known if name not in done]
    try:
        return run({name: known[name] for name in known if name in chosen}, weights)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
