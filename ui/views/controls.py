"""The form beside the player: presets, prompt, strategy, solver and sizes."""

import json
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import gradio as gr

from sbd_core.models.model_folder import REAL_MODEL
from sbd_core.models.web_folder import find_export
from sbd_core.run_lines import LANE_NAMES, wire_json
from sbd_core.solvers import SOLVER_PARAMETERS, SOLVER_TITLES, SOLVERS, EntropyBound, Measure
from ui import examples
from ui.best_settings import Best, best_for
from ui.components import ASSETS, DIST, PROMPT_ID, server_message, versioned_path, view
from ui.decode.form import MAX_TYPED_CHARACTERS, USUAL, Limits
from ui.examples import BUNDLED_MODEL, PRESETS, gallery_run_for, presets
from ui.models import LazyModel, Models, Offer, serve_export


def presets_value(model_name: str, file: str = PRESETS) -> str:
    """The JSON of the bar of presets. file: name of the file in assets/ with the presets."""
    rows = []
    for preset in presets(file):
        prompts = [(prompt, gallery_run_for(prompt)) for prompt in preset.prompts]
        prompts.sort(key=lambda row: not row[1])  # those with a recorded run first
        rows.append({"label": preset.label, "prompts": prompts})
    return wire_json({"presets": rows, "line": promise(model_name), "prompt": PROMPT_ID})


def promise(model_name: str) -> str:
    """One line that says what to expect of a model's answers."""
    if model_name == BUNDLED_MODEL:
        return "Other prompts work too, but this tiny model answers most of them with nonsense."
    if model_name == REAL_MODEL:
        return "It takes any prompt in English. It is small and may be wrong."
    return "Start from an example, or write any other prompt."


def prompt_message(*, prompt: str = "", error: str = "") -> str:
    """Encode a message that puts `prompt` into the prompt's box, or that shows `error`."""
    return server_message(prompt_id=PROMPT_ID, prompt=prompt, error=error)


GAMMAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 1)
"""The slider's steps in nats; any other gamma can be typed."""


CHOICE_SCRIPT = """() => {
    const { dataset } = document.querySelector(".sbd-ways-view");
    const { strategy, solver, gamma } = JSON.parse(dataset.choice);
    return [strategy, solver ?? undefined, gamma ?? undefined];
}"""
"""Sets strategy, solver and gamma as the slider asks; other fields stay. It runs in the browser
alone: a server's answer could come after the next choice and undo it.
"""


def slider_value(best: Best, block_range: tuple[int, int], *, can_draft: bool) -> str:
    """The JSON of the slider of gammas for a model.

    best: initial settings for a visitor's own prompt, and the reason for them.
    block_range: smallest and largest block size that the model was trained on; the slider points
    out any other size.
    can_draft: whether the model has more than one strategy.
    If `best` warns against the paper's solver, the slider offers to switch to nano.
    """
    value = {
        "best": {"strategy": best.strategy, "gamma": best.gamma, "words": best.words},
        "gammas": list(GAMMAS),
        "block_range": list(block_range),
        "can_draft": can_draft,
        "paper": best.paper,
        "causal_first": best.causal_first,
        "other": BUNDLED_MODEL if best.paper else "",
    }
    return wire_json(value)


SOLVER_CHOICES = [(title, name) for name, title in SOLVER_TITLES.items()]
STRATEGIES = [(title, name) for name, title in LANE_NAMES.items()]
PLAIN_STRATEGIES = [("Next-token prediction only", "ntp")]
MEASURES = list(get_args(Measure))
DEFAULT_BLOCK_RANGE = (2, 16)
FIELD_IDS = {
    name: f"sbd-{name.replace('_', '-')}-field"
    for name in (
        "strategy", "solver", *SOLVER_PARAMETERS, "max_rows", "repetition_penalty", "block_size",
        "max_new_tokens", "seed",
    )
}  # fmt: skip
"""Element ids of the settings, by which the page's script reads them."""
SHARED_BY_VIEWS = ("prompt", "block_size", "max_new_tokens")


@dataclass(frozen=True, slots=True)
class Controls:
    """Components of the form to which the page attaches event handlers.

    fields: the inputs, each under the name of the Form field that it fills.
    decode, stop: the buttons. status: the status line.
    puzzle: the grid for a visitor's own sudoku. presets: the bar of presets.
    engine: the line that says where decoding runs. ways: the slider of gammas.
    """

    fields: dict[str, gr.components.Component]
    decode: gr.Button
    stop: gr.Button
    status: gr.HTML
    puzzle: gr.HTML
    presets: gr.HTML
    engine: gr.HTML
    ways: gr.HTML


@dataclass(frozen=True, slots=True)
class FormValues:
    """Values of the form for one model.

    presets, engine, ways: JSON for the components of these names in Controls.
    best: the initial settings. block_range: smallest and largest trained block size, or a default.
    """

    presets: str
    engine: str
    ways: str
    best: Best
    block_range: tuple[int, int]

    @classmethod
    def of(cls, offer: Offer, limits: Limits = USUAL) -> "FormValues":
        """Make the form's values for the model of `offer`, even while the model is loading."""
        model = offer.lazy
        best = best_for(
            model.name,
            can_draft=model.can_draft,
            is_trained=model.is_trained,
            has_adapter=model.has_adapter,
        )
        block_range = model.block_range or DEFAULT_BLOCK_RANGE
        return cls(
            presets_value(model.name, offer.presets),
            engine_value(offer, limits),
            slider_value(best, block_range, can_draft=model.can_draft),
            best,
            block_range,
        )


ENGINE = DIST / "engine.js"
RUNTIME = (DIST / "onnxruntime.mjs", DIST / "onnxruntime.wasm.gz")
"""Files of ONNX Runtime Web, which the engine expects beside itself."""
GPU_RUNTIME = (DIST / "onnxruntime-webgpu.mjs", DIST / "onnxruntime-webgpu.wasm.gz")
"""ONNX Runtime Web's build for GPUs."""


def engine_value(offer: Offer, limits: Limits) -> str:
    """The JSON of the line that says whether the server or the visitor's browser decodes.

    The JSON holds the paths of the browser's engine and of the exported model; it is "" if no
    browser can decode with this model.
    """
    folder = offer.folder_for_browsers(is_public=not limits.may_fetch_model)
    export = None if folder is None else find_export(folder)
    if export is None:
        return ""
    gr.set_static_paths([ENGINE, *RUNTIME, *GPU_RUNTIME])
    value = {  # see Setting in ui/web/engine_choice.ts
        "name": export.name,
        "script": versioned_path(ENGINE),
        "base": serve_export(export),
        "bytes": export.manifest["download"],
    }
    return wire_json(value)


def build(models: Models, limits: Limits = USUAL) -> Controls:
    """Build the form inside the Gradio layout that is open."""
    model = models.first.lazy
    of_model = FormValues.of(models.first, limits)
    start = initial_values(of_model.best, models.first.name)
    # `choose_run` carries the name of the recorded run of the prompt that was chosen.
    bar = view("presets", of_model.presets, "choose_run")
    prompt = gr.Textbox(
        start["prompt"],
        label="Prompt",
        lines=5,
        max_lines=6,
        max_length=MAX_TYPED_CHARACTERS,
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
    status = view("status-line", "")  # its values are made by a Speaker
    engine = view("engine-choice", of_model.engine)
    slider = view("ways", of_model.ways, "choose", classes=["sbd-watch-only"])
    fields: dict[str, gr.components.Component] = {"prompt": prompt}
    with gr.Column(elem_id="sbd-advanced"):
        if any(offer.lazy.can_draft for offer in models):
            fields["template"] = gr.Textbox(
                label="Answer with blanks",
                # No underscores here: Gradio reads this text as Markdown.
                info="optional; three underscores are one token to fill in, a number after them "
                "says more",
                placeholder="The answer is ___2.",
                lines=1,
                max_lines=5,
                max_length=MAX_TYPED_CHARACTERS,
                elem_id="sbd-template-box",
            )
        fields["system"] = gr.Textbox(
            label="System message",
            placeholder="Answer in one sentence.",
            lines=1,
            max_lines=3,
            max_length=MAX_TYPED_CHARACTERS,
            visible=models.first.is_chat,
            elem_id="sbd-system-box",
        )
        fields |= _solver_fields(model, start)
        fields |= {
            "block_size": gr.Number(
                of_model.best.block_size or of_model.block_range[1],
                label="Block size",
                info=block_size_words(model),
                precision=0,
            ),
            "max_new_tokens": _slider("Longest answer, tokens", 16, limits.max_new_tokens, 128, 16),
            "seed": gr.Number(0, label="Seed", precision=0, minimum=0, visible=False),
        }
        # `solve` carries {"cells": text}; `prompt_message` makes the value that answers it.
        own_puzzle = view("puzzle", wire_json({"prompt_id": PROMPT_ID}), "solve")
    for name, element_id in FIELD_IDS.items():
        fields[name].elem_id = element_id
    for name in fields.keys() - SHARED_BY_VIEWS:
        fields[name].elem_classes = ["sbd-watch-only"]
    # Which of several models decodes; the switch in the head writes it.
    name = models.first.name if len(models) > 1 else ""
    fields["model"] = gr.Textbox(name, visible="hidden", elem_id="sbd-model-field")
    return Controls(fields, decode, stop, status, own_puzzle, bar, engine, slider)


def initial_values(best: Best, model: str = "") -> dict[str, Any]:
    """The form's initial values: the prompt of the model's opening run, with the best settings.

    The opening run's own settings were chosen for a demonstration, so they are not used.
    """
    opening = next(iter(examples.opening_traces(model).values()), None)
    prompt = opening.prompt if opening else presets()[0].prompts[0]
    return {"prompt": prompt, "strategy": best.strategy, "gamma": best.gamma}


def _solver_fields(model: LazyModel, start: dict[str, Any]) -> dict[str, gr.components.Component]:
    strategies = strategies_of(model)
    strategy = start["strategy"]
    is_shown = partial(is_in_use, strategy, SOLVER_CHOICES[0][1])
    return {
        "strategy": gr.Dropdown(strategies, value=strategy, label="Strategy"),
        "solver": gr.Dropdown(
            SOLVER_CHOICES, value=SOLVER_CHOICES[0][1], label="Solver", visible=is_shown("solver")
        ),
        "gamma": gr.Number(
            start["gamma"],
            label="γ",
            info=gamma_words(SOLVER_CHOICES[0][1]),
            step=0.01,
            visible=is_shown("gamma"),
        ),
        "tau": _slider("τ", 0, 1, 0.9, 0.01, "reveal every token this probable", visible=False),
        "factor": _slider("Factor", 0, 4, 1, 0.05, "larger reveals more at once", visible=False),
        "k": _slider("Tokens per forward pass", 1, 16, 2, 1, visible=False),
        "by": gr.Dropdown(MEASURES, value=MEASURES[0], label="Best by", visible=False),
        "max_rows": gr.Number(
            0,
            label="Rows at most",
            info="tokens that a forward pass reads; 0 takes the default of this machine",
            precision=0,
            minimum=0,
            visible=is_shown("max_rows"),
        ),
        "repetition_penalty": gr.Number(
            0,
            label="Repetition penalty",
            info="above 1 makes repetition less likely; 1 turns it off; 0 takes the model’s own",
            minimum=0,
            step=0.05,
        ),
    }


def strategies_of(model: LazyModel) -> list[tuple[str, str]]:
    """The strategies that the form offers for a model, as (title, name) pairs."""
    return STRATEGIES if model.can_draft else PLAIN_STRATEGIES


def is_in_use(strategy: str, solver: str, name: str) -> bool:
    """Whether a decode by this strategy and solver uses the setting `name`."""
    if name == "max_rows":
        return strategy == "verify"
    if name == "solver":
        return strategy == "sbd"
    parameters = SOLVERS[solver].__dataclass_fields__ if solver in SOLVERS else {}
    return strategy == "sbd" and (name in parameters or (name == "seed" and solver == "random"))


def gamma_words(solver: str) -> str:
    """The text that explains γ for a solver; for a solver without γ, the text for Eq. 8."""
    bounds = json.loads((ASSETS / "solvers.json").read_text("utf-8"))["bounds"]
    stop = SOLVERS.get(solver, EntropyBound).stop
    return str(bounds.get(stop, bounds[EntropyBound.stop])["gamma"])


def block_size_words(model: LazyModel) -> str:
    """The help text of the block size, which says what sizes the model was trained on."""
    low, high = model.block_range or DEFAULT_BLOCK_RANGE
    trained = "trained on" if model.is_trained else "not trained yet, on"
    return f"how many positions are decoded together; {trained} {low} to {high}"


def _slider(
    label: str, low: float, high: float, value: float, step: float, info: str = "", **more: Any
) -> gr.Slider:
    return gr.Slider(
        low, high, value, step=step, label=label, info=info or None, buttons=[], **more
    )
