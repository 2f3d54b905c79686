"""A run whose forward pass accepts a part of a draft and throws the rest away."""

from collections.abc import Iterator

from sbd_core.models.protocol import SetBlockModel
from sbd_core.trace import Trace
from scripts.record_learn.examples import from_presets, of_any_task
from scripts.record_learn.runs import NUM_TOKENS, NothingSuitable, by_strategy, is_right

NUM_DRAWN = 20


def checks(trace: Trace) -> Iterator[tuple[int, tuple[bool, int]]]:
    """(forward pass, how much its check of a draft shows) for every draft that was checked.

    That it turns on a word is best, then that much is accepted and much is thrown away. One that
    the tiles have no room for is left out: before it they show what the last check accepted.
    """
    for before, event in zip(trace.events, trace.events[1:], strict=False):
        pairs = list(zip(before.draft, event.committed, strict=False))
        kept = next((at for at, (a, b) in enumerate(pairs) if a != b), len(pairs))
        gone = len(before.draft) - kept
        fits = len(before.committed) + len(before.draft) <= trace.config.block_size
        if fits and kept and gone and kept < len(pairs):
            words = [trace.tokens[token_id].strip() for token_id in pairs[kept]]
            yield event.index, (all(word.isalnum() for word in words), min(kept, gone))


def verify_run(model: SetBlockModel) -> tuple[Trace, int, Trace]:
    """A run of drafts, the forward pass to look at, and the prompt by next-token prediction."""
    for examples in (from_presets(), of_any_task(NUM_DRAWN)):
        found = []
        for example in examples:
            trace = by_strategy(model, example.prompt, "verify", NUM_TOKENS)
            rows = [(value, -at) for at, value in checks(trace) if at > 1]
            if rows:
                value, at = max(rows)
                rank = (is_right(example, trace.text), value, trace.tokens_per_forward, at)
                found.append((rank, trace))
        if found:
            (_, _, _, at), trace = max(found, key=lambda row: row[0])
            return trace, -at, by_strategy(model, trace.prompt, "ntp", NUM_TOKENS)
    raise NothingSuitable("no draft of verify is kept in part")
