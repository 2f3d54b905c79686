"""The form left of the player: presets, prompt, solver and sizes, Decode and Stop."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from ui.components.boldness import boldness
from ui.components.notice import notice
from ui.components.presets import preset_bar
from ui.components.puzzle import puzzle
from ui.decode.blanks import MAX_TEMPLATE_CHARACTERS
from ui.decode.form import DEFAULT_GAMMA, MAX_NEW_TOKENS, MAX_PROMPT_CHARACTERS, settings_of
from ui.gallery import recorded
from ui.gallery.examples import presets
from ui.gallery.recorded import OPENING_LANES
from ui.lazy_model import LazyModel

SOLVERS = [
    ("Entropy bound (Eq. 8)", "entropy-bound"),
    ("Entropy bound by confidence", "entropy-bound-by-confidence"),
    ("Entropy bound by margin", "entropy-bound-by-margin"),
    ("Entropy bound from the left", "entropy-bound-from-left"),
    ("Entropy threshold", "entropy-threshold"),
    ("Confidence threshold", "confidence-threshold"),
    ("Factor", "factor"),
    ("Top-k", "top-k"),
    ("Random", "random"),
    ("Left to right", "left-to-right"),
]
STRATEGIES = [
    ("Set Block Decoding", "sbd"),
    ("Verify: draft and check, lossless", "verify"),
    ("Next-token prediction, one token a forward pass", "ntp"),
]
PLAIN_STRATEGIES = [("Next-token prediction only", "ntp")]
MEASURES = ["confidence", "entropy", "margin"]
DEFAULT_BLOCK_RANGE = (2, 16)
PROMPT_ID = "sbd-prompt-box"
GAMMA_ID, BLOCK_ID = "sbd-gamma", "sbd-block"
SHARED_BY_VIEWS = ("prompt", "block_size", "max_new_tokens")


@dataclass(frozen=True, slots=True)
class Controls:
    """The parts that page wires. fields: by their name in session.Form, in its order."""

    fields: dict[str, gr.components.Component]
    decode: gr.Button
    stop: gr.Button
    news: gr.HTML
    puzzle: gr.HTML
    presets: gr.HTML


def build(model: LazyModel) -> Controls:
    """Everything in the form, inside the layout that is open now."""
    opening = recorded.opening_traces().get(OPENING_LANES[0])
    start = settings_of(opening) if opening else {}
    block_range = model.block_range or DEFAULT_BLOCK_RANGE
    bar = preset_bar(model.name, PROMPT_ID)
    prompt = gr.Textbox(
        start.get("prompt", presets()[0].prompts[0]),
        label="Prompt",
        lines=5,
        max_lines=6,
        max_length=MAX_PROMPT_CHARACTERS,
        elem_id=PROMPT_ID,
    )
    with gr.Row(elem_id="sbd-go"):
        decode = gr.Button("Decode", variant="primary", min_width=0, scale=3)
        stop = gr.Button(
            "Stop",
            variant="secondary",
            interactive=False,
            min_width=0,
            scale=1,
            elem_id="sbd-stop",
        )
    news = notice()
    boldness(GAMMA_ID, BLOCK_ID, block_range)
    fields: dict[str, gr.components.Component] = {"prompt": prompt}
    with gr.Column(elem_id="sbd-advanced"):
        if model.can_draft:
            fields["template"] = _template()
        fields |= _solver_fields(model, start)
        fields |= _size_fields(block_range, start)
        own_puzzle = puzzle(PROMPT_ID)
    for name in fields.keys() - SHARED_BY_VIEWS:
        fields[name].elem_classes = ["sbd-watch-only"]
    return Controls(fields, decode, stop, news, own_puzzle, bar)


def _solver_fields(model: LazyModel, start: dict[str, Any]) -> dict[str, gr.components.Component]:
    strategies = STRATEGIES if model.can_draft else PLAIN_STRATEGIES
    return {
        "strategy": gr.Dropdown(strategies, value=strategies[0][1], label="Strategy"),
        "solver": gr.Dropdown(SOLVERS, value=SOLVERS[0][1], label="Solver"),
        "gamma": gr.Number(
            start.get("gamma", DEFAULT_GAMMA),
            label="γ",
            info="uncertainty a forward pass may take on, nats",
            step=0.01,
            elem_id=GAMMA_ID,
        ),
        "tau": _slider("τ", 0, 1, 0.9, 0.01, "reveal every token this probable", visible=False),
        "factor": _slider("Factor", 0, 4, 1, 0.05, "larger reveals more at once", visible=False),
        "k": _slider("Tokens per pass", 1, 16, 2, 1, visible=False),
        "by": gr.Dropdown(MEASURES, value=MEASURES[0], label="Best by", visible=False),
    }


def _template() -> gr.Textbox:
    return gr.Textbox(
        label="Answer with blanks",
        # No underscores here: Gradio reads this text as Markdown.
        info="optional; three underscores are a token to fill in, a number after them is how many",
        placeholder="The answer is ___2.",
        lines=1,
        max_lines=5,
        max_length=MAX_TEMPLATE_CHARACTERS,
        elem_id="sbd-template-box",
    )


def _size_fields(
    block_range: tuple[int, int], start: dict[str, Any]
) -> dict[str, gr.components.Component]:
    low, high = block_range
    return {
        "block_size": gr.Number(
            min(start.get("block_size", high), high),
            label="Block size",
            info=f"positions decoded together; trained on {low} to {high}",
            precision=0,
            elem_id=BLOCK_ID,
        ),
        "max_new_tokens": _slider("Longest answer, tokens", 16, MAX_NEW_TOKENS, 128, 16),
        "seed": gr.Number(0, label="Seed", precision=0, minimum=0, visible=False),
    }


def _slider(
    label: str, low: float, high: float, value: float, step: float, info: str = "", **more: Any
) -> gr.Slider:
    return gr.Slider(
        low, high, value, step=step, label=label, info=info or None, buttons=[], **more
    )
