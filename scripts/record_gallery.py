"""Record the gallery: two runs of every task, instructive failures, and a real model.

    python -m scripts.record_gallery          the runs of the bundled checkpoint
    python -m scripts.record_gallery --real   the runs of the real model

The rule: of a task's preset prompts that both lanes answer rightly, the one in the fewest forward
passes a token, and of the others the one most out of order. Of each kind of failure, the run in
which it shows most, see the functions. Of the real model its first question and its first JSON, and
that question unchecked. The sentences are written from the traces. Not imported by the page.

Mixed-up names: of the first held-out stories about two people with an animal each, those in which
Set Block Decoding with some gamma gives an animal the other one's species, while next-token
prediction and gamma 0 keep to every fact of the prompt; of these the one of the smallest such
gamma that next-token prediction agrees with most. So revealing in parallel is what mixes them up.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, chain, pairwise
from random import Random
from typing import cast

from sbd_core import generate, load
from sbd_core.config import DecodeConfig, Strategy
from sbd_core.errors import ModelError
from sbd_core.models.checkpoint_info import REAL_MODEL
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.threads import choose_threads
from sbd_core.rules import EntropyBound
from sbd_core.tasks import TASKS
from sbd_core.tasks import story as stories
from sbd_core.tasks.base import Example
from sbd_core.tasks.story import read_case
from sbd_core.trace import Trace
from scripts.write_presets import label_of, preset_examples, tasks
from ui.decode.form import DEFAULT_GAMMA
from ui.examples import presets
from ui.form.controls import DEFAULT_BLOCK_RANGE
from ui.form.measured import best_for
from ui.models import REAL_PRESETS
from ui.recordings import GALLERY, GALLERY_INDEX, Recording, gallery, gallery_file

SEED = 20
NUM_STORIES = 120
HIGH_GAMMAS = (0.35, 0.5, 1.0, 2.0)
MAX_NEW_TOKENS = 128
NTP = DecodeConfig(strategy="ntp", max_new_tokens=MAX_NEW_TOKENS)
Row = tuple[Recording, dict[str, Trace]]
"""A run's place in the index, and its lanes."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A prompt and its lanes. example: None for a prompt that has no known answer."""

    example: Example | None
    traces: dict[str, Trace]

    @property
    def main(self) -> Trace:
        """The first lane, beside next-token prediction."""
        return next(iter(self.traces.values()))

    @property
    def is_right(self) -> bool:
        """Whether the SBD lane answers the prompt."""
        return self.answers(self.main)

    @property
    def are_right(self) -> bool:
        """Whether every lane does."""
        return all(map(self.answers, self.traces.values()))

    def answers(self, trace: Trace) -> bool:
        """Whether a trace's text answers the prompt."""
        example = self.example
        return example is not None and TASKS[example.task].check(example, trace.text)


@dataclass(frozen=True, slots=True)
class MixUp:
    """A story gone wrong. words: what the text says; name and species: what the prompt told.

    slow: the same prompt with gamma 0, not wrong.
    """

    run: Decoded
    slow: Trace
    gamma: float
    words: str
    name: str
    species: str

    @property
    def sentence(self) -> str:
        """What happened."""
        main = self.run.main
        return (
            f"Look at “{self.words}”: the prompt has {self.name} the {self.species}. With "
            f"γ = {self.gamma:g} one forward pass keeps guesses that cannot see each other; "
            f"{main.num_forwards} of them write {main.num_tokens} tokens. With γ = 0, in "
            f"{self.slow.num_forwards}, no name is mixed up."
        )


def stories_of_two() -> list[Example]:
    """The first held-out stories whose prompt tells two people, animals and species."""
    random = Random(SEED)
    found: list[Example] = []
    while len(found) < NUM_STORIES:
        example = stories.generate(random, "test")
        owns = read_case(example.case).owns
        if len(owns) == 2 and all(all(owner) for owner in owns):
            found.append(example)
    return found


def mixed_up(example: Example, text: str) -> tuple[str, str, str] | None:
    """(words of the text, name, its species) where an animal has the other one's species."""
    owns = read_case(example.case).owns
    for (_, species, name), (_, other, _) in (owns, owns[::-1]):
        wrong = rf"\b{name} the {other}\b|\b{other} (?:called |named )?{name}\b"
        if name and species and other and (found := re.search(wrong, text)):
            return found[0], name, species
    return None


def worst_mix_up(model: SetBlockModel) -> MixUp | None:
    """The run to show by the rule above, None if nothing is mixed up."""
    found: list[MixUp] = []
    for example in stories_of_two():
        ntp = generate(model, example.prompt, NTP)
        if not stories.check(example, ntp.text):
            continue
        for gamma in HIGH_GAMMAS:
            run = Decoded(example, {"sbd": by_blocks(model, example, gamma), "ntp": ntp})
            wrong = mixed_up(example, run.main.text)
            if wrong is not None and not run.is_right:
                slow = by_blocks(model, example, 0)
                if stories.check(example, slow.text):
                    found.append(MixUp(run, slow, gamma, *wrong))
                break
    return min(found, key=lambda mix: (mix.gamma, disagreement(mix.run.main)), default=None)


def by_blocks(model: SetBlockModel, example: Example, gamma: float) -> Trace:
    """The prompt decoded by Set Block Decoding."""
    config = DecodeConfig(solver=EntropyBound(gamma), max_new_tokens=MAX_NEW_TOKENS)
    return generate(model, example.prompt, config)


def decoded(model: SetBlockModel, example: Example) -> Decoded:
    """The prompt decoded by Set Block Decoding and by next-token prediction."""
    ntp = generate(model, example.prompt, NTP)
    return Decoded(example, {"sbd": by_blocks(model, example, DEFAULT_GAMMA), "ntp": ntp})


def share_out_of_order(trace: Trace) -> float:
    """The part of revealed tokens that landed a forward pass before one on their left."""
    passes = trace.token_passes
    return sum(a < b for a, b in zip(passes, accumulate(passes, max), strict=True)) / len(passes)


RUNS_PER_TASK = 2
HIGH_GAMMA = 4.0
NO_BOUND = 1000.0
FAILURES = "What goes wrong"


def record(model: SetBlockModel) -> list[Row]:
    """The whole gallery, in the order of the page."""
    plain = {task: [decoded(model, each) for each in preset_examples(task)] for task in tasks()}
    good = {task: [run for run in runs if run.are_right] for task, runs in plain.items()}
    shown = [row for task, runs in good.items() for row in best_of(task, runs)]
    return [*shown, *failures(model, list(chain(*good.values()))), *names_mixed_up(model)]


def best_of(task: str, right: Sequence[Decoded]) -> list[Row]:
    """The runs of a task to show: the one of most tokens a forward pass, and the least in order."""
    quick = max(right, key=lambda run: run.main.tokens_per_forward)
    others = [run for run in right if run is not quick]
    mixed = max(others, key=lambda run: share_out_of_order(run.main))
    return [
        recording(f"{task}-{n}", label_of(task), title(run), success_sentence(run, n), run)
        for n, run in enumerate((quick, mixed), 1)
    ]


SENTENCES = {
    "sudoku": (
        "The rules leave little open: {most} of {tokens} tokens come in one forward pass.",
        "{part} of the digits come before one on their left: the surest first, wherever it stands.",
    ),
    "math": (
        "“{chunk}” comes in one forward pass; the whole answer takes {passes} instead of {ntp}.",
        "{part} of the tokens come before one on their left; “{late}” comes last, all at once.",
    ),
    "code": (
        "Code is easy to foresee: “{chunk}” comes in one forward pass, all {tokens} tokens in "
        "{passes} instead of {ntp}.",
        "“{early}” is there before the token on its left; the answer takes {passes} forward passes "
        "instead of {ntp}.",
    ),
    "json": (
        "The keys stand in the request, so {tokens} tokens take {passes} forward passes instead of "
        "{ntp}.",
        "{part} of the tokens come before one on their left, and the line still fits together.",
    ),
    "story": (
        "A story is free, so fewer guesses are sure: {tokens} tokens take {passes} forward passes, "
        "and “{late}” comes last.",
        "{part} of the tokens come before one on their left: sure words wait for unsure ones.",
    ),
    "infill": (
        "The line is given and only its blanks are open: {most} of {tokens} tokens come in one "
        "forward pass.",
        "{part} of the tokens come before one on their left; “{late}” comes last.",
    ),
}
"""Of the quick run and the one out of order, by task."""
BLANK_LAST = "The blank comes last: “{late}” waits until the rest of the line is there."
MAX_QUOTED = 36


def success_sentence(run: Decoded, number: int) -> str:
    """What to look at in a run of a task, the quick one or the one out of order."""
    assert run.example is not None
    main, passes = run.main, run.main.token_passes
    words = SENTENCES[run.example.task][number - 1]
    late = quoted(main, latest(passes))
    if run.example.task == "infill" and number > 1:
        fills = json.loads(run.example.case)["fills"]
        words = BLANK_LAST if any(late in fill for fill in fills) else words
    return words.format(
        tokens=main.num_tokens,
        passes=main.num_forwards,
        ntp=run.traces["ntp"].num_forwards,
        part=f"{share_out_of_order(main):.0%}",
        most=max(Counter(passes).values()),
        chunk=quoted(main, longest_at_once(passes)),
        early=quoted(main, longest_before_left(passes)),
        late=late,
    )


def runs_at_once(passes: Sequence[int]) -> list[range]:
    """Neighbouring positions that one forward pass wrote, without the end."""
    found, start = [], 0
    for at in range(1, len(passes)):
        if passes[at] != passes[start] or at == len(passes) - 1:
            found.append(range(start, at))
            start = at
    return found


def longest_at_once(passes: Sequence[int]) -> range:
    """The first of the longest of them."""
    return max(runs_at_once(passes), key=len, default=range(0))


def longest_before_left(passes: Sequence[int]) -> range:
    """The longest of them that was there before the token on its left."""
    found = [run for run in runs_at_once(passes) if passes[run.start - 1] > passes[run.start]]
    return max((run for run in found if run.start), key=len, default=range(0))


def latest(passes: Sequence[int]) -> range:
    """The longest of them that came last."""
    runs = runs_at_once(passes)
    return max(runs, key=lambda run: (passes[run.start], len(run)), default=range(0))


def quoted(trace: Trace, positions: range) -> str:
    """Tokens as words on one line, a long text cut at its end."""
    text = "".join(trace.tokens[trace.token_ids[position]] for position in positions)
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTED else f"{line[:MAX_QUOTED].rstrip()}…"


def failures(model: SetBlockModel, good: Sequence[Decoded]) -> list[Row]:
    """One run of each kind of failure, of prompts that every lane answers rightly otherwise."""
    _, largest = model.block_range or DEFAULT_BLOCK_RANGE
    high = [again(model, run, solver=EntropyBound(HIGH_GAMMA)) for run in good]
    wide = [
        again(model, run, block_size=2 * largest, allows_untrained_block_size=True) for run in good
    ]
    blind = [again(model, run, solver=EntropyBound(NO_BOUND)) for run in good]

    def spoilt(run: Decoded) -> tuple[bool, float]:
        return not run.is_right, disagreement(run.main)

    early = [run for run in high if num_after_end(run.main) and missing_part(run) > 0]
    kinds: list[tuple[str, str, Callable[[Decoded], str], Decoded | None]] = [
        ("gamma-too-high", "γ too high", gamma_sentence, max(high, key=spoilt)),
        ("block-beyond-training", "Block beyond training", block_sentence, max(wide, key=spoilt)),
        ("early-end", "Early end", early_sentence, most_missing(early)),
        (
            *("repetition", "Repetition", repetition_sentence),
            max(blind, key=lambda run: repeated_part(run.main)),
        ),
    ]
    return [
        recording(name, FAILURES, words, tell(run), run)
        for name, words, tell, run in kinds
        if run is not None
    ]


def names_mixed_up(model: SetBlockModel) -> list[Row]:
    """The story with two names mixed up, if the model tells one, and what scores it."""
    mix = worst_mix_up(model)
    if mix is None or mix.run.example is None:
        return []
    row, traces = recording("names-mixed-up", FAILURES, title(mix.run), mix.sentence, mix.run)
    return [(replace(row, task=mix.run.example.task, case=mix.run.example.case), traces)]


def again(model: SetBlockModel, run: Decoded, **changes: object) -> Decoded:
    """The same prompt with other settings of the SBD lane."""
    config: DecodeConfig = replace(run.main.config, **changes)  # type: ignore[arg-type]
    trace = generate(model, run.main.prompt, config)
    return replace(run, traces={**run.traces, "sbd": trace})


def disagreement(trace: Trace) -> float:
    """The part of the tokens read again causally that next-token prediction would not have put."""
    checks = [item for event in trace.events for item in event.hindsight]
    return sum(item.token_id != item.argmax_id for item in checks) / len(checks) if checks else 0.0


def changed(run: Decoded) -> str:
    """How much of the answer next-token prediction would not have put."""
    share = disagreement(run.main)
    part = f"{share:.0%} of what" if share else "nothing of what"
    return f"next-token prediction would change {part} it rereads"


def num_after_end(trace: Trace) -> int:
    """How many tokens of the answer were revealed later than the end behind them."""
    if trace.finish != "end_of_sequence":
        return 0
    *landed, end = trace.token_passes
    return sum(index > end for index in landed)


def most_missing(runs: Sequence[Decoded]) -> Decoded | None:
    """The run whose answer is wrong and lacks most."""
    return min(runs, key=lambda run: (run.is_right, -missing_part(run)), default=None)


def missing_part(run: Decoded) -> float:
    """How much shorter the answer is than next-token prediction's, if both ended by themselves."""
    if any(trace.finish != "end_of_sequence" for trace in run.traces.values()):
        return 0.0
    return 1 - run.main.num_tokens / run.traces["ntp"].num_tokens


def repeated_part(trace: Trace) -> float:
    """The part of the tokens that are words or letters and repeat the token on their left."""
    texts = [trace.tokens[token_id].strip() for token_id in trace.token_ids]
    num_repeats = sum(a == b and a.isalpha() for a, b in pairwise(texts))
    return num_repeats / len(texts) if texts else 0.0


def gamma_sentence(run: Decoded) -> str:
    """What a high bound did."""
    return (
        f"With γ = {HIGH_GAMMA:g} a forward pass keeps guesses that do not fit each other: "
        f"{run.main.num_forwards} of them write {run.main.num_tokens} tokens, {verdict(run)}, and "
        f"{changed(run)}."
    )


def block_sentence(run: Decoded) -> str:
    """What a block too large did."""
    return (
        f"Blocks of {run.main.config.block_size} are twice the largest that the model was trained "
        f"on; it never saw so many masks at once, and {verdict(run)}."
    )


def early_sentence(run: Decoded) -> str:
    """What an end revealed too early did."""
    return (
        f"With γ = {HIGH_GAMMA:g} the end is revealed before {num_after_end(run.main)} of the "
        f"tokens in front of it: the answer stops after {run.main.num_tokens} tokens instead of "
        f"{run.traces['ntp'].num_tokens}, and {verdict(run)}."
    )


def repetition_sentence(run: Decoded) -> str:
    """What deciding for neighbours apart looks like."""
    main = run.main
    return (
        f"Without a bound, one forward pass reveals the whole block, and no position knows what "
        f"its neighbours say: {repeated_part(main):.0%} of {main.num_tokens} tokens are words or "
        f"letters that repeat the token on their left; next-token prediction repeats "
        f"{repeated_part(run.traces['ntp']):.0%}."
    )


def verdict(run: Decoded) -> str:
    """Right or wrong, in words."""
    return "the answer is still right" if run.is_right else "the answer is wrong"


def title(run: Decoded) -> str:
    """The prompt on one line."""
    return " ".join(run.main.prompt.split())


def recording(name: str, group: str, words: str, sentence: str, run: Decoded) -> Row:
    """A run with its place in the index."""
    lanes = cast("tuple[Strategy, ...]", tuple(run.traces))
    passes, num_ntp_passes = run.main.token_passes, run.traces["ntp"].num_forwards
    return Recording(name, group, words, sentence, lanes, passes, num_ntp_passes), run.traces


REAL_GROUP = "SmolLM2, a real model"
REAL_KINDS = ("Question", "JSON")
MAX_REAL = 96


def record_real(model: SetBlockModel) -> list[Row]:
    """The runs of a real model, as the page decodes by it: checked, then the first unchecked."""
    best = best_for(model.name, can_draft=True, has_adapter=True)
    usual = DecodeConfig(
        block_size=best.block_size or DEFAULT_BLOCK_RANGE[1], max_new_tokens=MAX_REAL
    )
    checked = replace(usual, strategy="verify", row_policy=best.row_policy)
    first = {preset.label: preset.prompts[0] for preset in presets(REAL_PRESETS)}

    def run_of(kind: str, lane: str, config: DecodeConfig) -> Decoded:
        lanes = {lane: config, "ntp": replace(usual, strategy="ntp")}
        return Decoded(None, {lane: generate(model, first[kind], c) for lane, c in lanes.items()})

    rows: list[Row] = []
    for number, kind in enumerate(REAL_KINDS, 1):
        run = run_of(kind, "verify", checked)
        words = real_sentence(run.main, run.traces["ntp"], number)
        rows.append(recording(f"real-{number}", REAL_GROUP, first[kind], words, run))
    run = run_of(REAL_KINDS[0], "sbd", replace(usual, solver=EntropyBound(DEFAULT_GAMMA)))
    words = unchecked_sentence(run)
    return [*rows, recording("real-unchecked", REAL_GROUP, "Unchecked", words, run)]


def real_sentence(trace: Trace, ntp: Trace, number: int) -> str:
    """What to look at in a checked run of the real model."""
    if trace.token_ids != ntp.token_ids:
        raise ModelError(f"verify and next-token prediction differ on {trace.prompt!r}")
    if number == 1:
        return (
            f"Every draft is checked, so no word differs from next-token prediction’s: "
            f"{trace.num_tokens} tokens in {trace.num_forwards} forward passes instead of "
            f"{ntp.num_forwards}."
        )
    most = max(Counter(trace.token_passes).values())
    return (
        f"Drafts hold where the text is easy to foresee: up to {most} tokens come in one forward "
        f"pass, and {trace.num_tokens} take {trace.num_forwards}."
    )


def unchecked_sentence(run: Decoded) -> str:
    """What the same model writes when nothing is thrown away."""
    twice = re.search(r"\b(\w+) \1\b", run.main.text)
    look = f" Look at “{twice[0]}”." if twice else ""
    return (
        f"The same question by plain Set Block Decoding, γ = {DEFAULT_GAMMA:g}: nothing is thrown "
        f"away, and {changed(run)}.{look}"
    )


def write(rows: Sequence[Row], *, are_real: bool) -> None:
    """Replace what the gallery holds of this kind; the other kind stays, the real model first."""
    GALLERY.mkdir(parents=True, exist_ok=True)
    kept = [item for item in gallery() if (item.group == REAL_GROUP) != are_real]
    files = {gallery_file(item.name, lane) for item in kept for lane in item.lanes}
    for old in set(GALLERY.glob("*.json")) - files:
        old.unlink()
    for item, traces in rows:
        for lane in item.lanes:
            file = gallery_file(item.name, lane)
            file.write_text(traces[lane].to_json() + "\n", encoding="utf-8")
        print(f"{item.name}: {item.sentence}")
    items = [item for item, _ in rows]
    listed = [asdict(item) for item in ([*items, *kept] if are_real else [*kept, *items])]
    GALLERY_INDEX.write_text(compact(listed) + "\n", encoding="utf-8")


def compact(rows: Sequence[dict[str, object]]) -> str:
    """The index as JSON, a run a line."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"[\n{lines}\n]"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m scripts.record_gallery")
    parser.add_argument("--real", action="store_true", help="the runs of the real model")
    flags = parser.parse_args()
    model = load(REAL_MODEL if flags.real else None, device="cpu")
    choose_threads(model.num_parameters)
    write(record_real(model) if flags.real else record(model), are_real=flags.real)


if __name__ == "__main__":
    main()
