"""Record the gallery: up to three runs of every task, and instructive failures.

    python -m scripts.record_gallery                  with the bundled checkpoint
    python -m scripts.record_gallery --model FOLDER   with another one

The rule: of a task's preset prompts, the three that both lanes answer rightly in the fewest forward
passes a token, filled up from further held-out prompts in their order; of each kind of failure, the
run in which it shows most, see the functions. The sentences are written from the traces. Not
imported by the page.

Mixed-up names: of the first held-out stories about two people with an animal each, those in which
Set Block Decoding with some gamma gives an animal the other one's species, while next-token
prediction and gamma 0 keep to every fact of the prompt; of these the one of the smallest such
gamma that next-token prediction agrees with most. So revealing in parallel is what mixes them up.
"""

import argparse
import json
import re
from collections.abc import Callable, Container, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice, pairwise
from random import Random

import sbd_core
from sbd_core.config import DecodeConfig
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
from ui.form.controls import DEFAULT_BLOCK_RANGE
from ui.recordings import GALLERY, GALLERY_INDEX, Recording, gallery_file

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
        main, ntp = self.traces["sbd"], self.traces["ntp"]
        return (
            f"One fault with γ = {self.gamma:g} nats, maybe not the only one: two names are mixed "
            f"up, the prompt has {self.name} the {self.species}, the text “{self.words}”; "
            f"{main.num_forwards} forward passes for {main.num_tokens} tokens. It comes of "
            f"revealing in parallel: with γ = 0, in {self.slow.num_forwards} forward passes for "
            f"{self.slow.num_tokens} tokens, every fact that is checked is kept, and so it is by "
            f"next-token prediction, in {ntp.num_forwards}."
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


RUNS_PER_TASK = 3
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
    """The runs of a task to show: of the right ones, those of most tokens a forward pass."""
    right = [run for run in runs if run.are_right]
    order = sorted(right, key=lambda run: run.main.tokens_per_forward, reverse=True)
    presets = {run.main.prompt for run in runs}
    more = islice((e for e in held_out(task) if e.prompt not in presets), MAX_MORE_PROMPTS)
    while len(order) < RUNS_PER_TASK and (example := next(more, None)) is not None:
        run = Decoded(example, decoded(model, example.prompt, DEFAULT_GAMMA))
        if run.are_right:
            order.append(run)
    return [
        named(f"{task}-{number}", label_of(task), success_sentence(run), run, presets)
        for number, run in enumerate(order[:RUNS_PER_TASK], 1)
    ]


def named(
    name: str, group: str, sentence: str, run: Decoded, presets: Container[str]
) -> tuple[Recording, dict[str, Trace]]:
    """A run with its place in the index; where its prompt is no preset, with what scores it."""
    row, traces = recording(name, group, title(run), sentence, run)
    if run.example is not None and run.main.prompt not in presets:
        row = replace(row, task=run.example.task, case=run.example.case)
    return row, traces


def success_sentence(run: Decoded) -> str:
    """What to look at in a run of a task."""
    main, ntp = run.main, run.traces["ntp"]
    part = share_out_of_order(main)
    gamma = solver_parameters(main.config.solver)["gamma"]
    order = (
        f"{part:.0%} of the tokens landed before one on their left"
        if part
        else "no token landed before one on its left"
    )
    other = "" if main.num_tokens == ntp.num_tokens else f" for its {ntp.num_tokens}"
    return (
        f"With γ = {gamma:g} nats: {main.num_tokens} tokens in {main.num_forwards} forward passes "
        f"where next-token prediction takes {ntp.num_forwards}{other}; {order}; "
        "the answer is right."
    )


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
        f"With γ = {HIGH_GAMMA:g} nats a forward pass may gamble: "
        f"{run.main.num_forwards} of them for {run.main.num_tokens} tokens, and next-token "
        f"prediction would not have put "
        f"{disagreement(run.main):.0%} of those it read again; {verdict(run)}."
    )


def block_sentence(run: Decoded) -> str:
    """What a block too large did."""
    return (
        f"Blocks of {run.main.config.block_size}, twice the largest it was trained on: so many "
        f"masks at once are new to the model, and {verdict(run)}."
    )


def early_sentence(run: Decoded) -> str:
    """What an end revealed too early did."""
    return (
        f"{bounds(run)} the end was revealed before {num_after_end(run.main)} of the tokens in "
        f"front of it: {run.main.num_tokens} tokens where next-token prediction writes "
        f"{run.traces['ntp'].num_tokens}, and {verdict(run)}."
    )


def bounds(run: Decoded) -> str:
    """Which setting of a run that goes wrong is beyond the usual, as a sentence begins."""
    config = run.main.config
    if config.block_size != run.traces["ntp"].config.block_size:
        return f"With blocks of {config.block_size}, twice the largest it was trained on,"
    return f"With γ = {solver_parameters(config.solver)['gamma']:g} nats,"


def repetition_sentence(run: Decoded) -> str:
    """What deciding for neighbours apart looks like."""
    main = run.main
    return (
        f"With a γ that bounds nothing a block is revealed at once, and no position knows what "
        f"its neighbours will say: {main.num_forwards} forward passes for {main.num_tokens} "
        f"tokens, {repeated_part(main):.0%} of them words or letters that repeat the token on "
        f"their left; next-token prediction repeats {repeated_part(run.traces['ntp']):.0%}."
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
    return Recording(name, group, words, sentence, ("sbd", "ntp")), run.traces


def write(rows: Sequence[tuple[Recording, dict[str, Trace]]]) -> None:
    """Replace what the gallery's folder holds."""
    GALLERY.mkdir(parents=True, exist_ok=True)
    for old in GALLERY.glob("*.json"):
        old.unlink()
    for item, traces in rows:
        for lane in item.lanes:
            file = gallery_file(item.name, lane)
            file.write_text(traces[lane].to_json() + "\n", encoding="utf-8")
        print(f"{item.name}: {item.sentence}")
    index = json.dumps([asdict(item) for item, _ in rows], indent=2, ensure_ascii=False)
    GALLERY_INDEX.write_text(index + "\n", encoding="utf-8")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m scripts.record_gallery")
    parser.add_argument("--model", help="model folder; default: the bundled checkpoint")
    flags = parser.parse_args()
    model = sbd_core.load(flags.model, device="cpu")
    choose_threads(model.num_parameters)
    write(record(model))


if __name__ == "__main__":
    main()
