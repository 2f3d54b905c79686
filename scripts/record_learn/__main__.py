"""Record the runs of the Learn view's scenes, and choose what they show.

    python -m scripts.record_learn                  with the bundled checkpoint
    python -m scripts.record_learn --model FOLDER   with another one

The rules, all over held-out prompts, the page's own first. `text`: of the prompts answered in at
least NUM_TOKENS tokens, rightly if any is, the one whose first take the fewest forward passes.
`guess`: the story with the most unsure next word, and a sure one. `sudoku`: the opening run, or
another whose first empty cell is open until others are filled. `edge`: the gallery's story of
mixed-up names or the first one that a larger gamma spoils, at rising gammas. `verify`: the
prompt with a draft of which most is thrown away after some was accepted. Each widens its search
before it gives up. Record presets, opening and gallery first. Not imported by the page.
"""

import argparse
import sys
from collections.abc import Sequence

import sbd_core
from sbd_core.events import MaskedPosition, StepEvent
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.threads import choose_threads
from sbd_core.trace import Trace
from scripts.record_learn.drafts import verify_run
from scripts.record_learn.edges import GAMMAS, case_of, edge_runs
from scripts.record_learn.examples import of_any_task
from scripts.record_learn.gaps import guess_run
from scripts.record_learn.puzzles import order_run
from scripts.record_learn.runs import NUM_TOKENS, NothingSuitable, by_strategy, generated, is_right
from ui.learn.recorded import FOLDER, INDEX, Choices, file_of

NUM_DRAWN = 40
NUM_TIMINGS = 9


def text_run(model: SetBlockModel) -> dict[str, Trace]:
    """Both lanes of the answer that most scenes show."""
    found: list[tuple[bool, int, str]] = []
    for example in of_any_task(NUM_DRAWN):
        whole = generated(model, example.prompt)
        if whole.num_tokens >= NUM_TOKENS:
            main = generated(model, example.prompt, max_new_tokens=NUM_TOKENS)
            found.append((is_right(example, whole.text), main.num_forwards, example.prompt))
    for _, _, prompt in sorted(found, key=lambda row: (not row[0], row[1])):
        if by_strategy(model, prompt, "ntp", NUM_TOKENS).num_tokens == NUM_TOKENS:
            break
    else:
        raise NothingSuitable(f"no prompt is answered in {NUM_TOKENS} tokens")
    # Their seconds are shown: the quickest of some, or whatever else ran here is shown too.
    mains = [generated(model, prompt, max_new_tokens=NUM_TOKENS) for _ in range(NUM_TIMINGS)]
    ntps = [by_strategy(model, prompt, "ntp", NUM_TOKENS) for _ in range(NUM_TIMINGS)]
    return {"sbd": min(mains, key=seconds), "ntp": min(ntps, key=seconds)}


def seconds(trace: Trace) -> float:
    """Engine time of a run."""
    return trace.seconds


def mask_pass(trace: Trace) -> int:
    """The first forward pass of most masks that has text of the answer before its block."""
    later = [event for event in trace.events if event.block.start > 0]
    return max(later, key=lambda event: len(event.masked)).index


def bound_pass(trace: Trace) -> int:
    """The forward pass whose budget has most to drag at: of most different counts over GAMMAS."""

    def variety(event: StepEvent) -> tuple[int, int]:
        return len({num_kept(event.masked, gamma) for gamma in GAMMAS}), len(event.masked)

    return max(trace.events, key=variety).index


def num_kept(masked: Sequence[MaskedPosition], gamma: float) -> int:
    """How many masks Eq. 8 reveals."""
    total, count = 0.0, 0
    for item in sorted(masked, key=lambda item: item.entropy):
        if total > gamma:
            break
        total, count = total + item.entropy, count + 1
    return count


def record(model: SetBlockModel) -> tuple[dict[str, Trace], Choices]:
    """Every run by the name of its file, and what the scenes show of them."""
    text = text_run(model)
    sure, unsure = guess_run(model)
    sudoku, order = order_run(model)
    edges = edge_runs(model)
    verify, check_pass, verify_ntp = verify_run(model)
    runs = {f"text-{lane}": trace for lane, trace in text.items()}
    runs |= {"guess": sure.trace, "sudoku": sudoku, "verify": verify, "verify-ntp": verify_ntp}
    runs |= {f"edge-{number}": trace for number, (_, trace) in enumerate(edges)}
    choices = Choices(
        sure=sure.place,
        unsure=unsure.place,
        bound_pass=bound_pass(text["sbd"]),
        mask_pass=mask_pass(text["sbd"]),
        check_pass=check_pass,
        is_verify_ntp=verify_ntp.token_ids == verify.token_ids,
        order=order,
        edges=tuple(edge for edge, _ in edges),
        story_case=case_of(edges[0][1].prompt),
    )
    return runs, choices


def write(runs: dict[str, Trace], choices: Choices) -> None:
    """Replace what the scenes' folder holds."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.json"):
        old.unlink()
    for name, trace in runs.items():
        file_of(name).write_text(trace.to_json() + "\n", encoding="utf-8")
        print(f"{name}: {trace.num_tokens} tokens, {trace.num_forwards} forward passes")
    INDEX.write_text(choices.to_json() + "\n", encoding="utf-8")


def main() -> int:
    """The command line. Exit status: 0 done, 2 no held-out prompt shows what a scene needs."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m scripts.record_learn")
    parser.add_argument("--model", help="model folder; default: the bundled checkpoint")
    flags = parser.parse_args()
    model = sbd_core.load(flags.model, device="cpu")
    choose_threads(model.num_parameters)
    try:
        write(*record(model))
    except NothingSuitable as error:
        print(f"python -m scripts.record_learn: {error}; nothing was written", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
