"""Record the runs of the Learn view's scenes, and choose what they show.

    python -m scripts.record_learn                  with the bundled checkpoint
    python -m scripts.record_learn --model LEARN   with another one

The rules, all over held-out prompts, the page's own first. `text`: of the prompts answered in at
least NUM_TOKENS tokens, rightly if any is, the one whose first take the fewest forward passes.
`guess`: the story with the most unsure next word, and a sure one. `sudoku`: the opening run, or
another whose first empty cell is open until others are filled. `edge`: the gallery's story of
mixed-up names or the first one that a larger gamma spoils, at rising gammas. `verify`: the
story with a draft that says a word twice, of which most is accepted before. Each widens its search
before it gives up. Record presets, opening and gallery first. Not imported by the page.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise

import sbd_core
from sbd_core.config import DecodeConfig, Strategy
from sbd_core.environment import processor_name
from sbd_core.errors import SetBlockDecodingError
from sbd_core.events import MaskedPosition, StepEvent
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.threads import choose_threads
from sbd_core.rules import EntropyBound
from sbd_core.tasks import SUITES, TASKS
from sbd_core.tasks.base import Example
from sbd_core.tasks.story import UNHEARD_OF, fault_of, read_case, unheard_of
from sbd_core.tasks.sudoku import NAME, NUM_CELLS, UNITS
from sbd_core.trace import Trace
from scripts.record_gallery import stories_of_two
from scripts.write_presets import PROMPTS_PER_PRESET, held_out
from ui import recordings
from ui.decode.form import DEFAULT_GAMMA
from ui.examples import presets
from ui.recordings import LEARN, LEARN_INDEX, Choices, Clash, Edge, Order, Place, file_of

MAX_NEW_TOKENS = 128
NUM_TOKENS = 64
"""Of the answers that the scenes show."""


class NothingSuitable(SetBlockDecodingError):
    """No held-out prompt gives a scene what it shows."""


def is_right(example: Example, text: str) -> bool:
    """Whether a text answers the example."""
    return TASKS[example.task].check(example, text)


def generated(
    model: SetBlockModel,
    prompt: str,
    gamma: float = DEFAULT_GAMMA,
    max_new_tokens: int = MAX_NEW_TOKENS,
) -> Trace:
    """The prompt decoded by Set Block Decoding."""
    config = DecodeConfig(solver=EntropyBound(gamma), max_new_tokens=max_new_tokens)
    return sbd_core.generate(model, prompt, config)


def by_strategy(model: SetBlockModel, prompt: str, strategy: Strategy, tokens: int) -> Trace:
    """The prompt decoded by another strategy."""
    return sbd_core.generate(model, prompt, DecodeConfig(strategy=strategy, max_new_tokens=tokens))


def from_presets(task: str = "") -> list[Example]:
    """Of the page, those of one task or all."""
    return [
        Example(preset.task, prompt, "", case)
        for preset in presets()
        for prompt, case in zip(preset.prompts, preset.cases, strict=False)
        if task in ("", preset.task)
    ]


def drawn(task: str, count: int) -> list[Example]:
    """The first `count` of a task behind those of the page, chosen like them."""
    return list(islice(held_out(task), PROMPTS_PER_PRESET, PROMPTS_PER_PRESET + count))


def of_any_task(count: int) -> list[Example]:
    """The presets, then `count` of each task."""
    return [*from_presets(), *(example for task in SUITES for example in drawn(task, count))]


def told_of_mix_up() -> Iterator[Example]:
    """The gallery's story of mixed-up names, if it has one; then others of two people."""
    for item in recordings.gallery():
        if item.name == "names-mixed-up":
            prompt = recordings.gallery_traces(item.name)["sbd"].prompt
            yield Example(item.task, prompt, "", item.case)
    yield from stories_of_two()


NUM_OPTIONS = 3
MIN_CONTEXT = 8  # tokens before a word to be guessed
NUM_DRAWN = 40
NUM_LETTERS = 80  # before a gap, as the scene shows them
SURE, UNSURE = 0.1, (1.0, 3.0)  # nats


@dataclass(frozen=True, slots=True)
class Gap:
    """A word to be guessed: the leftmost mask of a forward pass, so that all before it is there."""

    trace: Trace
    place: Place
    item: MaskedPosition

    @property
    def words(self) -> list[str]:
        """The model's best guesses that are whole words, best first."""
        texts = [self.trace.tokens[token_id] for token_id in self.item.top_token_ids]
        return [text for text in texts if text.startswith(" ") and text.strip().isalpha()]

    @property
    def is_said_before(self) -> bool:
        """Whether the best guess stands a little before: a reader is sure of it too then."""
        before = "".join(
            self.trace.tokens[token_id] for token_id in self.trace.token_ids[: self.place.position]
        )
        return self.words[0] in before[-NUM_LETTERS:]

    @property
    def is_word(self) -> bool:
        """Whether the best guess is a word worth guessing, and there are others to choose from."""
        best = self.trace.tokens[self.item.top_token_ids[0]]
        return (
            best.startswith(" ")
            and best.strip().isalpha()
            and len(best) > NUM_OPTIONS
            and len(self.words) >= NUM_OPTIONS
        )


def gaps(trace: Trace) -> Iterator[Gap]:
    """Every gap of a run that can be guessed."""
    for event in trace.events:
        if event.masked and event.masked[0].position >= MIN_CONTEXT:
            gap = Gap(trace, Place(event.index, event.masked[0].position), event.masked[0])
            if gap.is_word:
                yield gap


def guess_run(model: SetBlockModel) -> tuple[Gap, Gap]:
    """A sure and an unsure gap of one story, a right one if any has both; else of another text."""
    found: list[tuple[bool, float, Gap, Gap]] = []
    for examples in (from_presets("story"), drawn("story", NUM_DRAWN), of_any_task(NUM_DRAWN)):
        for example in examples:
            trace = generated(model, example.prompt)
            known = list(gaps(trace))
            sure = [gap for gap in known if gap.item.entropy < SURE]
            unsure = [gap for gap in known if UNSURE[0] < gap.item.entropy < UNSURE[1]]
            if sure and unsure:
                longest = max(sure, key=lambda gap: (gap.is_said_before, len(gap.words[0])))
                other = max(unsure, key=lambda gap: gap.item.entropy)
                found.append((is_right(example, trace.text), other.item.entropy, longest, other))
        if any(right for right, *_ in found):
            break
    if not found:
        raise NothingSuitable("no text has both a sure and an unsure word")
    _, _, sure_gap, unsure_gap = max(found, key=lambda row: row[:2])
    return sure_gap, unsure_gap


NUM_PUZZLES = 200
DIGITS = "1234"


def order_run(model: SetBlockModel) -> tuple[Trace, Order]:
    """The page's opening run if it shows what order is good for, else another that does.

    Of several the one of fewest candidates, then the one whose cell is filled soonest after it is
    settled, then of most forward passes. If none does: the first that is solved, else the first.
    """
    solved: list[tuple[Trace, Order]] = []
    unsolved: list[tuple[Trace, Order]] = []
    for example, trace in puzzles(model):
        order = order_of(example.case, trace)
        if not is_right(example, trace.text):
            unsolved.append((trace, Order(order.cell, order.candidates)))
            continue
        solved.append((trace, order))
        is_opening = len(solved) == 1 and not unsolved
        if is_opening and order.settled_by and waited(trace, order) == 1:
            break

    def worth(row: tuple[Trace, Order]) -> tuple[int, int, int]:
        trace, order = row
        return -len(order.candidates), -waited(trace, order), trace.num_forwards

    shown = [row for row in solved if row[1].settled_by]
    return max(shown, key=worth) if shown else (solved or unsolved)[0]


def waited(trace: Trace, order: Order) -> int:
    """Forward passes from the one that settled the first empty cell to the one that filled it."""
    passes = trace.token_passes
    return passes[order.cell] - max(passes[cell] for cell in order.settled_by)


def puzzles(model: SetBlockModel) -> Iterator[tuple[Example, Trace]]:
    """Those of the presets, then other held-out ones."""
    for example in [*from_presets(NAME), *drawn(NAME, NUM_PUZZLES)]:
        yield example, generated(model, example.prompt)


def order_of(puzzle: str, trace: Trace) -> Order:
    """The first empty cell, what its givens leave it, and which earlier cells settle it."""
    first = puzzle.index("0")
    left = candidates(puzzle, first)
    passes = trace.token_passes
    digits = [trace.tokens[token_id].strip() for token_id in trace.token_ids[:NUM_CELLS]]
    if len(digits) < NUM_CELLS:
        return Order(first, left)
    earlier = [
        cell for cell in peers(first) if puzzle[cell] == "0" and passes[cell] < passes[first]
    ]
    settled_by: dict[str, int] = {}
    for cell in sorted(earlier, key=lambda cell: (passes[cell], cell)):
        if digits[cell] in left:
            settled_by.setdefault(digits[cell], cell)
    is_open = len(left) > 1 and not is_only_place(puzzle, first, digits[first])
    is_settled = len(settled_by) == len(left) - 1 and digits[first] not in settled_by
    return Order(first, left, tuple(settled_by.values()) if is_open and is_settled else ())


def peers(cell: int) -> list[int]:
    """The other cells of a cell's row, column and box."""
    return sorted({other for unit in UNITS if cell in unit for other in unit} - {cell})


def candidates(puzzle: str, cell: int) -> str:
    """The digits that no given of the cell's row, column and box has."""
    taken = {puzzle[other] for other in peers(cell)}
    return "".join(digit for digit in DIGITS if digit not in taken)


def is_only_place(puzzle: str, cell: int, digit: str) -> bool:
    """Whether the givens leave the digit no other cell in a row, column or box of the cell."""
    return any(
        all(
            puzzle[other] != "0" or digit not in candidates(puzzle, other)
            for other in unit
            if other != cell
        )
        for unit in UNITS
        if cell in unit
    )


NUM_VERIFIED = 100
WHOLE_WORD = re.compile(r" [A-Za-z]{3,}")


def checks(trace: Trace) -> Iterator[tuple[int, tuple[bool, int]]]:
    """(forward pass, how much its check of a draft shows) for every draft that was checked.

    That a whole word stands for one that the draft says twice is best: a reader sees that it is
    wrong. Then that much is accepted. One that the tiles have no room for is left out: before it
    they show what the last check accepted.
    """
    for before, event in zip(trace.events, trace.events[1:], strict=False):
        pairs = list(zip(before.draft, event.committed, strict=False))
        kept = next((at for at, (a, b) in enumerate(pairs) if a != b), len(pairs))
        gone = len(before.draft) - kept
        fits = len(before.committed) + len(before.draft) <= trace.config.block_size
        if fits and kept and gone and kept < len(pairs):
            words = [trace.tokens[token_id] for token_id in pairs[kept]]
            are_words = all(WHOLE_WORD.fullmatch(text) for text in words)
            yield event.index, (are_words and before.draft[kept] == before.draft[kept - 1], kept)


def verify_run(model: SetBlockModel) -> tuple[Trace, int, Trace]:
    """A run of drafts, the forward pass to look at, and the prompt by next-token prediction."""
    found = []
    for example in (*from_presets("story"), *drawn("story", NUM_VERIFIED)):
        trace = by_strategy(model, example.prompt, "verify", MAX_NEW_TOKENS)
        rows = [(value, -at) for at, value in checks(trace) if at > 1]
        if rows:
            value, at = max(rows)
            rank = (is_right(example, trace.text), value, trace.tokens_per_forward, at)
            found.append((rank, trace))
    if not found:
        raise NothingSuitable("no draft of verify is kept in part")
    (_, _, _, at), trace = max(found, key=lambda row: row[0])
    return trace, -at, by_strategy(model, trace.prompt, "ntp", MAX_NEW_TOKENS)


GAMMAS = (0.0, DEFAULT_GAMMA, 0.2, 0.35, 0.6, 1.0, 2.0, 4.0)
UNLIKELY = 0.2
NUM_STORIES = 100
WORD = re.compile(r"[A-Za-z']+|\d+")
WORDS_TWICE = re.compile(r"\b(\w+ \w+) \1\b")
SIGN_TWICE = re.compile(r"([A-Za-z']+)([.,!?])\s*\2")

FaultOf = Callable[[Example, str], str]
Decode = Callable[[str, float], Trace]
Rows = list[tuple[Edge, Trace]]


def edge_runs(model: SetBlockModel) -> Rows:
    """One prompt at rising gammas, right up to one of them and wrong at those after it.

    Right up to the page's gamma if there is such a story, else at gamma 0; if there is none, right
    is what has no clash. Of the first of these kinds that there is: the first prompt that stays
    wrong from there on, else the one wrong at most gammas.
    """
    decode = cache(lambda prompt, gamma: generated(model, prompt, gamma))
    for check, least in ((story_fault, DEFAULT_GAMMA), (story_fault, 0.0), (whatever, 0.0)):
        rows = best_rows([(example, check) for example in stories()], decode, least)
        if rows:
            return rows
    raise NothingSuitable(f"no gamma up to {GAMMAS[-1]} makes the words of a story clash")


@cache
def stories() -> tuple[Example, ...]:
    """The stories that are tried, in this order."""
    return (*told_of_mix_up(), *from_presets("story"), *drawn("story", NUM_STORIES))


def case_of(prompt: str) -> str:
    """What the check of a story needs, by the prompt of one that was tried."""
    return next(story.case for story in stories() if story.prompt == prompt)


def story_fault(example: Example, text: str) -> str:
    """What keeps a story from the facts that its prompt tells, "" for nothing."""
    return fault_of(read_case(example.case), text)


def whatever(_: Example, __: str) -> str:
    """Any text will do."""
    return ""


def best_rows(
    examples: Iterable[tuple[Example, FaultOf]],
    decode: Decode,
    least: float,
) -> Rows:
    """The rows of the first example that breaks and stays so, else of that with most of them."""
    best: Rows = []
    for example, check in examples:
        rows = rising(example, check, decode, least)
        if rows and not rows[-1][0].is_right and len(rows) > len(best):
            best = rows
        if len(best) == len(GAMMAS):
            break
    return best


def rising(example: Example, check: FaultOf, decode: Decode, least: float) -> Rows:
    """The example at rising gammas, for as long as right comes before wrong and a clash shows.

    It must be right at `least` and below.
    """
    rows: Rows = []
    for gamma in GAMMAS:
        trace = decode(example.prompt, gamma)
        doubled = list(doubled_words(trace))
        has_facts = check is story_fault
        fault = check(example, trace.text) or fault_in_words(trace, doubled)
        if not fault:
            if rows and not rows[-1][0].is_right:
                break
            rows.append((Edge(gamma=gamma, is_right=True, has_facts=has_facts), trace))
            continue
        plain = [*doubled, *doubled_signs(trace), *unheard_words(trace)]
        clashes = (*plain, *words_that_do_not_fit(trace, plain))
        if gamma <= least or not clashes:
            break
        rows.append((Edge(gamma, is_right=False, fault=fault, clashes=clashes), trace))
    return rows


def fault_in_words(trace: Trace, doubled: list[Clash]) -> str:
    """Words or a sign that follow themselves, or a word that is neither the prompt's nor of
    stories that were written by rule; "" if there is none.

    A check of names and facts lets a word pass that was put together from pieces of two.
    """
    if doubled:
        return f"it has a word twice in a row, “{doubled[0].words}”"
    if (twice := WORDS_TWICE.search(trace.text)) is not None:
        return f"it has words twice in a row, “{twice[0]}”"
    if (sign := SIGN_TWICE.search(trace.text)) is not None:
        return f"it has a sign twice in a row, “{sign[0]}”"
    words = [found[0] for found in unheard_of(trace.text, [trace.prompt])]
    return f"“{words[0]}” {UNHEARD_OF}" if words else ""


def doubled_words(trace: Trace) -> Iterator[Clash]:
    """Every word that follows itself, a token of each filled by the same forward pass."""
    text, spans, passes = laid_out(trace)
    words = list(WORD.finditer(text))
    for one, two in pairwise(words):
        if one[0] != two[0] or text[one.end() : two.start()].strip():
            continue
        first, second = (tokens_in(spans, *word.span()) for word in (one, two))
        shared = {passes[at] for at in first} & {passes[at] for at in second}
        for index in sorted(shared)[:1]:
            yield Clash(text[one.start() : two.end()], first[0], second[-1] + 1, index)


def doubled_signs(trace: Trace) -> Iterator[Clash]:
    """Every sign that follows itself, both filled by the same forward pass, after its word."""
    text, spans, passes = laid_out(trace)
    for found in SIGN_TWICE.finditer(text):
        tokens = tokens_in(spans, *found.span())
        if passes[tokens[-1]] == passes[tokens[-2]]:
            yield Clash(found[0], tokens[-2], tokens[-1] + 1, passes[tokens[-1]])


def unheard_words(trace: Trace) -> Iterator[Clash]:
    """Every word of no prompt or story, two of whose tokens one forward pass filled."""
    text, spans, passes = laid_out(trace)
    for found in unheard_of(text, [trace.prompt]):
        tokens = tokens_in(spans, *found.span())
        filled = Counter(passes[at] for at in tokens)
        for index, number in filled.most_common(1):
            if number > 1:
                yield Clash(found[0], tokens[0], tokens[-1] + 1, index)


def words_that_do_not_fit(trace: Trace, found: list[Clash]) -> Iterator[Clash]:
    """Words round every two neighbouring tokens that one forward pass filled, of which the causal
    reading finds the second unlikely after the first."""
    text, spans, passes = laid_out(trace)
    taken = {at for clash in found for at in range(clash.start, clash.end)}
    doubted = {
        item.position
        for event in trace.events
        for item in event.hindsight
        if item.token_id != item.argmax_id and item.probability < UNLIKELY
    }
    words = [word.span() for word in WORD.finditer(text)]
    for at in sorted(doubted):
        pair = {at - 1, at}
        if not at or passes[at] != passes[at - 1] or pair & taken:
            continue
        inside = [span for span in words if pair & set(tokens_in(spans, *span))]
        if len(inside) < 1 or text[inside[0][0] : inside[-1][1]].isdigit():
            continue
        tokens = tokens_in(spans, inside[0][0], inside[-1][1])
        taken |= set(tokens)
        shown = text[inside[0][0] : inside[-1][1]]
        if pair <= set(tokens):
            yield Clash(shown, tokens[0], tokens[-1] + 1, passes[at])


def laid_out(trace: Trace) -> tuple[str, list[tuple[int, int]], tuple[int, ...]]:
    """The answer's text, the letters of each token in it, and the forward pass that filled each."""
    texts = [trace.tokens[token_id] for token_id in trace.token_ids]
    spans, end = [], 0
    for text in texts:
        spans.append((end, end + len(text)))
        end += len(text)
    return "".join(texts), spans, trace.token_passes


def tokens_in(spans: list[tuple[int, int]], start: int, end: int) -> list[int]:
    """The tokens that have letters between two places of the text."""
    return [at for at, (left, right) in enumerate(spans) if left < end and start < right]


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
        processor=processor_name(),
    )
    return runs, choices


def write(runs: dict[str, Trace], choices: Choices) -> None:
    """Replace what the scenes' folder holds."""
    LEARN.mkdir(parents=True, exist_ok=True)
    for old in LEARN.glob("*.json"):
        old.unlink()
    for name, trace in runs.items():
        file_of(name).write_text(trace.to_json() + "\n", encoding="utf-8")
        print(f"{name}: {trace.num_tokens} tokens, {trace.num_forwards} forward passes")
    LEARN_INDEX.write_text(choices.to_json() + "\n", encoding="utf-8")


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
