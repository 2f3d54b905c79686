"""The visitor's form: its fields, its rules and limits, and the text of each error.

Knows no Gradio and no tensors.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from sbd_core.config import MAX_ROWS, DecodeConfig, config_of, decode_settings
from sbd_core.errors import ArgumentError, SetBlockDecodingError, shown
from sbd_core.models.protocol import SetBlockModel
from sbd_core.run_lines import MAX_SHOWN_BLOCK
from sbd_core.solvers import SOLVERS, EntropyBound, solver_parameters
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
    **{item["name"]: item["label"] for item in decode_settings()},
    "model": "Model",
    "prompt": "Prompt",
    "system": "System message",
    "template": "Answer with blanks",
    "pinned offset": "A pin’s position",
}
LINK_FIELDS = {
    "prompt": "prompt",
    "system": "system",
    **{item["link"]: item["name"] for item in decode_settings() if item["link"]},
    "with": "model",
}
"""Names in the page's address, with the field of the form that each stands for."""
LANES = "lanes"
"""Name in the page's address of the lanes to compare."""
DEFAULTS = {"max_new_tokens": 128, "max_rows": 0}
"""Defaults of the page where they are not those of a decode; of max_rows, 0 takes USUAL_ROWS."""


@dataclass(frozen=True, slots=True, init=False)
class Form:
    """The form as it arrived, unchecked: a program may send anything in any field.

    settings: the settings of a decode by name, see config_of(). pinned is a list of pairs, and
        0 as repetition_penalty takes the model's default.
    template: answer with blanks, see template_pins().
    ask: short id of the request; the first JSON line of the run repeats this id for the player.
    model: name of the model; "" takes the page's first model.
    system: message to the model before the prompt.
    """

    prompt: Any
    template: Any
    ask: Any
    model: Any
    system: Any
    settings: Mapping[str, Any]

    # Settings are declared in sbd_core.config alone, so they are keywords of any name here.
    def __init__(self, prompt: Any, **given: Any) -> None:
        """Make a form. given: the other fields and the settings; unknown names are dropped."""
        settings = {name: given[name] for name in LINK_FIELDS.values() if name in given}
        for name in ("template", "ask", "model", "system"):
            settings.pop(name, None)
            object.__setattr__(self, name, given.get(name, ""))
        object.__setattr__(self, "prompt", prompt)
        object.__setattr__(self, "settings", settings)

    @classmethod
    def of(cls, data: Any) -> "Form":
        """Make a form from a dict of names and values; unknown names are dropped."""
        return cls(**{"prompt": None, **(data if isinstance(data, dict) else {})})

    def with_settings(self, settings: Mapping[str, Any]) -> "Form":
        """This form with other values of these settings or fields."""
        own = {name: getattr(self, name) for name in self.__slots__ if name != "settings"}
        return Form(**{**own, **self.settings, **settings})


def checked(form: Form) -> tuple[str, DecodeConfig]:
    """Check a form; return its prompt and config. Raises ArgumentError for a bad field."""
    if not isinstance(form.prompt, str) or not form.prompt.strip():
        raise ArgumentError("prompt", "must not be empty", "")
    given = {**DEFAULTS, **form.settings}
    if given["max_rows"] in (0, None):
        del given["max_rows"]
    config = config_of(given, is_form=True)
    is_shown = 2 <= config.block_size <= MAX_SHOWN_BLOCK
    return form.prompt, replace(config, allows_untrained_block_size=is_shown)


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
    return {lane: form.with_settings(own) for lane, own in settings.items()}


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
    names = [item["name"] for item in decode_settings() if item["link"] and not item["solvers"]]
    return {
        "prompt": trace.prompt,
        "system": content if role == "system" else "",
        "template": "",
        **{name: getattr(config, name) for name in names if name != "pinned"},
        "max_rows": 0 if config.max_rows == MAX_ROWS else config.max_rows,
        "solver": config.solver.name,
        **solver_parameters(config.solver),
    }


def message_of(error: SetBlockDecodingError) -> str:
    """Write an error as one line for the visitor, with field, rule and value."""
    if not isinstance(error, ArgumentError):
        return f"{error}"
    label = LABELS.get(error.argument, error.argument)
    if error.value in ("", None):
        return f"{label} {error.rule}."
    return f"{label} {error.rule}; got {shown(error.value)}."
