"""What a user types is text: special tokens in a prompt are letters, in an answer invisible."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from sbd_core import DecodeConfig, generate
from sbd_core.decoding.api import prompt_token_ids
from sbd_core.models.hf_model import HuggingFaceModel, byte_of_character
from sbd_core.training.data.tokenizer import SPECIAL_TOKENS, encode_plain_texts
from tests.conftest import in_pytorch

TYPED = [
    *SPECIAL_TOKENS,
    "<m>",
    "a <m> b",
    "<eos><eos>",
    "<user>2 + 2<assistant>4<eos>",
    "<<m>m>",
    "x<m",
    "<assistant>",
    "  <pad>\n",
]
PLAIN = [
    "2 + 2 = ?",
    "Tara has 49 pencils.",
    " two  spaces ",
    "caf\u00e9 \U0001f600\u200d",
    "{}\\\n\t{{ x }}{% raw %}",
]


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
    import sbd_core

    model = sbd_core.load(tiny_folders["llama"], device="cpu")
    model.tokenizer.chat_template = None
    for text in TYPED + PLAIN:
        assert model.encode(text, is_raw=False) == model.encode(text, is_raw=True)
        assert not set(model.encode(text, is_raw=False)) & special_ids(model)


def test_decoding_reads_exactly_the_encoded_prompt(nano) -> None:
    for is_raw in (False, True):
        config = DecodeConfig(is_raw_prompt=is_raw, max_new_tokens=2)
        trace = generate(nano, "a <m> b", config)
        assert trace.prompt_token_ids == nano.encode("a <m> b", is_raw=is_raw)
        assert prompt_token_ids(nano, "a <m> b", config) == trace.prompt_token_ids
        assert nano.mask_token_id not in trace.prompt_token_ids


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


def test_the_texts_of_a_prompts_tokens_are_the_prompt(nano) -> None:
    for text in PLAIN[:3]:
        assert "".join(nano.token_text(i) for i in nano.encode(text, is_raw=True)) == text


def test_an_id_without_a_piece_shows_as_its_number(tiny_folders) -> None:
    """Embeddings are often padded beyond the tokenizer's last id."""
    import sbd_core

    model = sbd_core.load(tiny_folders["llama"], device="cpu")
    model.model.resize_token_embeddings(model.vocabulary_size + 7, mean_resizing=False)
    padded = in_pytorch(model.model, model.tokenizer, "padded")
    last = padded.vocabulary_size - 1
    assert padded.vocabulary_size == model.vocabulary_size + 7
    assert padded.token_text(last) == f"[{last}]"
    trace = generate(padded, [last, 9], DecodeConfig(max_new_tokens=3, block_size=2))
    assert trace.tokens[last] == f"[{last}]"
    assert padded.decode([last]) == ""
