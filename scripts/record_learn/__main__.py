"""Record the runs of the Learn view's scenes, and choose what they show.

    python -m scripts.record_learn                  with the bundled checkpoint
    python -m scripts.record_learn --model FOLDER   with another one

The rules, all over held-out prompts. `text`: of the presets answered in at least
NUM_TOKENS tokens, rightly if any is, the one whose first take the fewest forward passes.
`guess`: the story with the most unsure next word, and a sure one. `edge`: the gallery's
story of mixed-up names or the first one that a larger gamma spoils, at rising gammas.
`verify`: the preset with a draft of which most is thrown away after some was kept. The sudoku is
the run that the page opens on, so record presets, opening and gallery first. Not imported by the
page.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence

import sbd_core
from sbd_core.events import MaskedPosition, StepEvent
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.threads import choose_threads
from sbd_core.tasks.base import Example
from sbd_core.trace import Trace
from scripts.mixed_up_names import stories_of_two
from scripts.record_learn.edges import GAMMAS, edge_runs, told_of_mix_up
from scripts.record_learn.gaps import guess_run
from scripts.record_learn.runs import NothingSuitable, by_strategy, generated, is_right
from ui.gallery.examples import presets
from ui.learn.recorded import FOLDER, INDEX, Choices, file_of

NUM_TOKENS = 64
NUM_TIMINGS = 9


def text_run(model: SetBlockModel, examples: Sequence[Example]) -> dict[str, Trace]:
    """Both lanes of the answer that most scenes show."""
    found: list[tuple[bool, dict[str, Trace]]] = []
    for example in examples:
        whole = generated(model, example.prompt)
        if whole.num_tokens < NUM_TOKENS:
            continue
        main = generated(model, example.prompt, max_new_tokens=NUM_TOKENS)
        ntp = by_strategy(model, example.prompt, "ntp", NUM_TOKENS)
        if ntp.num_tokens == NUM_TOKENS:
            found.append((is_right(example, whole.text), {"sbd": main, "ntp": ntp}))
    if not found:
        raise NothingSuitable(f"no preset is answered in {NUM_TOKENS} tokens")
    _, chosen = min(found, key=lambda row: (not row[0], row[1]["sbd"].num_forwards))
    prompt = chosen["sbd"].prompt
    # Their seconds are shown: the quickest of some, or whatever else ran here is shown too.
    mains = [generated(model, prompt, max_new_tokens=NUM_TOKENS) for _ in range(NUM_TIMINGS)]
    ntps = [by_strategy(model, prompt, "ntp", NUM_TOKENS) for _ in range(NUM_TIMINGS)]
    return {"sbd": min(mains, key=seconds), "ntp": min(ntps, key=seconds)}


def seconds(trace: Trace) -> float:
    """Engine time of a run."""
    return trace.seconds


def mask_pass(trace: Trace) -> int:
    """The first forward pass that has text of the answer before a block of nothing but masks."""
    return next(
        event.index
        for event in trace.events
        if event.block.start > 0 and len(event.masked) == event.block.size
    )


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


def checks(trace: Trace) -> Iterator[tuple[int, tuple[bool, int]]]:
    """(forward pass, how much its check of a draft shows) for every draft that was checked.

    That it turns on a word is best, then that much is kept and much is thrown away.
    """
    for before, event in zip(trace.events, trace.events[1:], strict=False):
        pairs = list(zip(before.draft, event.committed, strict=False))
        kept = next((at for at, (a, b) in enumerate(pairs) if a != b), len(pairs))
        gone = len(before.draft) - kept
        if kept and gone and kept < len(pairs):
            words = [trace.tokens[token_id].strip() for token_id in pairs[kept]]
            yield event.index, (all(word.isalnum() for word in words), min(kept, gone))


def verify_run(model: SetBlockModel, examples: Sequence[Example]) -> tuple[Trace, int, bool]:
    """A run of drafts, the forward pass to look at, and whether next-token prediction agrees."""
    found = []
    for example in examples:
        trace = by_strategy(model, example.prompt, "verify", NUM_TOKENS)
        rows = [(value, -at) for at, value in checks(trace) if at > 1]
        if rows and is_right(example, trace.text):
            value, at = max(rows)
            found.append((value, trace.tokens_per_forward, -at, example.prompt, trace))
    if not found:
        raise NothingSuitable("no draft of verify is kept in part")
    _, _, at, prompt, trace = max(found, key=lambda row: row[:3])
    ntp = by_strategy(model, prompt, "ntp", NUM_TOKENS)
    return trace, at, ntp.token_ids == trace.token_ids


def record(model: SetBlockModel) -> tuple[dict[str, Trace], Choices]:
    """Every run by the name of its file, and what the scenes show of them."""
    everything = [
        Example(preset.task, prompt, "", case)
        for preset in presets()
        for prompt, case in zip(preset.prompts, preset.cases, strict=True)
    ]
    told = [example for example in everything if example.task == "story"]
    text = text_run(model, everything)
    try:
        sure, unsure = guess_run(model, told)
    except NothingSuitable:
        sure, unsure = guess_run(model, everything)
    edges = edge_runs(model, [*told_of_mix_up(), *stories_of_two()])
    verify, check_pass, is_verify_ntp = verify_run(model, everything)
    runs = {f"text-{lane}": trace for lane, trace in text.items()}
    runs |= {"guess": sure.trace, "verify": verify}
    runs |= {f"edge-{number}": trace for number, (_, trace) in enumerate(edges)}
    choices = Choices(
        sure=sure.place,
        unsure=unsure.place,
        bound_pass=bound_pass(text["sbd"]),
        mask_pass=mask_pass(text["sbd"]),
        check_pass=check_pass,
        is_verify_ntp=is_verify_ntp,
        edges=tuple(edge for edge, _ in edges),
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
