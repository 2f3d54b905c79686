"""The visitor's form: its fields, its rules and limits, and the text of each error.

Knows no Gradio and no tensors.
"""

import logging
import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from sbd_core.config import MAX_ROWS, DecodeConfig, config_of, decode_settings
from sbd_core.errors import ArgumentError, SetBlockDecodingError, is_out_of_memory, shown
from sbd_core.models.protocol import SetBlockModel
from sbd_core.run_lines import MAX_SHOWN_BLOCK
from sbd_core.solvers import SOLVERS, EntropyBound
from ui.decode.fair_queue import MAX_PLACES_EACH

DEFAULT_GAMMA = EntropyBound().gamma
MAX_PROMPT_CHARACTERS = 2_000
MAX_TYPED_CHARACTERS = 20_000
"""Capacity of a text box. It exceeds the prompt's limit, so a long prompt is refused, not cut."""
MAX_NEW_TOKENS = 256
USUAL_ROWS = {"GPU": MAX_ROWS, "CPU": 12, "WebAssembly": 7}
"""Most rows of a forward pass of verify on the page, by what computes it; see docs/decoding.md."""
MAX_LANES = 4
SETTINGS = [item for item in decode_settings() if item["link"]]
"""The settings of a decode that the page has."""
LABELS = {
    **{item["name"]: item["label"] for item in decode_settings()},
    "model": "Model",
    "prompt": "Prompt",
    "system": "System message",
    "template": "Answer with blanks",
    "pinned offset": "A pin’s position",
}
DEFAULTS = {"max_new_tokens": 128, "max_rows": 0}
"""Defaults of the page where they are not those of a decode; of max_rows, 0 takes USUAL_ROWS."""


class Form:
    """The form as it arrived, unchecked: a program may send anything in any field.

    settings: the settings of a decode by name, see config_of(). pinned is a list of pairs, and
        0 as repetition_penalty takes the model's default.
    template: answer with blanks, see template_pins().
    ask: short id of the request; the first JSON line of the run repeats this id for the player.
    model: "" takes the page's first model. system: message to the model before the prompt.
    """

    def __init__(self, prompt: Any, /, **given: Any) -> None:
        """Make a form. given: the other fields and the settings; unknown names are dropped."""
        self.prompt, self._given = prompt, given
        names = ("template", "ask", "model", "system")
        self.template, self.ask, self.model, self.system = (given.get(name, "") for name in names)
        self.settings = {i["name"]: given[i["name"]] for i in SETTINGS if i["name"] in given}

    @classmethod
    def of(cls, data: Any) -> "Form":
        """Make a form from a dict of names and values; unknown names are dropped."""
        given = data if isinstance(data, dict) else {}
        return cls(given.get("prompt"), **given)

    def with_settings(self, settings: Mapping[str, Any]) -> "Form":
        """This form with other values of these settings."""
        return Form(self.prompt, **{**self._given, **settings})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one decode, and of each visitor.

    is_public: whether strangers use the page: they decode in their browsers with bundled models
        only, and see no folders of this machine.
    """

    max_prompt_tokens: int = 1_000
    max_new_tokens: int = MAX_NEW_TOKENS
    max_run_seconds: float = 300.0
    max_places: int = MAX_PLACES_EACH
    is_public: bool = False


USUAL = Limits()
PUBLIC = Limits(
    max_prompt_tokens=400,
    max_new_tokens=128,
    max_run_seconds=30.0,
    max_places=4,
    is_public=True,
)


def checked(form: Form, limits: Limits = USUAL) -> tuple[str | list[dict[str, str]], DecodeConfig]:
    """Check a form, but for what depends on its model; return its prompt and config.

    The prompt is text, or chat messages if the form has a system message. Raises ArgumentError for
    a bad field.
    """
    prompt, system = form.prompt, form.system
    if not isinstance(prompt, str) or not prompt.strip():
        raise ArgumentError("prompt", "must not be empty", "")
    given = {**DEFAULTS, **form.settings}
    if given["max_rows"] in (0, None):
        del given["max_rows"]
    config = config_of(given, is_form=True)
    require_at_most("prompt", len(prompt), MAX_PROMPT_CHARACTERS, "characters")
    most = limits.max_new_tokens
    require_at_most("max_new_tokens", config.max_new_tokens, most, "tokens on this page")
    require_at_most("block_size", config.block_size, MAX_SHOWN_BLOCK, "positions on this page")
    if not isinstance(system, str) or len(system) > MAX_PROMPT_CHARACTERS:
        rule = f"must be text of at most {MAX_PROMPT_CHARACTERS:,} characters"
        raise ArgumentError("system", rule, "")
    config = replace(config, allows_untrained_block_size=config.block_size > 1)
    if not system.strip():
        return prompt, config
    turns = ("system", system), ("user", prompt)
    return [{"role": role, "content": content} for role, content in turns], config


def require_at_most(field: str, value: int, most: int, what: str) -> None:
    """Raise ArgumentError if a field has more than `most`. what: what is counted."""
    if value > most:
        raise ArgumentError(field, f"must be at most {most:,} {what}", value)


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
    require_at_most("template", len(template), MAX_TEMPLATE_CHARACTERS, "characters")
    if config.strategy != "sbd":
        raise ArgumentError("template", "needs the strategy Set Block Decoding", config.strategy)
    pins: dict[int, int] = {}
    offset = last = 0
    for blank in BLANK.finditer(template):
        given = _literal_tokens(model, template[last : blank.start()])
        pins.update(enumerate(given, offset))
        offset += len(given) + _blank_length(blank)
        last = blank.end()
    if not last:
        raise ArgumentError("template", "must hold a blank, ___", template)
    ending = (*_literal_tokens(model, template[last:]), *sorted(model.end_token_ids)[:1])
    pins.update(enumerate(ending, offset))
    most = "tokens with its end, the longest answer"
    require_at_most("template", offset + len(ending), config.max_new_tokens, most)
    return pins


def _blank_length(blank: re.Match[str]) -> int:
    """Number of tokens that a blank stands for. Raises ArgumentError for 0 or too many."""
    digits = blank[1] or blank[2] or "1"
    length = int(digits) if len(digits) <= 4 else 0
    if not 1 <= length <= MAX_TEMPLATE_CHARACTERS:
        rule = f"must have blanks of 1 to {MAX_TEMPLATE_CHARACTERS:,} tokens"
        raise ArgumentError("template", rule, blank[0])
    return length


def _literal_tokens(model: SetBlockModel, text: str) -> tuple[int, ...]:
    """Token ids of text inside an answer, without the start tokens that the tokenizer adds."""
    if not text:
        return ()
    first, tokens = model.encode("", is_raw=True), model.encode(text, is_raw=True)
    return tuple(tokens[len(first) :] if tokens[: len(first)] == first else tokens)


FAILED_TEXT = "The decode failed inside the program; the log says where."
FULL_TEXT = (
    "The model ran out of memory; try a shorter answer, a shorter prompt or a smaller block."
)

logger = logging.getLogger(__name__)


def message_of(error: Exception) -> str:
    """Write an error as one line for the visitor: of one of ours its field, rule and value.

    The log gets the lines of code that raised any other error, and its kind; no words, which may be
    a visitor's.
    """
    if not isinstance(error, SetBlockDecodingError):
        lines = "".join(traceback.format_tb(error.__traceback__))
        logger.error("a request failed:\n%s", lines + type(error).__name__)
        return FULL_TEXT if is_out_of_memory(error) else FAILED_TEXT
    if not isinstance(error, ArgumentError):
        return f"{error}"
    label = LABELS.get(error.argument, error.argument)
    if error.value in ("", None):
        return f"{label} {error.rule}."
    return f"{label} {error.rule}; got {shown(error.value)}."
