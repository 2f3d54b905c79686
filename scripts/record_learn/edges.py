"""One story at rising gammas, and the words that clash where it breaks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sbd_core.models.protocol import SetBlockModel
from sbd_core.tasks.base import Example
from sbd_core.trace import Trace
from scripts.record_learn.runs import NothingSuitable, generated, is_right
from ui.decode.form import DEFAULT_GAMMA
from ui.gallery import recorded as gallery
from ui.learn.recorded import Edge

GAMMAS = (0.0, DEFAULT_GAMMA, 0.2, 0.35, 0.6, 1.0, 2.0, 4.0)
UNLIKELY = 0.2


def edge_runs(model: SetBlockModel, examples: Sequence[Example]) -> list[tuple[Edge, Trace]]:
    """One prompt at rising gammas: right up to one of them, wrong at those after it.

    The first prompt that stays wrong from there on, else the one wrong at most of them.
    """
    best: list[tuple[Edge, Trace]] = []
    for example in examples:
        rows = rising(model, example)
        if len(rows) == len(GAMMAS) and not rows[-1][0].is_right:
            return rows
        if len(rows) > len(best) and not rows[-1][0].is_right:
            best = rows
    if not best:
        raise NothingSuitable(f"no gamma up to {GAMMAS[-1]} spoils a story that smaller ones kept")
    return best


def rising(model: SetBlockModel, example: Example) -> list[tuple[Edge, Trace]]:
    """The example at rising gammas, for as long as right comes before wrong and a clash shows."""
    rows: list[tuple[Edge, Trace]] = []
    for gamma in GAMMAS:
        trace = generated(model, example.prompt, gamma)
        if is_right(example, trace.text):
            if rows and not rows[-1][0].is_right:
                break
            rows.append((Edge(gamma=gamma, is_right=True), trace))
            continue
        clash = clash_in(trace)
        if gamma <= DEFAULT_GAMMA or clash is None:
            break
        rows.append((replace(clash, gamma=gamma), trace))
    return rows


def told_of_mix_up() -> Iterator[Example]:
    """The gallery's story of mixed-up names, if it has one."""
    for item in gallery.gallery():
        if item.name == "names-mixed-up":
            prompt = gallery.gallery_traces(item.name)["sbd"].prompt
            yield Example(item.task, prompt, "", item.case)


def clash_in(trace: Trace) -> Edge | None:
    """Whole words made of neighbouring tokens that one forward pass filled and that do not fit.

    Best the same token twice, else one that the causal pass later found unlikely.
    """
    texts = [trace.tokens[token_id] for token_id in trace.token_ids]
    calls = {item.position: event.index for event in trace.events for item in event.reveals}
    doubted = {
        item.position
        for event in trace.events
        for item in event.hindsight
        if item.token_id != item.argmax_id and item.probability < UNLIKELY
    }
    pairs = [
        (at, calls[at])
        for at in range(len(texts) - 1)
        if at in calls and calls[at] == calls.get(at + 1)
    ]
    twice = [pair for pair in pairs if texts[pair[0]].strip() == texts[pair[0] + 1].strip() != ""]
    odd = [pair for pair in pairs if doubted & {pair[0], pair[0] + 1}]
    words = [pair for pair in twice if texts[pair[0]].strip().isalpha()]
    for at, call in (words or twice or odd)[:1]:
        start, end = at, at + 2
        while start > 0 and not texts[start][:1].isspace():
            start -= 1
        while end < len(texts) and texts[end][:1].isalpha():
            end += 1
        words_there = "".join(texts[start:end]).strip()
        return Edge(gamma=0.0, is_right=False, clash=words_there, start=start, end=end, call=call)
    return None
