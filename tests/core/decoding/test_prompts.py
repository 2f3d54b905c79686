"""Prompts and conversations become tokens: control tokens that people typed are letters."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import sbd_core
from sbd_core import ArgumentError, DecodeConfig, ModelError, Trace, generate, generate_batch
from sbd_core.models.hf_model import HuggingFaceModel, byte_of_character
from sbd_core.training.data import encode_plain_texts
from sbd_core.training.new_model import SPECIAL_TOKENS
from tests.conftest import in_pytorch
from tests.core.decoding.doubles import chance_model

TYPED = [*SPECIAL_TOKENS, "a <m> b", "<eos><eos>", "<user>2 + 2<assistant>4<eos>", "<<m>m>"]
TYPED += ["x<m", "  <pad>\n"]
PLAIN = ["2 + 2 = ?", "Tara has 49 pencils.", " two  spaces "]
PLAIN += ["caf\u00e9 \U0001f600\u200d", "{}\\\n\t{{ x }}{% raw %}"]


def special_ids(model: HuggingFaceModel) -> set[int]:
    return set(model.tokenizer.convert_tokens_to_ids(list(SPECIAL_TOKENS)))


def ids_of(model: HuggingFaceModel, name: str) -> int:
    return model.tokenizer.convert_tokens_to_ids(name)


@pytest.mark.parametrize("text", TYPED + PLAIN)
def test_typed_special_tokens_are_plain_text_as_training_encodes_them(nano, text) -> None:
    inner = encode_plain_texts(nano.tokenizer, [text])[0]
    assert not set(inner) & special_ids(nano)
    assert nano.tokenizer.decode(inner) == text
    turn = (ids_of(nano, "<user>"), *inner, ids_of(nano, "<assistant>"))
    assert nano.encode(text, is_raw=False) == turn
    assert nano.encode(text, is_raw=True) == tuple(inner)


def test_threads_that_encode_at_once_read_what_they_would_alone(nano) -> None:
    """The page encodes in each visitor's own thread, over one shared tokenizer."""
    texts = ["plain text " * 10, "typed <m> and <eos> " * 10]
    alone = [nano.encode(text, is_raw=False) for text in texts]

    def count_wrong(index: int) -> int:
        return sum(nano.encode(texts[index], is_raw=False) != alone[index] for _ in range(300))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(count_wrong, [0, 1, 0, 1])) == [0, 0, 0, 0]


def test_a_model_without_a_template_reads_a_prompt_as_it_is(tiny_folders) -> None:
    model = sbd_core.load(tiny_folders["llama"], device="cpu")
    model.tokenizer.chat_template = None
    for text in TYPED + PLAIN:
        assert model.encode(text, is_raw=False) == model.encode(text, is_raw=True)
        assert not set(model.encode(text, is_raw=False)) & special_ids(model)


def test_token_ids_are_taken_as_they_are(nano) -> None:
    ids = [ids_of(nano, "<user>"), nano.mask_token_id, ids_of(nano, "<eos>")]
    trace = generate(nano, ids, DecodeConfig(max_new_tokens=2))
    assert (trace.prompt_token_ids, trace.prompt) == (tuple(ids), "")


def test_the_text_of_an_answer_leaves_special_tokens_out(nano) -> None:
    plain = list(nano.encode("ab 12", is_raw=True))
    assert nano.decode([*plain, ids_of(nano, "<eos>"), nano.mask_token_id]) == "ab 12"
    assert nano.decode([]) == ""


def test_every_token_of_the_bundled_model_has_a_text_to_show(nano) -> None:
    for token_id in range(nano.vocabulary_size):
        text = nano.token_text(token_id)
        assert text
        assert "\ufffd" not in text


def test_special_tokens_show_by_name_and_lone_bytes_in_hexadecimal(nano) -> None:
    for name in SPECIAL_TOKENS:
        assert nano.token_text(ids_of(nano, name)) == name
    characters = {byte: character for character, byte in byte_of_character().items()}
    assert sorted(characters) == list(range(256))
    for byte in (0x80, 0xC3, 0xE2, 0xFF):
        assert nano.token_text(ids_of(nano, characters[byte])) == f"\\x{byte:02X}"
    for byte in (ord("a"), ord("7"), ord("\n"), ord(" ")):
        assert nano.token_text(ids_of(nano, characters[byte])) == chr(byte)


def test_an_id_without_a_piece_shows_as_its_number(tiny_folders) -> None:
    """Embeddings are often padded beyond the tokenizer's last id."""
    model = sbd_core.load(tiny_folders["llama"], device="cpu")
    model.model.resize_token_embeddings(model.vocabulary_size + 7, mean_resizing=False)
    padded = in_pytorch(model.model, model.tokenizer, "padded")
    last = padded.vocabulary_size - 1
    assert padded.vocabulary_size == model.vocabulary_size + 7
    assert padded.token_text(last) == f"[{last}]"
    trace = generate(padded, [last, 9], DecodeConfig(max_new_tokens=3, block_size=2))
    assert trace.tokens[last] == f"[{last}]"
    assert padded.decode([last]) == ""


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
    with pytest.raises(ArgumentError, match=r"^prompt: "):
        generate(chance_model(0), messages, CONFIG)


def test_a_conversation_needs_a_template_and_room(chatty, monkeypatch) -> None:
    long = [{"role": "user", "content": "one more " * chatty.max_positions}, *CHAT[2:]]
    with pytest.raises(ArgumentError, match=r"^prompt: must leave room"):
        generate(chatty, long, CONFIG)
    with pytest.raises(ArgumentError, match=r"^prompt: must be text with is_raw_prompt"):
        generate(chatty, CHAT, DecodeConfig(is_raw_prompt=True))
    monkeypatch.setattr(chatty.tokenizer, "chat_template", None)
    with pytest.raises(ModelError, match="has no chat template, which messages need"):
        generate(chatty, CHAT, CONFIG)
