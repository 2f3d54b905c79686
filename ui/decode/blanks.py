"""An answer with blanks, as the tokens that are pinned between them.

Knows a model's tokenizer, and no other field of the form.
"""

import re

from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError
from sbd_core.models.protocol import SetBlockModel

MAX_TEMPLATE_CHARACTERS = 2_000
BLANK = re.compile(r"_{3,}(?:\((\d+)\)|(\d+))?", re.ASCII)


def pins_of(model: SetBlockModel, template: object, config: DecodeConfig) -> dict[int, int]:
    """The pinned tokens by which a decode with `config` keeps to `template`; none if it is empty.

    The end of the answer is pinned behind it, if the model has an end token. Raises ArgumentError.
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
    tokens = _tokens(model, template)
    if None not in tokens:
        raise ArgumentError("template", "must hold a blank, ___", template)
    tokens += sorted(model.end_token_ids)[:1]
    if len(tokens) > config.max_new_tokens:
        rule = f"must be at most {config.max_new_tokens} tokens with its end, the longest answer"
        raise ArgumentError("template", rule, len(tokens))
    return {offset: token for offset, token in enumerate(tokens) if token is not None}


def _tokens(model: SetBlockModel, template: str) -> list[int | None]:
    """The template's token ids; None for each token to fill in."""
    tokens: list[int | None] = []
    place = 0
    for blank in BLANK.finditer(template):
        tokens += _literal(model, template[place : blank.start()])
        tokens += [None] * _length(blank)
        place = blank.end()
    return tokens + _literal(model, template[place:])


def _length(blank: re.Match[str]) -> int:
    """Number of tokens of a blank. Raises ArgumentError."""
    digits = blank[1] or blank[2] or "1"
    length = int(digits) if len(digits) <= 4 else 0
    if not 1 <= length <= MAX_TEMPLATE_CHARACTERS:
        rule = f"must have blanks of 1 to {MAX_TEMPLATE_CHARACTERS:,} tokens"
        raise ArgumentError("template", rule, blank[0])
    return length


def _literal(model: SetBlockModel, text: str) -> list[int | None]:
    """Token ids of text inside an answer, without tokens that the tokenizer puts first."""
    if not text:
        return []
    first, tokens = model.encode("", is_raw=True), model.encode(text, is_raw=True)
    return list(tokens[len(first) :] if tokens[: len(first)] == first else tokens)
