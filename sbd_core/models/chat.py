"""Prompts and conversations as token ids, through the chat template where the tokenizer has one.

What people and models wrote is plain text: special tokens are the template's alone.
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import TemplateError

from sbd_core.errors import ModelError, shown
from sbd_core.models.protocol import Message

TEMPLATE_ERRORS = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError)
"""What the code of a chat template may raise."""


def encode_prompt(
    tokenizer: Any, prompt: str | Sequence[Message], name: str, *, is_raw: bool
) -> list[int]:
    """Token ids of a prompt as the user's turn; is_raw, or without a template, as it stands.

    prompt: or a conversation up to where the assistant answers. name: of the model, for the
    ModelError of a template that is broken, or that a conversation needs and is not there.
    """
    if isinstance(prompt, str):
        if is_raw or not tokenizer.chat_template:
            return list(tokenizer.encode(prompt, split_special_tokens=True))
        prompt = [("user", prompt)]
    if not tokenizer.chat_template:
        raise ModelError(f"{name}: its tokenizer has no chat template, which messages need")
    turns, contents = _apart(tokenizer, prompt)
    text = _rendered(tokenizer, turns, name, is_open=True)
    for mark in contents:
        if text.count(mark) != 1:
            raise ModelError(f"{name}: its chat template does not hold the prompt once")
    return _encoded(tokenizer, text, contents)


def encode_turn(
    tokenizer: Any, messages: Sequence[Message], answer: str, name: str
) -> tuple[list[int], list[int]]:
    """Token ids of messages up to where the assistant answers, and of its answer to the end token.

    The first are what decoding begins with; the second are what the template writes after them,
    or where it writes the messages otherwise then, the answer alone. messages: at least one; more
    than the user's one need a template. Raises ModelError.
    """
    end = tokenizer.eos_token_id
    if not tokenizer.chat_template:
        if len(messages) > 1 or messages[0][0] != "user":
            raise ModelError(f"{name}: its tokenizer has no chat template, which messages need")
        prompt = encode_prompt(tokenizer, messages[0][1], name, is_raw=True)
        return prompt, [*encode_plain(tokenizer, answer), end]
    whole, contents = _apart(tokenizer, [*messages, ("assistant", answer)])
    before = _rendered(tokenizer, whole[:-1], name, is_open=True)
    after = _rendered(tokenizer, whole, name, is_open=False)
    rest = after[len(before) :] if after.startswith(before) else whole[-1][1]
    ids = _encoded(tokenizer, rest, contents)
    last = len(ids) - 1 - ids[::-1].index(end) if end in ids else len(ids)
    return _encoded(tokenizer, before, contents), [*ids[:last], end]


def encode_plain(tokenizer: Any, text: str) -> list[int]:
    """Token ids of a text in which special tokens are but letters, with none added."""
    return list(tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))


def _apart(tokenizer: Any, messages: Sequence[Message]) -> tuple[list[Message], Mapping[str, str]]:
    """The messages, and where one holds the text of a special token, marks in place of contents."""
    special = [token.content for token in tokenizer.added_tokens_decoder.values()]
    if not any(text in content for text in special for _, content in messages):
        return list(messages), {}
    contents = {secrets.token_hex(16): content for _, content in messages}
    marked = [(role, mark) for (role, _), mark in zip(messages, contents, strict=True)]
    return marked, contents


def _rendered(tokenizer: Any, messages: Sequence[Message], name: str, *, is_open: bool) -> str:
    """What the template makes of messages; is_open: up to where the assistant's answer begins."""
    turns = [{"role": role, "content": content} for role, content in messages]
    try:
        text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=is_open)
    except TEMPLATE_ERRORS as error:
        reason = shown(" ".join(str(error).split()))
        raise ModelError(f"{name}: its chat template cannot be used: {reason}") from error
    return str(text)


def _encoded(tokenizer: Any, text: str, contents: Mapping[str, str]) -> list[int]:
    """Token ids of the template's text, with the contents that marks stand for as plain text."""
    parts = re.split(f"({'|'.join(contents)})", text) if contents else [text]
    found: list[int] = []
    for part in parts:
        if part in contents:
            found += encode_plain(tokenizer, contents[part])
        elif part:
            found += tokenizer.encode(part, add_special_tokens=False)
    return found
