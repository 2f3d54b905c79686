"""Encodes prompts and conversations, with the tokenizer's chat template if there is one.

Only the template writes control tokens; the same characters in a message become ordinary text. An
assistant's message keeps control tokens that are not marked as special in the tokenizer, as they
delimit thoughts and tool calls. A template that does not ship with this package is first tried in
a child process, with limits on time and memory.
"""

import json
import re
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Any

from jinja2 import TemplateError
from tokenizers import Tokenizer

from sbd_core.errors import ModelError, shown
from sbd_core.models.protocol import Message

TEMPLATE_ERRORS = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError)
"""Exceptions that the code of a chat template may raise."""
CONTROL = re.compile(r"[^\w\s].*\w.*[^\w\s]", re.DOTALL)
"""Matches added tokens that are not words, emoji or spaces: <tool_call>, [INST], <|fim_prefix|>."""


def encode_prompt(
    tokenizer: Any, prompt: str | Sequence[Message], name: str, *, is_raw: bool
) -> list[int]:
    """Encode a prompt with the chat template, up to the start of the assistant's answer.

    prompt: a text, which becomes the user's message, or a conversation.
    name: the model's name in error messages.
    is_raw: whether to encode a text without the template. Conversations always need the template.
    Raises ModelError if the template fails, or if there is none for a conversation.
    """
    if isinstance(prompt, str):
        if is_raw or not tokenizer.chat_template:
            return _raw(tokenizer, prompt)
        prompt = [("user", prompt)]
    if not tokenizer.chat_template:
        raise ModelError(f"{name}: its tokenizer has no chat template, which messages need")
    turns, contents = _marked(tokenizer, prompt)
    return _encoded(tokenizer, _rendered(tokenizer, turns, name, is_open=True), contents)[0]


def encode_turn(
    tokenizer: Any, messages: Sequence[Message], answer: str, name: str
) -> tuple[list[int], list[int]]:
    """Encode a conversation and the answer to it; returns (prompt ids, answer ids).

    messages: the conversation. Without a chat template it must be a single user message.
    name: the model's name in error messages.
    The prompt ids are those of encode_prompt(), up to the first id that changes when the answer
    follows. The answer ids end with the tokenizer's end token. Raises ModelError.
    """
    end = tokenizer.eos_token_id
    if not tokenizer.chat_template:
        if len(messages) > 1 or messages[0][0] != "user":
            raise ModelError(f"{name}: its tokenizer has no chat template, which messages need")
        return _raw(tokenizer, messages[0][1]), [*encode_plain(tokenizer, answer), end]
    whole, contents = _marked(tokenizer, [*messages, ("assistant", answer)])
    before = _rendered(tokenizer, whole[:-1], name, is_open=True)
    after = _rendered(tokenizer, whole, name, is_open=False)
    if not after.startswith(before):  # a whole chat is rendered differently
        after = before + whole[-1][1]
    prompt, _ = _encoded(tokenizer, before, contents)
    ids, ends = _encoded(tokenizer, after, contents)
    start = len(prompt)
    if ids[:start] != prompt:
        same = takewhile(lambda pair: pair[0] == pair[1], zip(ids, prompt, strict=False))
        ended = [place for place in ends if place <= len(before)]
        start = len(ended if tokenizer.is_fast else list(same))
    rest = ids[start:]
    last = len(rest) - 1 - rest[::-1].index(end) if end in rest else len(rest)
    return ids[:start], [*rest[:last], end]


def encode_plain(tokenizer: Any, text: str) -> list[int]:
    """Encode a text without adding tokens; control tokens in the text become ordinary text."""
    return _plain(tokenizer, text)[0]


Encoded = tuple[list[int], list[int]]
"""(token ids, index in the text where each token ends); slow tokenizers give no indices."""


def template_mark(tokenizer: Any, text: str) -> str | None:
    """Find a special token that occurs in both a text and the chat template; None if none does."""
    template = str(tokenizer.chat_template or "")
    special = _control_texts(tokenizer, len(tokenizer))[True]
    return next((mark for mark in special if mark in text and mark in template), None)


def _raw(tokenizer: Any, text: str) -> list[int]:
    """Encode a plain text with the tokenizer's start token and without its end token."""
    ids, _ = _plain(tokenizer, text, add_special_tokens=True)
    return ids[:-1] if ids[-1:] == [tokenizer.eos_token_id] else ids


def _plain(
    tokenizer: Any, text: str, *, add_special_tokens: bool = False, is_model: bool = False
) -> Encoded:
    """Encode a text; control tokens in it become ordinary text.

    is_model: whether the assistant wrote the text. If so, only special tokens become ordinary text.
    """
    if not is_model and tokenizer.is_fast and _controls(tokenizer, text, is_special=False):
        encoding = _without_controls(tokenizer).encode(text, add_special_tokens=add_special_tokens)
        return encoding.ids, [end for _, end in encoding.offsets]
    return _ids_of(
        tokenizer, text, add_special_tokens=add_special_tokens, split_special_tokens=True
    )


def _ids_of(tokenizer: Any, text: str, **options: bool) -> Encoded:
    if not tokenizer.is_fast:
        return tokenizer.encode(text, **options), []
    encoding = tokenizer(text, return_offsets_mapping=True, **options)
    return encoding["input_ids"], [end for _, end in encoding["offset_mapping"]]


def _controls(tokenizer: Any, text: str, *, is_special: bool) -> bool:
    """Whether a text contains a special token, or, if not is_special, another control token."""
    return any(control in text for control in _control_texts(tokenizer, len(tokenizer))[is_special])


@lru_cache(maxsize=4)
def _control_texts(tokenizer: Any, size: int) -> tuple[list[str], list[str]]:
    """List the texts of a tokenizer's control tokens: (not marked as special, marked as special).

    size: number of tokens in the tokenizer; only a cache key, as tokens may be added.
    """
    tokens = tokenizer.added_tokens_decoder.values()
    others = [token.content for token in tokens if not token.special]
    special = [token.content for token in tokens if token.special]
    return [text for text in others if CONTROL.fullmatch(text)], special


@lru_cache(maxsize=4)
def _without_controls(tokenizer: Any) -> Tokenizer:
    """Copy the tokenizer into one that encodes control tokens as ordinary text."""
    data = json.loads(tokenizer.backend_tokenizer.to_str())
    for token in data["added_tokens"]:
        token["special"] |= CONTROL.fullmatch(token["content"]) is not None
    twin = Tokenizer.from_str(json.dumps(data))
    twin.encode_special_tokens = True
    return twin


def _marked(
    tokenizer: Any, messages: Sequence[Message]
) -> tuple[list[Message], Mapping[str, Message]]:
    """Replace the content of each message that contains a control token by a random mark.

    Returns the messages and {mark: original message}. White space at both ends of a content stays
    around the mark, as a template may trim it.
    """
    marked: list[Message] = []
    contents: dict[str, Message] = {}
    for role, content in messages:
        is_held = _controls(tokenizer, content, is_special=True) or (
            role != "assistant" and _controls(tokenizer, content, is_special=False)
        )
        if is_held:
            mark = secrets.token_hex(16)
            contents[mark] = (role, content)
            content = content.replace(content.strip(), mark)
        marked.append((role, content))
    return marked, contents


def _rendered(tokenizer: Any, messages: Sequence[Message], name: str, *, is_open: bool) -> str:
    """Render messages as text with the chat template. Raises ModelError.

    is_open: whether to add the header after which the assistant's answer begins.
    """
    turns = [{"role": role, "content": content} for role, content in messages]
    try:
        text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=is_open)
    except TEMPLATE_ERRORS as error:
        reason = shown(" ".join(str(error).split()))
        raise ModelError(f"{name}: its chat template cannot be used: {reason}") from error
    for role, content in messages:
        if role in ("system", "user") and content.strip() not in text:
            raise ModelError(f"{name}: its chat template leaves out what the {role} says")
    return str(text)


def _encoded(tokenizer: Any, text: str, contents: Mapping[str, Message]) -> Encoded:
    """Encode a text rendered with marks; each mark is replaced by its message's content."""
    patterns = []
    for mark, (_, content) in contents.items():
        lead, _, trail = content.partition(content.strip())
        patterns.append(f"(?:{re.escape(lead)})?{mark}(?:{re.escape(trail)})?")
    parts = re.split(f"({'|'.join(patterns)})", text) if contents else [text]
    ids: list[int] = []
    ends: list[int] = []
    place = 0
    for part in parts:
        mark = next((mark for mark in contents if mark in part), "")
        if mark:
            role, content = contents[mark]
            words = part.replace(mark, content.strip())
            piece_ids, _ = _plain(tokenizer, words, is_model=role == "assistant")
            places = [len(part)] * len(piece_ids)
        elif part:
            piece_ids, places = _ids_of(tokenizer, part, add_special_tokens=False)
        else:
            continue
        ids += piece_ids
        ends += [place + end for end in places]
        place += len(part)
    return ids, ends


MAX_CHARACTERS = 1_000_000
"""Largest number of characters that a template may make of a few words."""
CPU_SECONDS = 5
MEMORY_BYTES = 2**30
"""Memory in bytes that the child process may allocate after its start."""
WALL_SECONDS = 120.0
TOO_LONG, TOO_LARGE = 3, 4
REASONS = {
    TOO_LONG: f"takes more than {CPU_SECONDS} seconds",
    TOO_LARGE: "makes more text, or takes more memory, than any prompt needs",
}
TALK = ("user", "assistant", "user")

# Runs in the child process. Any other fault of a template is reported at its first use.
CHILD = """
import json, sys
from transformers.utils.chat_template_utils import render_jinja_template
template, roles, special, most, seconds, memory, too_long, too_large = json.load(sys.stdin)
try:
    import resource, signal
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory,) * 2)
    signal.signal(signal.SIGPROF, lambda *_: sys.exit(too_long))
    signal.setitimer(signal.ITIMER_PROF, seconds)
except (ImportError, OSError, ValueError):
    pass  # the parent's limit on time stays
talk = [{"role": role, "content": "a prompt"} for role in roles]
size = 0
try:
    for messages in (talk[:1], talk):
        for is_open in (True, False):
            texts, _ = render_jinja_template(
                [messages], chat_template=template, add_generation_prompt=is_open, **special
            )
            size = max(size, len(texts[0]))
except MemoryError:
    sys.exit(too_large)
except Exception:
    pass
sys.exit(too_large if size > most else 0)
"""


def require_bounded_template(tokenizer: Any, name: str) -> None:
    """Raise ModelError for a chat template that takes too much time or memory.

    name: the model's name in the error message. The first check of a template takes a second.
    """
    template = tokenizer.chat_template
    if not isinstance(template, str):
        return
    special = {key: str(text) for key, text in tokenizer.special_tokens_map.items()}
    status = _status_of(template, json.dumps(special))
    if status in REASONS:
        raise ModelError(f"{name}: its chat template cannot be used: it {REASONS[status]}")


@lru_cache(maxsize=8)
def _status_of(template: str, special: str) -> int:
    """Try a template in a child process; returns TOO_LONG, TOO_LARGE, or 0 if it keeps the limits.

    special: {name: text} of the tokenizer's special tokens, as JSON.
    """
    limits = (MAX_CHARACTERS, CPU_SECONDS, MEMORY_BYTES, TOO_LONG, TOO_LARGE)
    request = json.dumps([template, TALK, json.loads(special), *limits])
    try:
        done = subprocess.run(
            [sys.executable, "-c", CHILD],
            input=request,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=WALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return TOO_LONG
    except OSError as error:
        rule = "its chat template cannot be tried, as no process can be started"
        raise ModelError(f"model: {rule}: {shown(error)}") from error
    # A child that was killed took more than the machine has.
    return TOO_LARGE if done.returncode < 0 else done.returncode
