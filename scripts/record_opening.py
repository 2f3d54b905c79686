"""Record the run that the page opens on, and the race of its prompt.

    python -m scripts.record_opening          nano's run, and the race
    python -m scripts.record_opening --real   the run of the real model

The rule for nano: of the stories among the presets, those that most lanes get right come first; of
these the one with the longest answer. For the real model: of its presets but those that ask for
rewriting, which it refuses, the one with the most tokens a forward pass, among answers that come to
an end and have at least LEAST_TOKENS. Ties go to the first. The race has the lanes that the page
shows. Not imported by the page.
"""

import argparse
from dataclasses import replace
from typing import Any

import sbd_core
from sbd_core.errors import ModelError
from sbd_core.models.checkpoint_info import REAL_MODEL
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.threads import choose_threads
from sbd_core.trace import Trace
from ui.decode.form import checked
from ui.decode.verdict import verdicts_of
from ui.examples import presets
from ui.form.controls import DEFAULT_BLOCK_RANGE
from ui.form.measured import Best, best_for
from ui.models import REAL_PRESETS
from ui.recordings import ENDINGS, OPENING_LANES, RACE_LANES, TRACES
from ui.views.race import Entry, forms_of

TASK = "story"
MAX_NEW_TOKENS = 128
LEAST_TOKENS = 40
REFUSED = "Rewriting"


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


def race_of(model: SetBlockModel, prompt: str, **settings: Any) -> dict[str, Trace]:
    """The lanes of a race of the prompt, by their names. settings: fields of the entry."""
    entry = Entry(prompt, list(RACE_LANES), **settings)
    return {
        name: sbd_core.generate(model, *checked(form)) for name, form in forms_of(entry).items()
    }


def write(what: str, traces: dict[str, Trace]) -> None:
    """One file a lane in assets/traces/, by the model."""
    TRACES.mkdir(exist_ok=True)
    for lane, trace in traces.items():
        kind = f"{what}{ENDINGS.get(trace.model, '')}"
        name = f"{kind}-{lane}.json"
        (TRACES / name).write_text(trace.to_json() + "\n", encoding="utf-8")
        print(f"wrote {name}: {trace.num_tokens} tokens, {trace.num_forwards} forward passes")


def opening_of_real(model: SetBlockModel, best: Best) -> dict[str, Trace]:
    """The lanes of the preset worth opening on, decoded as the page does."""
    plain = sbd_core.DecodeConfig(
        strategy="ntp",
        block_size=best.block_size or DEFAULT_BLOCK_RANGE[1],
        max_new_tokens=MAX_NEW_TOKENS,
        seed=0,
    )
    checked = replace(plain, strategy="verify", row_policy=best.row_policy)
    runs = []
    for preset in presets(REAL_PRESETS):
        for prompt in preset.prompts if preset.label != REFUSED else ():
            trace = sbd_core.generate(model, prompt, checked)
            if trace.finish == "end_of_sequence" and trace.num_tokens >= LEAST_TOKENS:
                runs.append(trace)
    main = max(runs, key=lambda trace: trace.num_tokens / trace.num_forwards)
    ntp = sbd_core.generate(model, main.prompt, plain)
    if main.token_ids != ntp.token_ids:
        raise ModelError(f"verify and next-token prediction differ on {main.prompt!r}")
    return {"verify": main, "ntp": ntp}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m scripts.record_opening")
    parser.add_argument("--real", action="store_true", help="the run of the real model")
    is_real = parser.parse_args().real
    model = sbd_core.load(REAL_MODEL if is_real else None, device="cpu")
    choose_threads(model.num_parameters)
    if is_real:
        best = best_for(model.name, can_draft=True, has_adapter=True)
        traces = opening_of_real(model, best)
        prompt = traces["ntp"].prompt
        settings = {"block_size": best.block_size, "row_policy": best.row_policy}
    else:
        prompt, traces = opening_run(model)
        settings = {}
    print(prompt)
    write("opening", traces)
    write("race", race_of(model, prompt, **settings))


if __name__ == "__main__":
    main()
