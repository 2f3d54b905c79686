"""Reads the traces that visitors bring, and refuses those that the player cannot show.

Trace.from_json() accepts traces that are too large for any screen; read_trace() does not.
"""

import re
import unicodedata
from collections.abc import Iterator

from sbd_core.errors import ArgumentError, TraceError
from sbd_core.run_lines import MAX_SHOWN_BLOCK
from sbd_core.trace import Trace
from ui.decode.form import MAX_TYPED_CHARACTERS

MAX_FILE_BYTES = 5_000_000
MAX_PASSES = 2_000
MAX_POSITIONS = 2_000
MAX_NEW_TOKENS = 2**20
MAX_ENTROPY = 100
MAX_PILE = 8
"""Most combining marks on one letter; any more count as piled up."""
MAX_MARKS = 1_000
"""Most invisible characters of an answer or block; each is drawn as an element of its own."""
UNSEEN = re.compile(r"\\x[0-9A-F]{2}|  +|[^\S ]|\ufffc")


def read_trace(text: object) -> Trace:
    """Read a trace from JSON and check that the player can show it.

    Raises ArgumentError or TraceError, which names the first fault.
    """
    if not isinstance(text, str):
        raise ArgumentError("trace file", "must be text", text)
    if len(text) > MAX_FILE_BYTES:
        rule = f"must be at most {MAX_FILE_BYTES // 10**6} MB"
        raise ArgumentError("trace file", rule, f"{len(text) / 10**6:.1f} MB")
    trace = Trace.from_json(text)
    if not trace.events:
        raise TraceError("trace.events: must hold at least one forward pass")
    for path, value, limit in (*_sizes_of(trace), *_marks_of(trace)):
        if value > limit:
            words = f"trace{path} must be at most {limit:,} to be shown; got {value:,}"
            raise TraceError(words[:300])
    _check_positions(trace)
    _check_agreement(trace)
    return trace


def _sizes_of(trace: Trace) -> Iterator[tuple[str, float, int]]:
    """All that must not be too large: its path in the trace, its value and the limit."""
    # Without steps, the player draws what the config promises.
    config = trace.config
    yield ".config.block_size", config.block_size, MAX_SHOWN_BLOCK
    yield ".config.max_new_tokens", config.max_new_tokens, MAX_NEW_TOKENS
    yield ".config.pinned", max(config.pinned, default=0), MAX_POSITIONS - 1
    # Texts shown whole must fit a text box, and can be drawn.
    for name in ("model", "prompt", "text"):
        shown = getattr(trace, name)
        yield f".{name}: its characters", len(shown), MAX_TYPED_CHARACTERS
        yield f".{name}: its piled-up marks", _num_piled(shown), MAX_MARKS
    yield ".events: the number of forward passes", len(trace.events), MAX_PASSES
    yield ": the tokens of the answer", trace.num_tokens, MAX_POSITIONS
    for event in trace.events:
        path = f".events[{event.index}]"
        yield f"{path}.block: its size", event.block.size, MAX_SHOWN_BLOCK
        yield f"{path}.block: its end", event.block.stop, MAX_POSITIONS
        yield f"{path}.draft: its length", len(event.draft), MAX_SHOWN_BLOCK
        entropies = [item.entropy for item in event.masked]
        yield f"{path}.masked: entropy in nats", max(entropies, default=0), MAX_ENTROPY
        read = [item.position for item in event.hindsight]
        yield f"{path}.hindsight: a position", max(read, default=0), MAX_POSITIONS - 1


def _marks_of(trace: Trace) -> Iterator[tuple[str, int, int]]:
    """Numbers of invisible or stacked characters of the answer and of each block, as _sizes_of."""
    marks = {}
    for token_id, text in trace.tokens.items():
        unprintable = sum(not character.isprintable() for character in text)
        unseen = sum(len(found) for found in UNSEEN.findall(text) if found.isprintable())
        marks[token_id] = unprintable + unseen + _num_piled(text)
    of_answer = sum(marks[token_id] for token_id in trace.token_ids)
    yield ".tokens: unseen characters of the answer", of_answer, MAX_MARKS
    for event in trace.events:
        # What a tile or a hover shows in this forward pass.
        shown = {reveal.token_id for reveal in event.reveals} | {*event.draft, *event.committed}
        shown.update(*(item.top_token_ids for item in event.masked))
        most = event.block.size * max((marks[token_id] for token_id in shown), default=0)
        yield f".events[{event.index}]: unseen characters of its block", most, MAX_MARKS


def _check_positions(trace: Trace) -> None:
    # The blocks of verify's predrafts lie behind the block that it checks.
    has_predrafts = trace.strategy == "verify"
    for event in trace.events:
        block = (
            range(MAX_POSITIONS) if has_predrafts else range(event.block.start, event.block.stop)
        )
        positions = [item.position for item in event.masked]
        positions += [reveal.position for reveal in event.reveals]
        if not all(position in block for position in positions):
            rule = "masked and revealed positions must lie in its block"
            raise TraceError(f"trace.events[{event.index}]: {rule}")


def _check_agreement(trace: Trace) -> None:
    known = dict(trace.config.pinned)
    for event in trace.events:
        known |= {reveal.position: reveal.token_id for reveal in event.reveals}
    ids = trace.token_ids
    for position, token_id in enumerate(ids):
        if known.get(position) != token_id:
            rule = f"the token committed at position {position} must be the one revealed there"
            raise TraceError(f"trace.events: {rule}; got {token_id}, not {known.get(position)}")
    if trace.finish == "length" and len(ids) != trace.config.max_new_tokens:
        rule = "must not be length where the answer is shorter than config.max_new_tokens"
        raise TraceError(f"trace.finish: {rule}; got {len(ids)} tokens")
    has_end = bool(ids) and ids[-1] in trace.end_token_ids
    if trace.finish == "end_of_sequence" and not has_end:
        raise TraceError(
            "trace.finish: must not be end_of_sequence where the answer ends otherwise"
        )
    joined = "".join(trace.tokens[token_id] for token_id in ids)
    # Lone bytes of a character are tokens too; markup of special tokens is not in the text.
    rest = iter(_letters(joined))
    if r"\x" not in joined and not all(letter in rest for letter in _letters(trace.text)):
        raise TraceError("trace.text: must be the text of the tokens that the events commit")


def _letters(text: str) -> str:
    """Keep only letters and digits, because tokenizers add and remove other characters."""
    return "".join(character for character in text if character.isalnum())


def _num_piled(text: str) -> int:
    """Count the combining marks beyond MAX_PILE on each letter; they are slow to draw."""
    num_piled = height = 0
    for character in text:
        height = height + 1 if unicodedata.category(character).startswith("M") else 0
        num_piled += height > MAX_PILE
    return num_piled
