"""Models with a fixed answer, for the page's tests: surer with fewer masks around, no weights."""

import hashlib
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.scripted import ScriptedModel
from ui.decode.form import message_of
from ui.models import LazyModel

PROMPT, MASK, END = 0, 1, 2
ANSWER = (
    "With the pencils from Xena, Tara has 49 + 28 = 77 pencils.\n"
    "With the pencils from Ava, Tara has 77 + 18 = 95 pencils.\n"
    "With the pencils from Hugo, Tara has 95 + 26 = 121 pencils.\n"
    "The answer is 121."
)


def hardness(position: int) -> float:
    """The model's uncertainty of a position at first, 0 to 1; the same in every process."""
    return hashlib.blake2b(str(position).encode(), digest_size=1).digest()[0] / 255


def story_model(pieces: Sequence[str] | str = ANSWER, **fields: Any) -> Any:
    """A ScriptedModel that answers every prompt with `pieces` (a text is cut at its words)."""
    if isinstance(pieces, str):
        pieces = re.findall(r"\s?[A-Za-z]+|\s?\d|\s?[^\w\s]|\s", pieces)
    texts = ["<unknown>", "<m>", "<eos>", *dict.fromkeys(pieces)]
    answer = [*(texts.index(piece, 3) for piece in pieces), END]

    def offset_of(tokens: tuple[int, ...]) -> int:
        """Answer tokens so far: prompts are read as token 0 throughout."""
        return len(tokens) - 1 - max(i for i, token in enumerate(tokens) if token == PROMPT)

    def row(position: int, sharpness: float) -> list[float]:
        token = answer[position] if position < len(answer) else END
        logits = [0.0] * len(texts)
        logits[token] = sharpness
        for rank in range(1, 5):
            logits[3 + (token + 7 * rank) % (len(texts) - 3)] += 3.0 / rank
        logits[token] = max(logits[token], max(logits) + 0.1)
        return logits

    def next_logits(tokens: tuple[int, ...]) -> list[float]:
        return row(offset_of(tokens), 12.0)

    def block_logits(tokens: tuple[int, ...], block: tuple[int, ...]) -> list[list[float]]:
        start = offset_of(tokens)
        num_masked = block.count(MASK)
        rows = []
        for i in range(len(block)):
            doubt = hardness(start + i) * num_masked / len(block)
            near = any(block[j] != MASK for j in (i - 1, i + 1) if 0 <= j < len(block))
            rows.append(row(start + i, 11.0 - 9.5 * doubt + (1.5 if near or i == 0 else 0.0)))
        return rows

    settings: dict[str, Any] = {
        "mask_token_id": MASK,
        "end_token_ids": frozenset({END}),
        "block_range": (2, 16),
        "max_positions": 4096,
        "name": "story",
        "num_parameters": 4_600_000,
    }
    model: Any = ScriptedModel(
        texts=texts, next_logits=next_logits, block_logits=block_logits, **{**settings, **fields}
    )
    encode = model.encode
    # A letter of a prompt may be a piece of the answer, and is none of it.
    model.encode = lambda prompt, *, is_raw: (
        encode(prompt, is_raw=is_raw) if is_raw else (PROMPT,) * len(prompt)
    )
    return model


class Coming:
    """A model that is loaded once `go_on` is set. load: what then gives it, or raises."""

    def __init__(self, load: Callable[[], Any], name: str = "story", **fields: Any) -> None:
        self.go_on = threading.Event()

        def wait() -> Any:
            assert self.go_on.wait(60)
            return load()

        known: dict[str, Any] = {"can_draft": True, "block_range": (2, 16), **fields}
        self.lazy = LazyModel(name, loader=wait, **known)


def slowed(model: Any, seconds: float) -> Any:
    """The model, its passes from now on longer by `seconds` each."""
    forward_batch = model.forward_batch

    def slow_forward_batch(requests: Any) -> Any:
        time.sleep(seconds)
        return forward_batch(requests)

    model.forward_batch = slow_forward_batch
    return model


def held(model: Any) -> tuple[Any, threading.Event]:
    """The model, its passes from now on waiting until the event is set."""
    forward_batch, go_on = model.forward_batch, threading.Event()

    def held_forward_batch(requests: Any) -> Any:
        go_on.wait(60)
        return forward_batch(requests)

    model.forward_batch = held_forward_batch
    return model, go_on


def counted_caches(model: Any) -> tuple[Any, Callable[[], int]]:
    """The model, and a function that says how many of the KV caches it ever made are alive."""
    made: list[weakref.ref[Any]] = []
    make = model.new_caches

    def make_and_watch(count: int) -> Any:
        caches = make(count)
        made.extend(map(weakref.ref, caches))
        return caches

    model.new_caches = make_and_watch
    return model, lambda: sum(ref() is not None for ref in made)


def outcome(run: Iterable[Any]) -> tuple[list[Any], str]:
    """All that a run yields, and what a visitor is told of the error that ends it; "" for none."""
    found = []
    try:
        for update in run:
            found.append(update)
    except Exception as error:
        return found, message_of(error)
    return found, ""


def wait_for(is_so: Callable[[], bool]) -> None:
    """Wait until something is so, for a minute at most."""
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class FakeBase:
    """Stands in for the cache of bases."""

    def __init__(self, monkeypatch: Any) -> None:
        self.is_there = False
        self.folder = Path("none")
        monkeypatch.setattr("ui.models.find_base", lambda source: self.is_there or None)
        monkeypatch.setattr("ui.models.base_folder", lambda source: self.folder)
