"""One story at rising gammas, and the words that clash where it breaks."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise

from sbd_core.models.protocol import SetBlockModel
from sbd_core.tasks.base import Example
from sbd_core.tasks.story.facts import UNHEARD_OF, fault_of, read_case
from sbd_core.tasks.story.vocabulary import unheard_of
from sbd_core.trace import Trace
from scripts.record_learn.examples import drawn, from_presets, told_of_mix_up
from scripts.record_learn.runs import NothingSuitable, generated
from ui.decode.form import DEFAULT_GAMMA
from ui.learn.recorded import Clash, Edge

GAMMAS = (0.0, DEFAULT_GAMMA, 0.2, 0.35, 0.6, 1.0, 2.0, 4.0)
UNLIKELY = 0.2
NUM_STORIES = 100
WORD = re.compile(r"[A-Za-z']+|\d+")

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
        plain = [*doubled, *unheard_words(trace)]
        clashes = (*plain, *words_that_do_not_fit(trace, plain))
        if gamma <= least or not clashes:
            break
        rows.append((Edge(gamma, is_right=False, fault=fault, clashes=clashes), trace))
    return rows


def fault_in_words(trace: Trace, doubled: list[Clash]) -> str:
    """A word that follows itself, or one that is neither the prompt's nor of stories that were
    written by rule; "" if there is none.

    A check of names and facts lets a word pass that was put together from pieces of two.
    """
    if doubled:
        return f"it has a word twice in a row, “{doubled[0].words}”"
    words = [found[0] for found in unheard_of(trace.text, [trace.prompt])]
    return f"“{words[0]}” {UNHEARD_OF}" if words else ""


def doubled_words(trace: Trace) -> Iterator[Clash]:
    """Every word that follows itself, a token of each filled by the same forward pass."""
    text, spans, calls = laid_out(trace)
    words = list(WORD.finditer(text))
    for one, two in pairwise(words):
        if one[0] != two[0] or text[one.end() : two.start()].strip():
            continue
        first, second = (tokens_in(spans, *word.span()) for word in (one, two))
        shared = {calls.get(at) for at in first} & {calls.get(at) for at in second} - {None}
        for call in sorted(call for call in shared if call is not None)[:1]:
            yield Clash(text[one.start() : two.end()], first[0], second[-1] + 1, call)


def unheard_words(trace: Trace) -> Iterator[Clash]:
    """Every word of no prompt or story, two of whose tokens one forward pass filled."""
    text, spans, calls = laid_out(trace)
    for found in unheard_of(text, [trace.prompt]):
        tokens = tokens_in(spans, *found.span())
        filled = Counter(calls[at] for at in tokens if at in calls)
        for call, number in filled.most_common(1):
            if number > 1:
                yield Clash(found[0], tokens[0], tokens[-1] + 1, call)


def words_that_do_not_fit(trace: Trace, found: list[Clash]) -> Iterator[Clash]:
    """Words round every two neighbouring tokens that one forward pass filled, of which the causal
    reading finds the second unlikely after the first."""
    text, spans, calls = laid_out(trace)
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
        if at not in calls or calls[at] != calls.get(at - 1) or pair & taken:
            continue
        inside = [span for span in words if pair & set(tokens_in(spans, *span))]
        if len(inside) < 1 or text[inside[0][0] : inside[-1][1]].isdigit():
            continue
        tokens = tokens_in(spans, inside[0][0], inside[-1][1])
        taken |= set(tokens)
        shown = text[inside[0][0] : inside[-1][1]]
        if pair <= set(tokens):
            yield Clash(shown, tokens[0], tokens[-1] + 1, calls[at])


def laid_out(trace: Trace) -> tuple[str, list[tuple[int, int]], dict[int, int]]:
    """The answer's text, the letters of each token in it, and the forward pass that filled each."""
    texts = [trace.tokens[token_id] for token_id in trace.token_ids]
    spans, end = [], 0
    for text in texts:
        spans.append((end, end + len(text)))
        end += len(text)
    calls = {item.position: event.index for event in trace.events for item in event.reveals}
    return "".join(texts), spans, calls


def tokens_in(spans: list[tuple[int, int]], start: int, end: int) -> list[int]:
    """The tokens that have letters between two places of the text."""
    return [at for at, (left, right) in enumerate(spans) if left < end and start < right]
