"""Reads chats from the rows of data files, by the field names that many programs use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sbd_core.data_files import SHAPES, Row
from sbd_core.models.protocol import Message

PROMPT_FIELDS = ("prompt", "question", "instruction")
ANSWER_FIELDS = ("answer", "output")
"""Fields that may hold the prompt and the answer; the first one there counts."""
ROLES = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("user", "human", "prompter"), "user"),
    **dict.fromkeys(("assistant", "gpt", "chatgpt", "bot", "model", "ai"), "assistant"),
    **dict.fromkeys(("tool", "function", "observation", "tool_response"), "tool"),
    **dict.fromkeys(("function_call", "tool_call"), "call"),
}
"""Role names of ShareGPT, OpenAssistant, LLaMA-Factory, ms-swift and others -> the role here."""
MORE_THAN_TEXT = ("tool_calls", "function_call", "reasoning_content", "reasoning", "thinking")
BESIDE_A_CHAT = ("tools", "images", "image", "videos", "audios")
"""Fields of a record whose chat is more than text, as LLaMA-Factory and ms-swift have them."""
CASE_FIELDS = ("input", "context")
"""Fields with further text of a prompt, after which come the answers to choose from."""
PREFERENCES = ("chosen", "rejected", "rejected_response", "rejected_messages")
NOT_LEARNT = ("weight", "train", "loss")
"""Fields that say with 0 or false that an answer is not to be learnt: OpenAI's, axolotl's and
ms-swift's."""
LEARNT_PARTS = ("train_detail", "training_detail")
"""Fields in which axolotl's chats mark spans of a message as learnt or not."""


READ = frozenset(
    (
        *("messages", "conversations", "history", "completion", "system", "system_prompt", "text"),
        *("instances", "choices", "label", "message_id", "parent_id", "finished"),
        *(*PROMPT_FIELDS, *ANSWER_FIELDS, *CASE_FIELDS, *BESIDE_A_CHAT, *PREFERENCES),
    )
)


def unread_fields(fields: Mapping[str, Any]) -> set[str]:
    """Names of a record's fields that hold something and that no reading of chats looks at."""
    return {str(name) for name, value in fields.items() if value not in (None, "")} - READ


class Turn(NamedTuple):
    """One message of a chat. is_learnt: False if training must not learn this answer."""

    role: str
    content: str
    is_learnt: bool = True


@dataclass(frozen=True, slots=True)
class Chat:
    """The turns of a record, up to the first message that is more than text, such as a tool call.

    is_cut: whether the chat was cut at such a message.
    num_cut: number of answers and tool calls that were cut off.
    text: plain text of a record without turns; None for a chat.
    """

    turns: tuple[Turn, ...] = ()
    is_cut: bool = False
    num_cut: int = 0
    text: str | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """The (role, content) of each turn."""
        return tuple((turn.role, turn.content) for turn in self.turns)


def chat_of(row: Row, *, has_answer: bool) -> Chat:
    """Read a record's chat. Raises ArgumentError for an unfit record.

    has_answer: whether the record must hold an answer to learn. False accepts a prompt alone.
    """
    if has_answer and (row.given(*PREFERENCES) or isinstance(row.given("label"), bool)):
        rule = f"must have an answer to learn, not a preference ({', '.join(PREFERENCES)}, label)"
        raise row.wrong(rule, dict(row.fields))
    if row.given("message_id", "parent_id") is not None:
        rule = "must be a whole chat, not one message of a tree of them (message_id)"
        raise row.wrong(rule, dict(row.fields))
    said = _messages(row, has_answer=has_answer)
    if said is None:
        text = row.given("text")
        if text is None or row.given(*PROMPT_FIELDS) is not None:
            raise row.wrong(f"needs {SHAPES}", dict(row.fields))
        return Chat(text=row.text("text", text))
    system = row.given("system", "system_prompt")
    if system and not (said and isinstance(said[0], Mapping) and _role_of(said[0]) == "system"):
        said = [{"role": "system", "content": system}, *said]
    turns: list[Turn] = []
    is_more = any(row.given(name) not in (None, "", "[]", [], {}) for name in BESIDE_A_CHAT)
    for number, message in enumerate(said, start=1):
        content = _content(row, number, message)
        if content is None or is_more:
            rest = sum(_role_of(each) in ("assistant", "call") for each in said[number - 1 :])
            return Chat(tuple(turns), is_cut=True, num_cut=rest)
        turns.append(Turn(str(_role_of(message)), content, _is_learnt(message)))
    return Chat(tuple(turns))


def _messages(row: Row, *, has_answer: bool) -> list[Any] | None:
    """The messages of a record's conversation; None if the record holds no conversation."""
    for name in ("messages", "conversations"):
        if row.given(name) is not None:
            if not isinstance(row.fields[name], list):
                raise row.wrong(f"must have a list as {name}", row.fields[name])
            return list(row.fields[name])
    prompt, completion = row.given("prompt"), row.given("completion") or []
    if isinstance(prompt, list) and isinstance(completion, list):
        return [*prompt, *completion]
    asked = next((name for name in PROMPT_FIELDS if row.given(name) is not None), None)
    if asked is None or (has_answer and not any(name in row.fields for name in ANSWER_FIELDS)):
        return None
    history = row.given("history") or []
    try:
        earlier = [(str(asked), str(said)) for asked, said in history]
    except (TypeError, ValueError) as error:
        raise row.wrong("must have pairs of texts as history", history) from error
    answer = row.given(*ANSWER_FIELDS)
    if isinstance(answer, list):  # LLaMA-Factory's comparisons: the better one, then the other
        raise row.wrong("must have one text as answer, not a list", answer)
    turns = [*earlier, (_with_input(row, asked), "" if answer is None else answer)]
    roles = ("user", "assistant")
    said = [
        {"role": role, "content": text}
        for turn in turns
        for role, text in zip(roles, turn, strict=True)
    ]
    return said if has_answer else said[:-1]


def _with_input(row: Row, name: str) -> str:
    """Join the prompt in field `name` with what the record has beside it.

    That is `input` and `context`, the `choices` on a line each, or else `instances`.
    """
    prompt = row.text(name, row.fields[name])
    cases = [row.given(field) or "" for field in CASE_FIELDS]
    texts = ["\n".join(case) if _is_texts(case) else case for case in cases]
    cases = [row.text(field, text) for field, text in zip(CASE_FIELDS, texts, strict=True)]
    parts = [part for part in (*cases, *_choices(row)) if part]
    if parts:
        return "\n".join([prompt, *parts] if prompt else parts)
    try:
        case = (row.given("instances") or [{}])[0].get("input") or ""
    except (AttributeError, LookupError, TypeError) as error:
        raise row.wrong("must have a list of objects as instances", row.fields) from error
    return f"{prompt}\n\n{case}" if case else prompt


def _choices(row: Row) -> list[str]:
    """The answers to choose from, each with its label: A, B, C unless the record has labels."""
    choices: Any = row.given("choices") or []
    if isinstance(choices, str):  # as a table's cell has them
        return [row.text("choices", choices)]
    labels: Any = [chr(ord("A") + number) for number in range(26)]
    if isinstance(choices, Mapping):  # ARC's and CommonsenseQA's
        choices, labels = choices.get("text"), choices.get("label")
    if not _is_texts(choices) or not isinstance(labels, list) or len(choices) > len(labels):
        raise row.wrong("must have a list of texts as choices", row.fields["choices"])
    return [f"{label}. {text}" for label, text in zip(labels, choices, strict=False)]


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _role_of(message: Any) -> str | None:
    """The role as chat templates name it; "call" for a function call, None if it is unknown."""
    if not isinstance(message, Mapping):
        return None
    return ROLES.get(str(message.get("role") or message.get("from")).lower())


def _content(row: Row, number: int, message: Any) -> str | None:
    """The text of a message; None if the message holds anything else, such as an image."""
    fields = message if isinstance(message, Mapping) else {}
    calls = any(fields.get(name) for name in MORE_THAN_TEXT)
    has_both = ("role" in fields or "from" in fields) and ("content" in fields or "value" in fields)
    if not has_both and not calls:
        raise row.wrong(
            f"must have role and content, or from and value, in message {number}", message
        )
    role = _role_of(fields)
    if role is None:
        rule = f"must have as role of message {number} one of {', '.join(ROLES)}"
        raise row.wrong(rule, fields.get("role", fields.get("from")))
    content = fields.get("content", fields.get("value"))
    if calls or role == "call" or content is None:
        return None
    if not isinstance(content, list):
        return row.text(f"content of message {number}", content)
    kinds = "text", "input_text", "output_text"
    parts: list[Any] = [
        part.get("text") if isinstance(part, Mapping) and part.get("type") in kinds else part
        for part in content
    ]
    if not all(isinstance(part, str) for part in parts):
        return None
    return row.text(f"content of message {number}", "".join(parts))


def _is_learnt(message: Mapping[str, Any]) -> bool:
    marked: list[Any] = [message]
    for name in ("content", "value", *LEARNT_PARTS):
        parts = message.get(name)
        marked += parts if isinstance(parts, list) else []
    marked = [each for each in marked if isinstance(each, Mapping)]
    return not any(each.get(name) == 0 for each in marked for name in NOT_LEARNT)


def prompt_of(row: Row) -> str | list[dict[str, str]]:
    """Return a record's prompt: a text if it is a single message, else the list of messages.

    An answer at the end is left out. Raises ArgumentError unless the rest ends with a user's text.
    """
    chat = chat_of(row, has_answer=False)
    messages = list(chat.messages)
    if messages and messages[-1][0] == "assistant" and not chat.is_cut:
        messages.pop()
    if not messages or messages[-1][0] != "user" or not messages[-1][1].strip():
        rule = f"needs a prompt: a text as {' or '.join(PROMPT_FIELDS)}, or a chat of texts"
        raise row.wrong(rule, dict(row.fields))
    if len(messages) == 1:
        return messages[0][1]
    return [{"role": role, "content": content} for role, content in messages]
