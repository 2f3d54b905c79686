"""Encodes prompts and conversations, with the tokenizer's chat template if there is one.

Only the template writes control tokens; the same characters in a message become ordinary text. An
assistant's message keeps control tokens that are not marked as special in the tokenizer, as they
delimit thoughts and tool calls. LimitedTemplate renders a stranger's template within limits on
time, memory and length.
"""

import json
import re
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import takewhile
from typing import Any

from tokenizers import Tokenizer

from sbd_core.errors import ModelError, shown
from sbd_core.models.protocol import Message

CONTROL = re.compile(r"[^\w\s].*\w.*[^\w\s]", re.DOTALL)
"""Matches added tokens that are not words, emoji or spaces: <tool_call>, [INST], <|fim_prefix|>."""

THOUGHT = re.compile(r"(<\w*think\w*>|\[THINK\])(\s*)$", re.IGNORECASE)
"""Matches the end of a prompt after which the model thinks first."""

Render = Callable[..., Any]
"""apply_chat_template() of a tokenizer, or a function that does the same within limits."""


def encode_prompt(
    tokenizer: Any,
    prompt: str | Sequence[Message],
    name: str,
    *,
    is_raw: bool,
    render: Render | None = None,
) -> list[int]:
    """Encode a prompt with the chat template, up to the start of the assistant's answer.

    prompt: a text, which becomes the user's message, or a conversation.
    is_raw: whether to encode a text without the template. Conversations always need the template.
    render: renders the template; None is the tokenizer's own way, without limits.
    Raises ModelError if the template fails, or if there is none for a conversation.
    """
    if isinstance(prompt, str):
        if is_raw or not tokenizer.chat_template:
            return _raw(tokenizer, prompt)
        prompt = [("user", prompt)]
    if not tokenizer.chat_template:
        raise ModelError(f"{name}: its tokenizer has no chat template, which messages need")
    turns, contents = _marked(tokenizer, prompt)
    text = _rendered(render or tokenizer.apply_chat_template, turns, name, is_open=True)
    return _encoded(tokenizer, text, contents)


def encode_turn(
    tokenizer: Any, messages: Sequence[Message], answer: str, name: str
) -> tuple[list[int], list[int]]:
    """Encode a conversation and the answer to it; returns (prompt ids, answer ids).

    messages: the conversation. Without a chat template it must be a single user message.
    The prompt ids are those of encode_prompt(), up to the first id that changes when the answer
    follows. The answer ids end with the tokenizer's end token. If the prompt opens a thought, an
    answer without one closes it first. Raises ModelError.
    """
    end = tokenizer.eos_token_id
    if not tokenizer.chat_template:
        if len(messages) > 1 or messages[0][0] != "user":
            raise ModelError(f"{name}: its tokenizer has no chat template, which messages need")
        return _raw(tokenizer, messages[0][1]), [*encode_plain(tokenizer, answer), end]
    turns, contents = _marked(tokenizer, messages)
    before = _rendered(tokenizer.apply_chat_template, turns, name, is_open=True)
    answered, more = _marked(tokenizer, [("assistant", _continued(before, answer))])
    contents |= more
    after = _rendered(tokenizer.apply_chat_template, [*turns, *answered], name, is_open=False)
    if not after.startswith(before):  # a whole chat is rendered differently
        after = before + answered[0][1]
    prompt, ids = (_encoded(tokenizer, text, contents) for text in (before, after))
    same = takewhile(lambda pair: pair[0] == pair[1], zip(ids, prompt, strict=False))
    start = len(list(same))
    rest = ids[start:]
    last = len(rest) - 1 - rest[::-1].index(end) if end in rest else len(rest)
    return ids[:start], [*rest[:last], end]


def _continued(before: str, answer: str) -> str:
    """Make an answer continue its rendered prompt `before`, which may open a thought.

    The thought is not opened again, and closed by an answer that does not think.
    """
    opened = THOUGHT.search(before)
    if opened is None:
        return answer
    mark, space = opened.groups()
    rest = answer.lstrip()
    if rest.startswith(mark):
        return rest.removeprefix(mark).removeprefix(space)
    close = f"{mark[0]}/{mark[1:]}"
    return answer if close in answer else f"\n{close}\n\n{answer}"


def encode_plain(tokenizer: Any, text: str, *, add_special_tokens: bool = False) -> list[int]:
    """Encode a text; control tokens in it become ordinary text."""
    options: dict[str, Any] = {"add_special_tokens": add_special_tokens}
    if tokenizer.is_fast and _controls(tokenizer, text, is_special=False):
        return _twin(tokenizer, len(tokenizer)).encode(text, **options).ids
    return list(tokenizer.encode(text, split_special_tokens=True, **options))


def template_mark(tokenizer: Any, text: str) -> str | None:
    """Find a special token that occurs in both a text and the chat template; None if none does."""
    template = str(tokenizer.chat_template or "")
    special = _control_texts(tokenizer, len(tokenizer))[True]
    return next((mark for mark in special if mark in text and mark in template), None)


def _raw(tokenizer: Any, text: str) -> list[int]:
    """Encode a plain text with the tokenizer's start token and without its end token."""
    ids = encode_plain(tokenizer, text, add_special_tokens=True)
    return ids[:-1] if ids[-1:] == [tokenizer.eos_token_id] else ids


def _controls(tokenizer: Any, text: str, *, is_special: bool) -> bool:
    """Whether a text contains a special token, or, if not is_special, another control token."""
    return any(control in text for control in _control_texts(tokenizer, len(tokenizer))[is_special])


@lru_cache(maxsize=4)
def _control_texts(tokenizer: Any, size: int) -> tuple[list[str], list[str]]:
    """List the texts of a tokenizer's control tokens: (not marked as special, marked as special).

    size: of the tokenizer, to which tokens may be added; only a cache key.
    """
    tokens = tokenizer.added_tokens_decoder.values()
    others = [token.content for token in tokens if not token.special]
    special = [token.content for token in tokens if token.special]
    return [text for text in others if CONTROL.fullmatch(text)], special


@lru_cache(maxsize=8)
def _twin(tokenizer: Any, size: int, *, is_model: bool = False, is_start: bool = True) -> Tokenizer:
    """Copy the tokenizer into one that encodes control tokens as ordinary text.

    size: see _control_texts(). is_model: whether special tokens alone do, as where it wrote.
    is_start: False leaves out the space that SentencePiece puts before the first word of a text.
    """
    data = json.loads(tokenizer.backend_tokenizer.to_str())
    for token in data["added_tokens"]:
        is_control = not is_model and CONTROL.fullmatch(token["content"]) is not None
        token["special"] |= is_control
    text = json.dumps(data)
    if not is_start:
        text = text.replace('"prepend_scheme": "first"', '"prepend_scheme": "never"')
    twin = Tokenizer.from_str(text)
    twin.encode_special_tokens = True
    return twin


def _marked(
    tokenizer: Any, messages: Sequence[Message]
) -> tuple[list[Message], dict[str, Message]]:
    """Replace the content of each message that contains a control token by a random mark.

    Returns the messages and {mark: original message}. White space at both ends of a content stays
    around the mark, as a template may trim it.
    """
    marked: list[Message] = []
    contents: dict[str, Message] = {}
    for role, content in messages:
        kinds = (True,) if role == "assistant" else (True, False)
        if any(_controls(tokenizer, content, is_special=kind) for kind in kinds):
            mark = secrets.token_hex(16)
            contents[mark] = (role, content)
            content = content.replace(content.strip(), mark)
        marked.append((role, content))
    return marked, contents


def _rendered(render: Render, messages: Sequence[Message], name: str, *, is_open: bool) -> str:
    """Render messages as text. is_open: whether to add the header of the assistant's answer."""
    turns = [{"role": role, "content": content} for role, content in messages]
    try:
        text = render(turns, tokenize=False, add_generation_prompt=is_open)
    except Exception as error:  # whatever the template's code raises
        reason = shown(" ".join(str(error).split()))
        raise ModelError(f"{name}: its chat template cannot be used: {reason}") from error
    for role, content in messages:
        if role in ("system", "user") and content.strip() not in text:
            raise ModelError(f"{name}: its chat template leaves out what the {role} says")
    return str(text)


def _encoded(tokenizer: Any, text: str, contents: Mapping[str, Message]) -> list[int]:
    """Encode a text rendered with marks; each mark is replaced by its message's content.

    What stands between two control tokens of the template is encoded as one text, so a content with
    control tokens has the ids that any other content would have.
    """
    if not contents:
        return list(tokenizer.encode(text, add_special_tokens=False))
    mark = re.compile("|".join(contents))
    ids: list[int] = []
    if not tokenizer.is_fast:
        for part in re.split(f"({mark.pattern})", text):
            if part in contents:
                ids += encode_plain(tokenizer, contents[part][1].strip())
            else:
                ids += tokenizer.encode(part, add_special_tokens=False)
        return ids
    encoding = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)
    controls = {each for kind in _control_texts(tokenizer, len(tokenizer)) for each in kind}
    start, section_ids = 0, list[int]()
    for token_id, (begin, end) in (
        *zip(encoding["input_ids"], encoding["offset_mapping"], strict=True),
        (None, (len(text), len(text))),
    ):
        if token_id is not None and text[begin:end].strip() not in controls:
            section_ids.append(token_id)
            continue
        section = text[start:begin]
        if inside := mark.findall(section):
            is_model = all(contents[each][0] == "assistant" for each in inside)
            options = {"is_model": is_model, "is_start": start == 0}
            whole = mark.sub(lambda each: contents[each[0]][1].strip(), section)
            twin = _twin(tokenizer, len(tokenizer), **options)
            section_ids = twin.encode(whole, add_special_tokens=False).ids
        ids += section_ids if token_id is None else [*section_ids, token_id]
        start, section_ids = end, []
    return ids


MAX_CHARACTERS = 1_000_000
"""Largest number of characters that a limited template may add to those of the messages."""
CPU_SECONDS = 5
MEMORY_BYTES = 2**30
"""Memory in bytes that the child process may allocate after its start."""
WALL_SECONDS = 120.0
TOO_MUCH = "it takes more time, more memory or makes more text than any prompt needs"

# The child process: renders a chat for each line of standard input.
CHILD = """
import json, sys
from transformers.utils.chat_template_utils import render_jinja_template
render_jinja_template([[]], chat_template="")  # imports what it needs, before the limits
print(flush=True)  # ready; the parent's limit on time begins
template, special, most, seconds, memory = json.loads(sys.stdin.readline())
try:
    import resource, signal
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory,) * 2)
except (ImportError, OSError, ValueError):
    signal = None  # the parent's limit on time stays
for line in sys.stdin:
    turns, is_open = json.loads(line)
    if signal:
        signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        [text], _ = render_jinja_template(
            [turns], chat_template=template, add_generation_prompt=is_open, **special
        )
        if len(text) > most + len(line):
            break
        answer = [text, None]
    except MemoryError:
        break
    except Exception as error:
        answer = [None, str(error)]
    print(json.dumps(answer), flush=True)
"""


class LimitedTemplate:
    """Renders a tokenizer's chat template in a child process, which a limit ends.

    The child starts at the first chat, which takes a second, and again after one that was ended.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._child: Any = None
        """A subprocess.Popen of texts."""
        self._lock = threading.Lock()

    def __call__(
        self, turns: Sequence[Mapping[str, str]], *, tokenize: bool, add_generation_prompt: bool
    ) -> str:
        """Render a chat as apply_chat_template() does. Raises ValueError if a limit is reached."""
        assert not tokenize
        with self._lock:
            answer = ""
            with suppress(BrokenPipeError):
                if self._child is None:
                    self._start()
                answer = self._asked([list(turns), add_generation_prompt])
            if not answer:
                self.close()
                raise ValueError(TOO_MUCH)
        text, fault = json.loads(answer)
        if fault is not None:
            raise ValueError(fault)
        return str(text)

    def _start(self) -> None:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        words = [sys.executable, "-c", CHILD]
        self._child = subprocess.Popen(words, **pipes, stderr=subprocess.DEVNULL, text=True)
        self._child.stdout.readline()  # it is ready
        special = {key: str(text) for key, text in self._tokenizer.special_tokens_map.items()}
        limits = (MAX_CHARACTERS, CPU_SECONDS, MEMORY_BYTES)
        self._send([self._tokenizer.get_chat_template(), special, *limits])

    def _asked(self, data: object) -> str:
        """Send a line to the child and return the line that it answers; "" if it ended instead."""
        timer = threading.Timer(WALL_SECONDS, self._child.kill)
        timer.start()
        try:
            self._send(data)
            return str(self._child.stdout.readline())
        finally:
            timer.cancel()

    def _send(self, data: object) -> None:
        print(json.dumps(data), file=self._child.stdin, flush=True)

    def close(self) -> None:
        """End the child process, if there is one."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    def __del__(self) -> None:
        self.close()
