"""Record the run that the page opens on.

    python -m scripts.record_opening                  with the bundled checkpoint
    python -m scripts.record_opening --model FOLDER   with another one

The rule: among the preset prompts, those of a good length that most lanes answer rightly come
first, then others that most lanes answer rightly; of these, the one in which the largest part of
the tokens lands before a token on its left. Ties go to the first. Not imported by the page.
"""

import argparse

import sbd_core
from sbd_core.config import EntropyBound
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.threads import choose_threads
from sbd_core.tasks import TASKS
from sbd_core.tasks.base import Example
from sbd_core.trace import Trace
from scripts.write_presets import preset_examples, tasks
from ui.decode.form import DEFAULT_GAMMA
from ui.gallery.recorded import OPENING_LANES, TRACES

GOOD_TOKENS = range(40, 97)
GOOD_PASSES = range(8, 33)
MAX_NEW_TOKENS = 128


def opening_run(model: SetBlockModel, gamma: float) -> tuple[Example, dict[str, Trace]]:
    """The preset worth opening on, by the rule above, and its lanes."""
    runs = []
    for task in tasks():
        for example in preset_examples(task):
            traces = decoded(model, example.prompt, gamma)
            runs.append((worth(example, traces), example, traces))
    _, example, traces = max(runs, key=lambda run: run[0])
    return example, traces


def decoded(model: SetBlockModel, prompt: str, gamma: float) -> dict[str, Trace]:
    """Every lane's decode of the prompt."""
    traces: dict[str, Trace] = {}
    for lane in OPENING_LANES:
        solver = EntropyBound(gamma) if lane == "sbd" else EntropyBound()
        config = sbd_core.DecodeConfig(
            strategy=lane, solver=solver, max_new_tokens=MAX_NEW_TOKENS, seed=0
        )
        traces[lane] = sbd_core.generate(model, prompt, config)
    return traces


def worth(example: Example, traces: dict[str, Trace]) -> tuple[int, int, float]:
    """(lanes that are right if it is of a good length, lanes that are, part out of order)."""
    check = TASKS[example.task].check
    num_right = sum(check(example, trace.text) for trace in traces.values())
    main = traces[OPENING_LANES[0]]
    is_good = main.num_tokens in GOOD_TOKENS and main.num_forwards in GOOD_PASSES
    return num_right * is_good, num_right, share_out_of_order(main)


def share_out_of_order(trace: Trace) -> float:
    """The part of revealed tokens that landed in a pass before that of a token on their left."""
    passes = {
        reveal.position: event.index
        for event in trace.events
        for reveal in event.reveals
        if reveal.position < trace.num_tokens
    }
    latest, count = -1, 0
    for position in sorted(passes):
        count += passes[position] < latest
        latest = max(latest, passes[position])
    return count / len(passes) if passes else 0.0


def write_opening(traces: dict[str, Trace]) -> None:
    """One file a lane in assets/traces/."""
    TRACES.mkdir(exist_ok=True)
    for lane, trace in traces.items():
        (TRACES / f"opening-{lane}.json").write_text(trace.to_json() + "\n", encoding="utf-8")
        print(f"wrote opening-{lane}.json: {trace.num_tokens} tokens, {trace.num_forwards} passes")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m scripts.record_opening")
    parser.add_argument("--model", help="model folder; default: the bundled checkpoint")
    parser.add_argument("--gamma", type=float, default=DEFAULT_GAMMA, help="nats")
    flags = parser.parse_args()
    model = sbd_core.load(flags.model, device="cpu")
    choose_threads(model.num_parameters)
    example, traces = opening_run(model, flags.gamma)
    print(f"{example.task}: {example.prompt}")
    write_opening(traces)


if __name__ == "__main__":
    main()
