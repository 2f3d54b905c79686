"""All that the scenes show, as one value: their words, with the numbers in them, and their runs."""

import json
import re
from dataclasses import asdict
from functools import cache
from typing import Any

from sbd_core.replay import replay_lines, wire_json
from sbd_core.roofline import DEVICES
from sbd_core.trace import Trace
from ui.components.assets import ASSETS
from ui.gallery.examples import presets
from ui.learn.facts import BIG_CHIP, facts, layer_weights, machines, pass_times
from ui.learn.recorded import Choices, Place, Recorded, recorded

WORDS = ASSETS / "learn" / "words.json"
SHOWN_WORDS = ("title", "question", "act", "answer", "why")
SHOWN_RUNS = ("text", "verify", "sudoku")
NUM_OPTIONS = 3
CAPTION_WORDS = 48
"""What is to be read in and under a picture, in words, on average; lists are looked up."""
DOING_SECONDS = {
    "one-at-a-time": 15,
    "masks": 15,
    "sure-and-unsure": 15,
    "the-bound": 25,
    "out-of-order": 25,
    "the-cache": 25,
    "what-goes-wrong": 25,
    "checking": 15,
    "what-it-buys": 15,
    "your-turn": 5,
}
"""An allowance for what each scene asks for and for the picture that then moves, not measured."""
CALM_PACE = (160, 130)
"""Words a minute of somebody who reads to understand, quick and slow."""


@cache
def scenes(*, has_model: bool = True) -> tuple[dict[str, str], ...]:
    """Every scene's address and words, their numbers filled in; [term] marks a glossary word.

    has_model: a model is there to decode by, as on the page and not in the exported file.
    Raises TraceError if the recorded runs are missing.
    """
    known = facts(recorded())
    without = unshown(recorded().choices)
    rows: list[dict[str, str]] = json.loads(WORDS.read_text(encoding="utf-8"))
    for row in rows:
        otherwise = row.pop("otherwise", "")
        if row["address"] in without:
            row["answer"] = otherwise
        alone = row.pop("act_without_model", row["act"])
        if not has_model:
            row["act"] = alone
    return tuple({key: text.format_map(known) for key, text in row.items()} for row in rows)


def unshown(choices: Choices) -> set[str]:
    """Addresses of the scenes whose run does not show all that their answer says of it.

    Those say what `otherwise` in the words says.
    """
    return set() if choices.order.settled_by else {"out-of-order"}


@cache
def lesson(*, has_model: bool = True) -> str:
    """The view's value, JSON; has_model as of scenes().

    Raises TraceError if the recorded runs are missing.
    """
    kept = recorded()
    choices = kept.choices
    body: dict[str, Any] = {
        "scenes": scenes(has_model=has_model),
        "runs": {name: replay_lines(name, kept.runs[name]) for name in SHOWN_RUNS},
        # In the order of the text: a later gap shows what the earlier one hides.
        "gaps": [
            gap(kept, place)
            for place in sorted((choices.sure, choices.unsure), key=lambda place: place.position)
        ],
        "mask_pass": choices.mask_pass,
        "bound_pass": choices.bound_pass,
        "check_pass": choices.check_pass,
        "edges": [
            {**asdict(edge), **passes_of(kept.runs[f"edge-{number}"]["sbd"])}
            for number, edge in enumerate(choices.edges)
        ],
        "story": kept.runs["edge-0"]["sbd"].prompt,
        "is_verify_ntp": choices.is_verify_ntp,
        "check_ntp_passes": kept.runs["verify-ntp"]["ntp"].num_forwards,
        "order": asdict(choices.order),
        "num_different": num_different(kept),
        "big_chip": DEVICES[BIG_CHIP].name,
        "layer_weights": layer_weights(),
        "machines": machines(kept),
        "pass_times": pass_times(kept),
        "prompts": [preset.prompts[0] for preset in presets()],
    }
    return wire_json(body)


def num_different(kept: Recorded) -> int:
    """Tokens of the run `text` that differ between its lanes."""
    main, ntp = kept.runs["text"]["sbd"], kept.runs["text"]["ntp"]
    return sum(a != b for a, b in zip(main.token_ids, ntp.token_ids, strict=True))


def gap(kept: Recorded, place: Place) -> dict[str, Any]:
    """A word to be guessed: the text before it, the model's guesses, and what to choose from."""
    trace = kept.runs["guess"]["sbd"]
    event = trace.events[place.forward_pass]
    item = next(item for item in event.masked if item.position == place.position)
    guesses = [
        [trace.tokens[token_id], probability]
        for token_id, probability in zip(item.top_token_ids, item.top_probabilities, strict=True)
    ]
    words = [str(text) for text, _ in guesses if re.fullmatch(r" [A-Za-z]+", str(text))]
    return {
        "before": "".join(trace.tokens[token_id] for token_id in trace.token_ids[: place.position]),
        "entropy": item.entropy,
        "guesses": guesses,
        "options": sorted(words[:NUM_OPTIONS]),
    }


def passes_of(trace: Trace) -> dict[str, Any]:
    """A run without its guesses: its passes, and each token's text and the pass that fixed it."""
    fixed = {item.position: event.index for event in trace.events for item in event.reveals}
    texts = [trace.tokens[token_id] for token_id in trace.token_ids]
    return {
        "passes": trace.num_forwards,
        "tokens": [[text, fixed.get(position, 0)] for position, text in enumerate(texts)],
    }


def words_text() -> str:
    """Every scene's words as plain text, as a reader without the pictures would have them."""
    parts = []
    for number, scene in enumerate(scenes(), 1):
        title, question, act, *said = (plain(scene[name]) for name in SHOWN_WORDS if name in scene)
        parts.append("\n".join((f"{number}. {title}", question, f"({act})", *said)))
    return "\n\n".join(parts) + "\n"


def plain(text: str) -> str:
    """A sentence without the marks of its glossary words."""
    return re.sub(r"\[([^\]]+)\]", r"\1", text)


def num_words(scene: dict[str, str]) -> int:
    """Words of a scene, its heading left out."""
    shown = (scene[name] for name in SHOWN_WORDS[1:] if name in scene)
    return sum(len(plain(text).split()) for text in shown)


def minutes(words_a_minute: float) -> float:
    """How long all scenes take: their words and captions read, then what each asks for done."""
    num_read = sum(num_words(scene) + CAPTION_WORDS for scene in scenes())
    return num_read / words_a_minute + sum(DOING_SECONDS.values()) / 60
