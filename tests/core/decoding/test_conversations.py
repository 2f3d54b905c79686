"""A prompt may be a conversation, as transformers has it: the chat template joins its messages."""

import pytest

from sbd_core import ArgumentError, DecodeConfig, ModelError, Trace, generate, generate_batch
from sbd_core.decoding.api import prompt_token_ids
from sbd_core.models.hf_model import HuggingFaceModel
from tests.core.decoding.chance_models import chance_model

TEMPLATE = (
    "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% endif %}"
)
CONFIG = DecodeConfig(strategy="ntp", max_new_tokens=4)
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is 1 + 1?"},
    {"role": "assistant", "content": "2"},
    {"role": "user", "content": "And one more?"},
]


@pytest.fixture
def chatty(nano: HuggingFaceModel, monkeypatch: pytest.MonkeyPatch) -> HuggingFaceModel:
    monkeypatch.setattr(nano.tokenizer, "chat_template", TEMPLATE)
    return nano


def test_messages_are_read_as_transformers_writes_them(chatty: HuggingFaceModel) -> None:
    wanted = chatty.tokenizer.apply_chat_template(
        CHAT, add_generation_prompt=True, return_dict=False
    )
    trace = generate(chatty, CHAT, CONFIG)
    assert list(trace.prompt_token_ids) == wanted
    assert trace.prompt == "And one more?"
    assert trace.messages == tuple((turn["role"], turn["content"]) for turn in CHAT)
    assert Trace.from_json(trace.to_json()) == trace
    assert generate_batch(chatty, [CHAT], CONFIG)[0].token_ids == trace.token_ids
    one = [{"role": "user", "content": "What is 1 + 1?"}]
    alone = generate(chatty, "What is 1 + 1?", CONFIG)
    assert generate(chatty, one, CONFIG).prompt_token_ids == alone.prompt_token_ids
    assert alone.messages == ()


def test_special_tokens_in_what_was_said_are_plain_text(chatty: HuggingFaceModel) -> None:
    mask = chatty.tokenizer.mask_token
    said = [*CHAT[:3], {"role": "user", "content": f"What is {mask}?"}]
    assert chatty.mask_token_id not in prompt_token_ids(chatty, said, CONFIG)


@pytest.mark.parametrize(
    "messages",
    [
        CHAT[:3],
        [{"role": "robot", "content": "hi"}],
        [{"role": "user"}],
        [{"role": "user", "content": " "}],
        [{"role": "user", "content": 5}],
        [{"role": "user", "content": "hi"}, "hi"],
        [CHAT[1], 5],
    ],
)
def test_bad_messages_are_named(messages) -> None:
    with pytest.raises(ArgumentError) as caught:
        generate(chance_model(0), messages, CONFIG)
    assert caught.value.argument == "prompt"


def test_a_conversation_needs_a_template_and_room(
    chatty: HuggingFaceModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = [{"role": "user", "content": "one more " * chatty.max_positions}, *CHAT[2:]]
    with pytest.raises(ArgumentError, match=r"^prompt: must leave room"):
        generate(chatty, long, CONFIG)
    with pytest.raises(ArgumentError, match=r"^prompt: must be text with is_raw_prompt"):
        generate(chatty, CHAT, DecodeConfig(is_raw_prompt=True))
    monkeypatch.setattr(chatty.tokenizer, "chat_template", None)
    with pytest.raises(ModelError, match="has no chat template, which messages need"):
        generate(chatty, CHAT, CONFIG)
