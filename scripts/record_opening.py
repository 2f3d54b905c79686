"""Record the run that the page opens on, and the race of its prompt.

    python -m scripts.record_opening                  with the bundled checkpoint
    python -m scripts.record_opening --model FOLDER   with another one

The rule: of the sudokus among the presets, those that most lanes solve come first; of these
those that take at least ENOUGH_PASSES and have a moment with ENOUGH_TILES revealed and as many
masked; of these those at the largest gamma of GAMMAS, which is the page's own wherever the model is
good enough for it; and of these the one in which the largest part of the tokens lands before a
token on its left. Ties go to the first. The race has every lane of
ui.race.entry. Not imported by the page.
"""

import argparse

import sbd_core
from sbd_core.config import EntropyBound
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.threads import choose_threads
from sbd_core.trace import Trace
from ui.decode.form import DEFAULT_GAMMA, checked
from ui.decode.verdict import verdicts_of
from ui.gallery.examples import presets
from ui.gallery.recorded import OPENING_LANES, TRACES
from ui.race.entry import LANES, Entry, forms_of

TASK = "sudoku"
GAMMAS = (DEFAULT_GAMMA, 0.05, 0.02, 0.01, 0.005)  # nats
ENOUGH_PASSES = 4
"""With fewer there is no order to watch."""
ENOUGH_TILES = 3
"""Revealed, and still masked, in the moment that the page opens on."""
MAX_NEW_TOKENS = 128


def opening_run(model: SetBlockModel) -> tuple[str, dict[str, Trace]]:
    """The preset worth opening on, by the rule above, and its lanes."""
    (preset,) = [preset for preset in presets() if preset.task == TASK]
    runs = []
    for gamma in GAMMAS:
        for prompt in preset.prompts:
            traces = decoded(model, prompt, gamma)
            runs.append((worth(traces, gamma), prompt, traces))
    _, prompt, traces = max(runs, key=lambda run: run[0])
    return prompt, traces


def race_of(model: SetBlockModel, prompt: str) -> dict[str, Trace]:
    """Every lane of a race of the prompt, by its name."""
    entry = Entry(prompt, list(LANES))
    return {
        name: sbd_core.generate(model, *checked(form)) for name, form in forms_of(entry).items()
    }


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


def worth(traces: dict[str, Trace], gamma: float) -> tuple[int, bool, float, float]:
    """(lanes that are right, whether there is enough to watch, gamma, part out of order)."""
    num_right = sum(bool(verdict["right"]) for verdict in verdicts_of(traces).values())
    main = traces[OPENING_LANES[0]]
    is_enough = main.num_forwards >= ENOUGH_PASSES and has_middle(main)
    return num_right, is_enough, gamma, share_out_of_order(main)


def has_middle(trace: Trace) -> bool:
    """Whether a forward pass leaves ENOUGH_TILES of the first block revealed, and masked."""
    size, num_revealed = trace.config.block_size, 0
    for event in trace.events:
        num_revealed += sum(reveal.position < size for reveal in event.reveals)
        if ENOUGH_TILES <= num_revealed <= size - ENOUGH_TILES:
            return True
    return False


def share_out_of_order(trace: Trace) -> float:
    """The part of revealed tokens that landed a forward pass before one on their left."""
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


def write(kind: str, traces: dict[str, Trace]) -> None:
    """One file a lane in assets/traces/."""
    TRACES.mkdir(exist_ok=True)
    for lane, trace in traces.items():
        name = f"{kind}-{lane}.json"
        (TRACES / name).write_text(trace.to_json() + "\n", encoding="utf-8")
        print(f"wrote {name}: {trace.num_tokens} tokens, {trace.num_forwards} forward passes")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m scripts.record_opening")
    parser.add_argument("--model", help="model folder; default: the bundled checkpoint")
    flags = parser.parse_args()
    model = sbd_core.load(flags.model, device="cpu")
    choose_threads(model.num_parameters)
    prompt, traces = opening_run(model)
    print(prompt)
    write("opening", traces)
    write("race", race_of(model, prompt))


if __name__ == "__main__":
    main()
