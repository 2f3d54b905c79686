"""The visitor's form: its fields, its rules and limits, and the text of each error.

Knows no Gradio and no tensors.
"""

import re
from dataclasses import dataclass, fields, replace
from typing import Any

from sbd_core.config import MAX_ROWS, DecodeConfig, require_integer
from sbd_core.errors import ArgumentError, SetBlockDecodingError, shown
from sbd_core.models.protocol import SetBlockModel
from sbd_core.run_lines import MAX_SHOWN_BLOCK
from sbd_core.solvers import SOLVERS, EntropyBound, make_solver, solver_parameters
from sbd_core.trace import Trace
from ui.decode.fair_queue import MAX_PLACES

DEFAULT_GAMMA = EntropyBound().gamma
MAX_PROMPT_CHARACTERS = 2_000
MAX_TYPED_CHARACTERS = 20_000
"""Capacity of a text box. It exceeds the prompt's limit, so a long prompt is refused, not cut."""
MAX_NEW_TOKENS = 256
USUAL_ROWS = {"GPU": MAX_ROWS, "CPU": 12, "WebAssembly": 7}
"""Most rows of a forward pass of verify on the page, by what computes it; see docs/decoding.md."""
MAX_LANES = 4
"""Largest number of lanes that the page compares."""
LABELS = {
    "model": "Model",
    "prompt": "Prompt",
    "system": "System message",
    "template": "Answer with blanks",
    "strategy": "Strategy",
    "solver": "Solver",
    "gamma": "γ",
    "tau": "τ",
    "factor": "Factor",
    "k": "Tokens per forward pass",
    "by": "Best by",
    "block_size": "Block size",
    "max_new_tokens": "Longest answer",
    "repetition_penalty": "Repetition penalty",
    "max_rows": "Rows at most",
    "seed": "Seed",
    "pinned": "Pins",
    "pinned offset": "A pin’s position",
}

LINK_FIELDS = {
    "prompt": "prompt",
    "system": "system",
    "strategy": "strategy",
    "solver": "solver",
    "gamma": "gamma",
    "tau": "tau",
    "factor": "factor",
    "k": "k",
    "by": "by",
    "block": "block_size",
    "tokens": "max_new_tokens",
    "seed": "seed",
    "penalty": "repetition_penalty",
    "max_rows": "max_rows",
    "pins": "pinned",
    "with": "model",
}
"""Names in the page's address, with the field of the form that each stands for."""
LANES = "lanes"
"""Name in the page's address of the lanes to compare."""


@dataclass(frozen=True, slots=True)
class Form:
    """The form as it arrived, unchecked: a program may send anything in any field.

    strategy: "sbd", "ntp" or "verify"; None takes the model's default.
    solver: name in SOLVERS. gamma, tau, factor, k, by: parameters of the solvers.
    pinned: [[offset in the answer, token id], ...].
    template: answer with blanks, see template_pins().
    ask: short id of the request; the first JSON line of the run repeats this id for the player.
    repetition_penalty: 0 or None takes the model's default.
    max_rows: most rows (input positions) of a forward pass of verify; 0 takes USUAL_ROWS.
    model: name of the model; "" takes the page's first model.
    system: message to the model before the prompt.
    """

    prompt: Any
    strategy: Any = None
    solver: Any = "entropy-bound"
    gamma: Any = DEFAULT_GAMMA
    tau: Any = 0.9
    factor: Any = 1.0
    k: Any = 2
    by: Any = "confidence"
    block_size: Any = 16
    max_new_tokens: Any = 128
    seed: Any = 0
    pinned: Any = ()
    template: Any = ""
    ask: Any = ""
    repetition_penalty: Any = None
    max_rows: Any = 0
    model: Any = ""
    system: Any = ""

    @classmethod
    def of(cls, data: Any) -> "Form":
        """Make a form from a dict of field names and values; unknown names are dropped."""
        known = data if isinstance(data, dict) else {}
        values = {name: known[name] for name in cls.__dataclass_fields__ if name in known}
        return cls(**{"prompt": None, **values})


def checked(form: Form) -> tuple[str, DecodeConfig]:
    """Check a form; return its prompt and config. Raises ArgumentError for a bad field."""
    if not isinstance(form.prompt, str) or not form.prompt.strip():
        raise ArgumentError("prompt", "must not be empty", "")
    if not isinstance(form.solver, str) or form.solver not in SOLVERS:
        raise ArgumentError("solver", f"must be one of {', '.join(SOLVERS)}", form.solver)
    settings = [item.name for item in fields(SOLVERS[form.solver])]
    block_size = _whole(form.block_size)
    config = DecodeConfig(
        strategy=form.strategy,
        solver=make_solver(form.solver, {name: _whole(getattr(form, name)) for name in settings}),
        block_size=block_size,
        allows_untrained_block_size=isinstance(block_size, int)
        and 2 <= block_size <= MAX_SHOWN_BLOCK,
        max_new_tokens=_whole(form.max_new_tokens),
        seed=_whole(form.seed),
        repetition_penalty=form.repetition_penalty or None,
        max_rows=_whole(form.max_rows) or MAX_ROWS,
        pinned=_pairs(form.pinned),
    )
    return form.prompt, config


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one decode, and of each visitor.

    max_run_seconds: longest wall-clock time of a run.
    max_places: most places in line for one network address.
    is_public: whether strangers use the page: they decode in their browsers with bundled models
        only, and see no folders of this machine.
    """

    max_prompt_characters: int = MAX_PROMPT_CHARACTERS
    max_prompt_tokens: int = 1_000
    max_new_tokens: int = MAX_NEW_TOKENS
    max_run_seconds: float = 300.0
    max_places: int = MAX_PLACES
    is_public: bool = False

    def check_config(self, prompt: str, config: DecodeConfig) -> None:
        """Raise ArgumentError for too many characters in the prompt or too many new tokens."""
        if len(prompt) > self.max_prompt_characters:
            rule = f"must be at most {self.max_prompt_characters:,} characters"
            raise ArgumentError("prompt", rule, len(prompt))
        if config.max_new_tokens > self.max_new_tokens:
            rule = f"must be at most {self.max_new_tokens} tokens on this page"
            raise ArgumentError("max_new_tokens", rule, config.max_new_tokens)

    def check_prompt_tokens(self, num_tokens: int) -> None:
        """Raise ArgumentError if a prompt has too many tokens."""
        if num_tokens > self.max_prompt_tokens:
            raise ArgumentError(
                "prompt", f"must be at most {self.max_prompt_tokens:,} tokens", num_tokens
            )


USUAL = Limits()
PUBLIC = Limits(
    max_prompt_characters=1_000,
    max_prompt_tokens=400,
    max_new_tokens=128,
    max_run_seconds=30.0,
    max_places=4,
    is_public=True,
)


def lane_forms(lanes: object, form: Form) -> dict[str, Form]:
    """Make a form for each lane to compare; return the forms by the lanes' names.

    lanes: list of 1 to MAX_LANES lane names, see lane_settings().
    form: form with the fields that all lanes share.
    Raises ArgumentError for a bad list or a bad name of a lane.
    """
    if not isinstance(lanes, list) or not 1 <= len(lanes) <= MAX_LANES:
        raise ArgumentError("Ways to decode", f"must be 1 to {MAX_LANES}; choose one", None)
    settings = {str(lane): lane_settings(lane) for lane in lanes}
    return {lane: replace(form, **own) for lane, own in settings.items()}


def lane_settings(lane: object) -> dict[str, Any]:
    """Translate the name of a lane into fields of a form. Raises ArgumentError for a bad name.

    lane: "ntp", "verify", "sbd" or a solver's name. A colon and a number may follow: "verify:41"
        sets max_rows to 41, and "sbd:0.1" sets gamma, the first parameter of the solver, to 0.1.
    """
    name, colon, number = str(lane).partition(":")
    rule = SOLVERS.get("entropy-bound" if name == "sbd" else name)
    dial = "max_rows" if name == "verify" else None
    settings = {"strategy": name}
    if rule is not None:
        settings = {"strategy": "sbd", "solver": rule.name}
        dial = next((item.name for item in fields(rule)), None)
    elif name not in ("ntp", "verify"):
        names = ", ".join(["ntp", "verify", "sbd", *SOLVERS])
        raise ArgumentError("lanes", f"must each be one of {names}, as in sbd:0.1", lane)
    if not colon:
        return settings
    if dial is None:
        raise ArgumentError("lanes", f"{name} takes no value", lane)
    try:
        return {**settings, dial: float(number)}
    except ValueError:
        return {**settings, dial: number}  # checked() says what is wrong


def lane_name(config: DecodeConfig) -> str:
    """Write a config's strategy, solver and first parameter as a name for lane_settings()."""
    if config.strategy != "sbd":
        return str(config.strategy)
    values = list(solver_parameters(config.solver).values())[:1]
    name = "sbd" if config.solver.name == "entropy-bound" else config.solver.name
    return ":".join([name, *(f"{value:g}" for value in values)])


def prompt_of_form(form: Form, prompt: str) -> str | list[dict[str, str]]:
    """The prompt as text, or as chat messages if the form has a system message.

    Raises ArgumentError for a bad system message.
    """
    system = form.system
    if not isinstance(system, str) or len(system) > MAX_PROMPT_CHARACTERS:
        rule = f"must be text of at most {MAX_PROMPT_CHARACTERS:,} characters"
        raise ArgumentError("system", rule, "")
    if not system.strip():
        return prompt
    said = [("system", system), ("user", prompt)]
    return [{"role": role, "content": content} for role, content in said]


MAX_TEMPLATE_CHARACTERS = 2_000
BLANK = re.compile(r"_{3,}(?:\((\d+)\)|(\d+))?", re.ASCII)


def template_pins(model: SetBlockModel, template: object, config: DecodeConfig) -> dict[int, int]:
    """Translate a template into pinned tokens: {offset in the answer: token id}.

    template: answer with blanks, such as ___; "" pins nothing.
    After the template, an end token is pinned if the model has any.
    Raises ArgumentError for a bad template, or a strategy other than Set Block Decoding.
    """
    if not isinstance(template, str):
        raise ArgumentError("template", "must be text", template)
    if not template.strip():
        return {}
    if len(template) > MAX_TEMPLATE_CHARACTERS:
        rule = f"must be at most {MAX_TEMPLATE_CHARACTERS:,} characters"
        raise ArgumentError("template", rule, len(template))
    if config.strategy != "sbd":
        raise ArgumentError("template", "needs the strategy Set Block Decoding", config.strategy)
    tokens = _template_tokens(model, template)
    if None not in tokens:
        raise ArgumentError("template", "must hold a blank, ___", template)
    tokens += sorted(model.end_token_ids)[:1]
    if len(tokens) > config.max_new_tokens:
        rule = f"must be at most {config.max_new_tokens} tokens with its end, the longest answer"
        raise ArgumentError("template", rule, len(tokens))
    return {offset: token for offset, token in enumerate(tokens) if token is not None}


def _template_tokens(model: SetBlockModel, template: str) -> list[int | None]:
    """The template's token ids, with None for each token that a blank leaves open."""
    tokens: list[int | None] = []
    place = 0
    for blank in BLANK.finditer(template):
        tokens += _literal_tokens(model, template[place : blank.start()])
        tokens += [None] * _blank_length(blank)
        place = blank.end()
    return tokens + _literal_tokens(model, template[place:])


def _blank_length(blank: re.Match[str]) -> int:
    """Number of tokens that a blank stands for. Raises ArgumentError for 0 or too many."""
    digits = blank[1] or blank[2] or "1"
    length = int(digits) if len(digits) <= 4 else 0
    if not 1 <= length <= MAX_TEMPLATE_CHARACTERS:
        rule = f"must have blanks of 1 to {MAX_TEMPLATE_CHARACTERS:,} tokens"
        raise ArgumentError("template", rule, blank[0])
    return length


def _literal_tokens(model: SetBlockModel, text: str) -> list[int | None]:
    """Token ids of text inside an answer, without the start tokens that the tokenizer adds."""
    if not text:
        return []
    first, tokens = model.encode("", is_raw=True), model.encode(text, is_raw=True)
    return list(tokens[len(first) :] if tokens[: len(first)] == first else tokens)


def settings_of(trace: Trace) -> dict[str, Any]:
    """The form's fields with which a visitor can repeat the decode of a trace."""
    config = trace.config
    role, content = trace.messages[0] if trace.messages else ("", "")
    return {
        "prompt": trace.prompt,
        "system": content if role == "system" else "",
        "strategy": config.strategy,
        "solver": config.solver.name,
        **solver_parameters(config.solver),
        "block_size": config.block_size,
        "max_new_tokens": config.max_new_tokens,
        "seed": config.seed,
        "repetition_penalty": config.repetition_penalty,
        "max_rows": 0 if config.max_rows == MAX_ROWS else config.max_rows,
        "template": "",
    }


def _whole(value: Any) -> Any:
    """Turn a float that is a whole number into an int, since sliders send 8.0 for 8."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _pairs(value: Any) -> dict[int, int]:
    """Turn [[offset, token id], ...] into {offset: token id}; the token ids stay unchecked.

    Raises ArgumentError if the value is no list of pairs, or if an offset is bad or repeated.
    """
    is_list = isinstance(value, (list, tuple)) and len(value) <= MAX_NEW_TOKENS
    if not is_list or not all(isinstance(item, list) and len(item) == 2 for item in value):
        raise ArgumentError("pinned", "must be a list of offsets and token ids", value)
    pinned: dict[int, int] = {}
    for offset, token_id in value:
        require_integer("pinned offset", offset, 0)
        if offset in pinned:
            raise ArgumentError("pinned", "must name each position once", offset)
        pinned[offset] = token_id
    return pinned


def message_of(error: SetBlockDecodingError) -> str:
    """Write an error as one line for the visitor, with field, rule and value."""
    if not isinstance(error, ArgumentError):
        return f"{error}"
    label = LABELS.get(error.argument, error.argument)
    if error.value in ("", None):
        return f"{label} {error.rule}."
    return f"{label} {error.rule}; got {shown(error.value)}."
