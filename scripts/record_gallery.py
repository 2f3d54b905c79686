"""Record the gallery: two runs of every task, instructive failures, and a real model.

    python -m scripts.record_gallery                  with the bundled checkpoint
    python -m scripts.record_gallery --model FOLDER   with another one
    python -m scripts.record_gallery --real           the runs of the real model alone

The rule: of a task's preset prompts that both lanes answer rightly, the one in the fewest forward
passes a token, and of the others the one most out of order; filled up from further held-out prompts
in their order. Of each kind of failure, the run in which it shows most, see the functions. Of the
real model its first question and its first JSON, and that question unchecked. The sentences are
written from the traces. Not imported by the page.

Mixed-up names: of the first held-out stories about two people with an animal each, those in which
Set Block Decoding with some gamma gives an animal the other one's species, while next-token
prediction and gamma 0 keep to every fact of the prompt; of these the one of the smallest such
gamma that next-token prediction agrees with most. So revealing in parallel is what mixes them up.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice, pairwise
from random import Random
from typing import cast

import sbd_core
from sbd_core.config import DecodeConfig, Strategy
from sbd_core.errors import ModelError
from sbd_core.models.checkpoint_info import REAL_MODEL
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.threads import choose_threads
from sbd_core.rules import EntropyBound, solver_parameters
from sbd_core.tasks import TASKS
from sbd_core.tasks import story as stories
from sbd_core.tasks.base import Example
from sbd_core.tasks.story import read_case
from sbd_core.trace import Trace
from scripts.write_presets import held_out, label_of, preset_examples, tasks
from ui.decode.form import DEFAULT_GAMMA
from ui.examples import presets
from ui.form.controls import DEFAULT_BLOCK_RANGE
from ui.form.measured import best_for
from ui.recordings import GALLERY, GALLERY_INDEX, Recording, gallery, gallery_file

SEED = 20
NUM_STORIES = 120
HIGH_GAMMAS = (0.35, 0.5, 1.0, 2.0)
MAX_NEW_TOKENS = 128


@dataclass(frozen=True, slots=True)
class MixUp:
    """A story gone wrong. words: what the text says; name and species: what the prompt told.

    slow: the same prompt with gamma 0, not wrong.
    """

    example: Example
    traces: dict[str, Trace]
    slow: Trace
    gamma: float
    words: str
    name: str
    species: str

    @property
    def sentence(self) -> str:
        """What happened."""
        main = self.traces["sbd"]
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


def worst_mix_up(model: SetBlockModel, doubt: Callable[[Trace], float]) -> MixUp | None:
    """The run to show by the rule above, None if nothing is mixed up. doubt: less is shown."""
    found: list[MixUp] = []
    for example in stories_of_two():
        plain = DecodeConfig(strategy="ntp", max_new_tokens=MAX_NEW_TOKENS)
        ntp = sbd_core.generate(model, example.prompt, plain)
        if not stories.check(example, ntp.text):
            continue
        for gamma in HIGH_GAMMAS:
            main = by_blocks(model, example, gamma)
            wrong = mixed_up(example, main.text)
            if wrong is not None and not stories.check(example, main.text):
                slow = by_blocks(model, example, 0)
                if stories.check(example, slow.text):
                    found.append(MixUp(example, {"sbd": main, "ntp": ntp}, slow, gamma, *wrong))
                break
    worth = [(item.gamma, doubt(item.traces["sbd"]), item) for item in found]
    return min(worth, key=lambda row: row[:2])[2] if worth else None


def by_blocks(model: SetBlockModel, example: Example, gamma: float) -> Trace:
    """The prompt decoded by Set Block Decoding."""
    config = DecodeConfig(solver=EntropyBound(gamma), max_new_tokens=MAX_NEW_TOKENS)
    return sbd_core.generate(model, example.prompt, config)


def decoded(model: SetBlockModel, prompt: str, gamma: float) -> dict[str, Trace]:
    """The prompt decoded by Set Block Decoding and by next-token prediction."""
    settings: dict[str, DecodeConfig] = {
        "sbd": DecodeConfig(solver=EntropyBound(gamma), max_new_tokens=MAX_NEW_TOKENS),
        "ntp": DecodeConfig(strategy="ntp", max_new_tokens=MAX_NEW_TOKENS),
    }
    return {lane: sbd_core.generate(model, prompt, config) for lane, config in settings.items()}


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


RUNS_PER_TASK = 2
MAX_MORE_PROMPTS = 150
"""Held-out prompts of a task beside its presets, where too few of those are answered rightly."""
HIGH_GAMMA = 4.0
NO_BOUND = 1000.0
FAILURES = "What goes wrong"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A prompt and its lanes. example: None for a prompt that has no known answer."""

    example: Example | None
    traces: dict[str, Trace]

    @property
    def main(self) -> Trace:
        """The SBD lane."""
        return self.traces["sbd"]

    @property
    def is_right(self) -> bool:
        """Whether the SBD lane answers the prompt."""
        return self.example is not None and is_right(self.example, self.main)

    @property
    def are_right(self) -> bool:
        """Whether every lane does."""
        example = self.example
        return example is not None and all(is_right(example, t) for t in self.traces.values())


def is_right(example: Example, trace: Trace) -> bool:
    """Whether a trace's text answers the example."""
    return TASKS[example.task].check(example, trace.text)


def record(model: SetBlockModel) -> list[tuple[Recording, dict[str, Trace]]]:
    """The whole gallery, in the order of the page."""
    plain = {
        task: [Decoded(e, decoded(model, e.prompt, DEFAULT_GAMMA)) for e in preset_examples(task)]
        for task in tasks()
    }
    shown = [row for task, runs in plain.items() for row in best_of(model, task, runs)]
    everything = [run for runs in plain.values() for run in runs]
    return [*shown, *failures(model, everything), *names_mixed_up(model)]


def best_of(
    model: SetBlockModel, task: str, runs: Sequence[Decoded]
) -> list[tuple[Recording, dict[str, Trace]]]:
    """The runs of a task to show: the one of most tokens a forward pass, and the least in order."""
    right = [run for run in runs if run.are_right]
    presets = {run.main.prompt for run in runs}
    more = islice((e for e in held_out(task) if e.prompt not in presets), MAX_MORE_PROMPTS)
    while len(right) < RUNS_PER_TASK and (example := next(more, None)) is not None:
        run = Decoded(example, decoded(model, example.prompt, DEFAULT_GAMMA))
        if run.are_right:
            right.append(run)
    quick = max(right, key=lambda run: run.main.tokens_per_forward)
    others = [run for run in right if run is not quick]
    mixed = max(others, key=lambda run: share_out_of_order(run.main))
    return [
        named(f"{task}-{number}", label_of(task), success_sentence(run, number), run, presets)
        for number, run in enumerate((quick, mixed), 1)
    ]


def named(
    name: str, group: str, sentence: str, run: Decoded, presets: Container[str]
) -> tuple[Recording, dict[str, Trace]]:
    """A run with its place in the index; where its prompt is no preset, with what scores it."""
    row, traces = recording(name, group, title(run), sentence, run)
    if run.example is not None and run.main.prompt not in presets:
        row = replace(row, task=run.example.task, case=run.example.case)
    return row, traces


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
    main, passes = run.main, passes_of(run.main)
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


def passes_of(trace: Trace) -> list[int]:
    """For each token of the answer the forward pass that wrote it: checked, if it is a draft."""
    passes: dict[int, int] = {}
    position = 0
    for event in trace.events:
        if trace.config.strategy != "sbd":
            passes |= dict.fromkeys(range(position, position + len(event.committed)), event.index)
            position += len(event.committed)
        else:
            passes |= {reveal.position: event.index for reveal in event.reveals}
    return [passes[position] for position in range(trace.num_tokens)]


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
    early = [
        run
        for run in runs_at_once(passes)
        if run.start and passes[run.start - 1] > passes[run.start]
    ]
    return max(early, key=len, default=range(0))


def latest(passes: Sequence[int]) -> range:
    """The longest of them that came last."""
    return max(
        runs_at_once(passes), key=lambda run: (passes[run.start], len(run)), default=range(0)
    )


def quoted(trace: Trace, positions: range) -> str:
    """Tokens as words on one line, a long text cut at its end."""
    text = "".join(trace.tokens[trace.token_ids[position]] for position in positions)
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTED else f"{line[:MAX_QUOTED].rstrip()}…"


def failures(
    model: SetBlockModel, runs: Sequence[Decoded]
) -> list[tuple[Recording, dict[str, Trace]]]:
    """One run of each kind of failure, of prompts that every lane answers rightly otherwise."""
    _, largest = model.block_range or DEFAULT_BLOCK_RANGE
    good = [run for run in runs if run.are_right]
    high = [again(model, run, solver=EntropyBound(HIGH_GAMMA)) for run in good]
    wide = [
        again(model, run, block_size=2 * largest, allows_untrained_block_size=True) for run in good
    ]
    blind = [again(model, run, solver=EntropyBound(NO_BOUND)) for run in good]

    def spoilt(run: Decoded) -> tuple[bool, float]:
        return not run.is_right, disagreement(run.main)

    gamma, block = max(high, key=spoilt), max(wide, key=spoilt)
    early = [run for run in [*high, *wide] if num_after_end(run.main) and missing_part(run) > 0]
    stutter = max(blind, key=lambda run: repeated_part(run.main))
    rows: list[tuple[str, str, Callable[[Decoded], str], Decoded]] = [
        ("gamma-too-high", "γ too high", gamma_sentence, gamma),
        ("block-beyond-training", "Block beyond training", block_sentence, block),
        *(("early-end", "Early end", early_sentence, run) for run in most_missing(early)),
        ("repetition", "Repetition", repetition_sentence, stutter),
    ]
    return [recording(name, FAILURES, words, tell(run), run) for name, words, tell, run in rows]


def names_mixed_up(model: SetBlockModel) -> list[tuple[Recording, dict[str, Trace]]]:
    """The story with two names mixed up, if the model tells one."""
    mix = worst_mix_up(model, disagreement)
    if mix is None:
        return []
    run = Decoded(mix.example, mix.traces)
    return [named("names-mixed-up", FAILURES, mix.sentence, run, ())]


def again(model: SetBlockModel, run: Decoded, **changes: object) -> Decoded:
    """The same prompt with other settings of the SBD lane."""
    config: DecodeConfig = replace(run.main.config, **changes)  # type: ignore[arg-type]
    trace = sbd_core.generate(model, run.main.prompt, config)
    return replace(run, traces={**run.traces, "sbd": trace})


def disagreement(trace: Trace) -> float:
    """The part of the tokens read again causally that next-token prediction would not have put."""
    checks = [item for event in trace.events for item in event.hindsight]
    return sum(item.token_id != item.argmax_id for item in checks) / len(checks) if checks else 0.0


def num_after_end(trace: Trace) -> int:
    """How many tokens of the answer were revealed later than the end behind them."""
    if trace.finish != "end_of_sequence":
        return 0
    landed = {item.position: event.index for event in trace.events for item in event.reveals}
    end = trace.num_tokens - 1
    return sum(landed[position] > landed[end] for position in range(end))


def most_missing(runs: Sequence[Decoded]) -> list[Decoded]:
    """The run whose answer is wrong and lacks most; none of none."""
    return sorted(runs, key=lambda run: (run.is_right, -missing_part(run)))[:1]


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
        f"next-token prediction would change {disagreement(run.main):.0%} of what it rereads."
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
        f"{bounds(run)} the end is revealed before {num_after_end(run.main)} of the tokens in "
        f"front of it: the answer stops after {run.main.num_tokens} tokens instead of "
        f"{run.traces['ntp'].num_tokens}, and {verdict(run)}."
    )


def bounds(run: Decoded) -> str:
    """Which setting of a run that goes wrong is beyond the usual, as a sentence begins."""
    config = run.main.config
    if config.block_size != run.traces["ntp"].config.block_size:
        return f"With blocks of {config.block_size}, twice the largest it was trained on,"
    return f"With γ = {solver_parameters(config.solver)['gamma']:g}"


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


def recording(
    name: str, group: str, words: str, sentence: str, run: Decoded
) -> tuple[Recording, dict[str, Trace]]:
    """A run with its place in the index."""
    lanes = cast("tuple[Strategy, ...]", tuple(run.traces))
    num_ntp_passes = run.traces["ntp"].num_forwards
    main = next(iter(run.traces.values()))
    row = Recording(name, group, words, sentence, lanes, tuple(passes_of(main)), num_ntp_passes)
    return row, run.traces


REAL_GROUP = "SmolLM2, a real model"
REAL_PRESETS = "presets-english.json"
REAL_KINDS = ("Question", "JSON")
MAX_REAL = 96


def record_real(model: SetBlockModel) -> list[tuple[Recording, dict[str, Trace]]]:
    """The runs of a real model, as the page decodes by it: checked, then the first unchecked."""
    best = best_for(model.name, can_draft=True, has_adapter=True)
    size = best.block_size or DEFAULT_BLOCK_RANGE[1]
    lanes: dict[Strategy, DecodeConfig] = {
        "verify": DecodeConfig(
            strategy="verify",
            block_size=size,
            row_policy=best.row_policy,
            max_new_tokens=MAX_REAL,
        ),
        "ntp": DecodeConfig(strategy="ntp", max_new_tokens=MAX_REAL),
    }
    first = {preset.label: preset.prompts[0] for preset in presets(REAL_PRESETS)}
    rows: list[tuple[Recording, dict[str, Trace]]] = []
    for number, kind in enumerate(REAL_KINDS, 1):
        traces: dict[str, Trace] = {
            lane: sbd_core.generate(model, first[kind], config) for lane, config in lanes.items()
        }
        words = real_sentence(traces["verify"], traces["ntp"], number)
        run = Decoded(None, traces)
        rows.append(recording(f"real-{number}", REAL_GROUP, first[kind], words, run))
    unchecked = DecodeConfig(
        solver=EntropyBound(DEFAULT_GAMMA), block_size=size, max_new_tokens=MAX_REAL
    )
    main = sbd_core.generate(model, first[REAL_KINDS[0]], unchecked)
    run = Decoded(None, {"sbd": main, "ntp": rows[0][1]["ntp"]})
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
    most = max(Counter(passes_of(trace)).values())
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
        f"away, and next-token prediction would change {disagreement(run.main):.0%} of what it "
        f"rereads.{look}"
    )


def write(rows: Sequence[tuple[Recording, dict[str, Trace]]], *, are_real: bool) -> None:
    """Replace what the gallery holds of this kind; the other kind stays, the real model last."""
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
    listed = [asdict(item) for item in ([*kept, *items] if are_real else [*items, *kept])]
    GALLERY_INDEX.write_text(compact(listed) + "\n", encoding="utf-8")


def compact(rows: Sequence[dict[str, object]]) -> str:
    """The index as JSON, a run a line."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"[\n{lines}\n]"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m scripts.record_gallery")
    parser.add_argument("--model", help="model folder; default: the bundled checkpoint")
    parser.add_argument("--real", action="store_true", help="the runs of the real model alone")
    flags = parser.parse_args()
    model = sbd_core.load(flags.model or (REAL_MODEL if flags.real else None), device="cpu")
    choose_threads(model.num_parameters)
    write(record_real(model) if flags.real else record(model), are_real=flags.real)


if __name__ == "__main__":
    main()
