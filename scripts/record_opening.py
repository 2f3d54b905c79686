"""Record the run that the page opens on, and the race of its prompt.

    python -m scripts.record_opening

The rule: of the stories among the presets, those that most lanes get right come first; of these the
one with the longest answer. Ties go to the first. The race has the lanes that the page shows. Not
imported by the page.
"""

import sbd_core
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.threads import choose_threads
from sbd_core.trace import Trace
from ui.decode.form import checked
from ui.decode.verdict import verdicts_of
from ui.examples import presets
from ui.recordings import OPENING_LANES, RACE_LANES, TRACES
from ui.views.race import Entry, forms_of

TASK = "story"
MAX_NEW_TOKENS = 128


def opening_run(model: SetBlockModel) -> tuple[str, dict[str, Trace]]:
    """The preset worth opening on, by the rule above, and its lanes."""
    (preset,) = [preset for preset in presets() if preset.task == TASK]
    runs = [(prompt, lanes_of(model, prompt)) for prompt in preset.prompts]
    return max(runs, key=lambda run: worth(run[1]))


def lanes_of(model: SetBlockModel, prompt: str) -> dict[str, Trace]:
    """Every lane's decode of the prompt."""
    configs = {
        lane: sbd_core.DecodeConfig(strategy=lane, max_new_tokens=MAX_NEW_TOKENS, seed=0)
        for lane in OPENING_LANES
    }
    return {lane: sbd_core.generate(model, prompt, config) for lane, config in configs.items()}


def worth(traces: dict[str, Trace]) -> tuple[int, int]:
    """(lanes that are right, tokens of the answer)."""
    num_right = sum(bool(verdict["right"]) for verdict in verdicts_of(traces).values())
    return num_right, traces[OPENING_LANES[0]].num_tokens


def race_of(model: SetBlockModel, prompt: str) -> dict[str, Trace]:
    """The lanes of a race of the prompt, by their names."""
    entry = Entry(prompt, list(RACE_LANES))
    return {
        name: sbd_core.generate(model, *checked(form)) for name, form in forms_of(entry).items()
    }


def write(kind: str, traces: dict[str, Trace]) -> None:
    """One file a lane in assets/traces/."""
    TRACES.mkdir(exist_ok=True)
    for lane, trace in traces.items():
        name = f"{kind}-{lane}.json"
        (TRACES / name).write_text(trace.to_json() + "\n", encoding="utf-8")
        print(f"wrote {name}: {trace.num_tokens} tokens, {trace.num_forwards} forward passes")


def main() -> None:
    """With the bundled checkpoint."""
    model = sbd_core.load(device="cpu")
    choose_threads(model.num_parameters)
    prompt, traces = opening_run(model)
    print(prompt)
    write("opening", traces)
    write("race", race_of(model, prompt))


if __name__ == "__main__":
    main()
