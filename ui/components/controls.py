"""The form left of the player: presets, prompt, solver and sizes, Decode and Stop."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from ui.components.notice import notice
from ui.components.presets import preset_bar
from ui.components.puzzle import puzzle
from ui.decode.blanks import MAX_TEMPLATE_CHARACTERS
from ui.decode.form import DEFAULT_GAMMA, MAX_NEW_TOKENS, MAX_PROMPT_CHARACTERS
from ui.gallery import recorded
from ui.gallery.examples import presets
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
SHARED_BY_VIEWS = ("prompt", "block_size", "max_new_tokens")


@dataclass(frozen=True, slots=True)
class Controls:
    """The parts that page wires. fields: by their name in session.Form, in its order."""

    fields: dict[str, gr.components.Component]
    decode: gr.Button
    stop: gr.Button
    news: gr.HTML
    puzzle: gr.HTML


def build(model: LazyModel) -> Controls:
    """Everything in the form, inside the layout that is open now."""
    preset_bar(model.name, PROMPT_ID)
    prompt = gr.Textbox(
        recorded.opening_prompt() or presets()[0].prompts[0],
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
    own_puzzle = puzzle(PROMPT_ID)
    fields: dict[str, gr.components.Component] = {"prompt": prompt}
    if model.can_draft:
        fields["template"] = _template()
    fields |= _solver_fields(model)
    fields |= _size_fields(model)
    for name in fields.keys() - SHARED_BY_VIEWS:
        fields[name].elem_classes = ["sbd-watch-only"]
    return Controls(fields, decode, stop, news, own_puzzle)


def _solver_fields(model: LazyModel) -> dict[str, gr.components.Component]:
    strategies = STRATEGIES if model.can_draft else PLAIN_STRATEGIES
    gamma_hint = "uncertainty a pass may take on, nats"
    return {
        "strategy": gr.Dropdown(strategies, value=strategies[0][1], label="Strategy"),
        "solver": gr.Dropdown(SOLVERS, value=SOLVERS[0][1], label="Solver"),
        "gamma": _slider("γ", 0, 1, DEFAULT_GAMMA, 0.01, gamma_hint),
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


def _size_fields(model: LazyModel) -> dict[str, gr.components.Component]:
    low, high = model.block_range or DEFAULT_BLOCK_RANGE
    return {
        "block_size": _slider("Block size", low, high, high, 1),
        "max_new_tokens": _slider("Longest answer, tokens", 16, MAX_NEW_TOKENS, 128, 16),
        "seed": gr.Number(0, label="Seed", precision=0, minimum=0, visible=False),
    }


def _slider(
    label: str, low: float, high: float, value: float, step: float, info: str = "", **more: Any
) -> gr.Slider:
    return gr.Slider(
        low, high, value, step=step, label=label, info=info or None, buttons=[], **more
    )
