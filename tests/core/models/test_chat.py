"""A chat's token ids are those of the whole of it; a template may take little time and memory."""

import copy
import json
from collections.abc import Iterator

import pytest
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import PreTrainedTokenizerFast

import sbd_core
from sbd_core.errors import ModelError
from sbd_core.models import chat
from sbd_core.models.chat import LimitedTemplate, encode_plain, encode_prompt, encode_turn
from tests.core.models.tiny_models import save_tiny, tiny_tokenizer

TEMPLATE = (
    "{% for m in messages %}<s>{{ m.role }}\n{{ m.content }}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant\n{% endif %}"
)
QUESTION, ANSWER = "What is light?", "The light."


def sentencepiece_kind(kind: str) -> PreTrainedTokenizerFast:
    """A tokenizer of one of three kinds.

    Llama 2's normalizer puts a space before a text; Mistral's and Phi-3's before its first word
    alone; T5's is Unigram.
    """
    special = ["<unk>", "<s>", "</s>", "<m>"]
    space = normalizers.Replace(" ", "\u2581")
    if kind == "unigram":
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
        trainer = trainers.UnigramTrainer(
            vocab_size=60, special_tokens=special, unk_token="<unk>", show_progress=False
        )
    else:
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
        prepend = normalizers.Prepend("\u2581")
        if kind == "prepend":
            tokenizer.normalizer = normalizers.Sequence([prepend, space])
        else:
            tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
        trainer = trainers.BpeTrainer(vocab_size=90, special_tokens=special, show_progress=False)
    texts = ["user", "assistant", QUESTION, ANSWER, "a b", "\n"]
    tokenizer.train_from_iterator(texts * 8, trainer)
    tokenizer.decoder = decoders.Metaspace()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        mask_token="<m>",
        chat_template=TEMPLATE,
    )


def whole_ids(tokenizer, *messages: tuple[str, str]) -> list[int]:
    """Ids of transformers, up to the last end token."""
    turns = [{"role": role, "content": content} for role, content in messages]
    ids = list(tokenizer.apply_chat_template(turns, tokenize=True)["input_ids"])
    return ids[: len(ids) - ids[::-1].index(tokenizer.eos_token_id)]


@pytest.mark.parametrize("kind", ["prepend", "first", "unigram"])
@pytest.mark.parametrize("answer", [ANSWER, "a b", " a"])
def test_a_turn_has_the_ids_of_the_whole_chat(kind, answer) -> None:
    tokenizer = sentencepiece_kind(kind)
    messages = [("user", QUESTION), ("assistant", ANSWER), ("user", "a b")]
    for said in (messages[:1], messages):
        prompt, found = encode_turn(tokenizer, said, answer, "it")
        assert prompt + found == whole_ids(tokenizer, *said, ("assistant", answer))
        turns = [{"role": role, "content": content} for role, content in said]
        asked = tokenizer.apply_chat_template(turns, add_generation_prompt=True)["input_ids"]
        assert encode_prompt(tokenizer, said, "it", is_raw=False) == asked
        assert prompt == asked[: len(prompt)]
        assert len(asked) - len(prompt) <= 1


def test_a_token_that_the_answer_changes_is_the_answers() -> None:
    """The template ends in a line break, which merges with those that the answer begins by."""
    corpus = ["assistant", "\n\n", "The light."] * 4
    tokenizer = Tokenizer(models.BPE())
    tokenizer.train_from_iterator(
        corpus, trainers.BpeTrainer(vocab_size=40, special_tokens=["</s>"], show_progress=False)
    )
    tokenizer.decoder = decoders.Fuse()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>")
    fast.chat_template = "{% for m in messages %}{{ m.role }}\n{{ m.content }}</s>{% endfor %}"
    fast.chat_template += "{% if add_generation_prompt %}assistant\n{% endif %}"
    prompt, answer = encode_turn(fast, [("user", "t")], "\nThe light.", "it")
    whole = whole_ids(fast, ("user", "t"), ("assistant", "\nThe light."))
    assert prompt + answer == whole
    assert fast.decode(answer) == "\n\nThe light.</s>"
    assert len(encode_prompt(fast, "t", "it", is_raw=False)) > len(prompt)


def test_without_a_template_an_answer_does_not_run_into_its_prompt() -> None:
    tokenizer = sentencepiece_kind("first")
    tokenizer.chat_template = None
    prompt, answer = encode_turn(tokenizer, [("user", "a")], "b", "it")
    assert prompt == encode_prompt(tokenizer, "a", "it", is_raw=True)
    assert answer == [*tokenizer.encode("b"), tokenizer.eos_token_id]


def test_a_raw_prompt_does_not_end_where_the_tokenizer_ends_every_text() -> None:
    """`add_eos_token`, as fine-tuning leaves it in tokenizers."""
    tokenizer = sentencepiece_kind("first")
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    assert tokenizer.encode(QUESTION)[-1] == tokenizer.eos_token_id
    found = encode_prompt(tokenizer, QUESTION, "it", is_raw=True)
    assert found == tokenizer.encode(QUESTION)[:-1]
    tokenizer.chat_template = None
    prompt, answer = encode_turn(tokenizer, [("user", QUESTION)], "a", "it")
    assert (prompt, answer.count(tokenizer.eos_token_id)) == (found, 1)


@pytest.fixture
def tooled() -> PreTrainedTokenizerFast:
    """A tokenizer with added tokens that are not special, as Qwen's <tool_call> and <think>."""
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = TEMPLATE.replace("</s>", "<eos>").replace("<s>", "<user>")
    tokenizer.add_tokens([AddedToken("<tool_call>"), AddedToken("<think>"), AddedToken("</think>")])
    tokenizer.add_tokens([AddedToken("    "), AddedToken("pencils")])
    return tokenizer


def test_control_tokens_that_are_not_called_special_are_letters_where_someone_typed_them(tooled):
    typed = "  a<tool_call> pencils    b</think> "
    control = tooled.convert_tokens_to_ids(["<tool_call>", "<think>", "</think>"])
    plain = encode_plain(tooled, typed)
    for ids in (
        plain,
        encode_prompt(tooled, typed, "it", is_raw=True),
        encode_prompt(tooled, typed, "it", is_raw=False),
        encode_prompt(tooled, [("system", typed), ("user", typed)], "it", is_raw=False),
        encode_turn(tooled, [("user", typed)], "a", "it")[0],
    ):
        assert not set(ids) & set(control)
        assert typed in tooled.decode(ids)
        assert set(tooled.convert_tokens_to_ids(["    ", "pencils"])) < set(ids), "these are text"


def test_the_models_own_marks_are_its_control_tokens(tooled) -> None:
    think, end = tooled.convert_tokens_to_ids(["<think>", "</think>"])
    said = "<think>so</think>yes"
    _, answer = encode_turn(tooled, [("user", "a <think>")], said, "it")
    assert answer == [*tooled.encode(said, add_special_tokens=False), tooled.eos_token_id]
    assert (answer[0], end in answer) == (think, True)
    again = encode_prompt(
        tooled, [("user", "a"), ("assistant", said), ("user", "b")], "it", is_raw=False
    )
    assert again.count(think) == 1
    _, answer = encode_turn(tooled, [("user", "a")], "<think><eos>", "it")
    assert (answer[0], answer.count(tooled.eos_token_id)) == (think, 1)


def test_a_template_that_trims_trims_what_holds_control_tokens_too(tooled) -> None:
    tooled.chat_template = tooled.chat_template.replace("m.content", "m.content | trim")
    ids = encode_prompt(tooled, "\n a<eos> ", "it", is_raw=False)
    assert tooled.decode(ids) == "<user>user\na<eos><eos>\n<user>assistant\n"


def test_a_template_that_drops_earlier_thoughts_drops_them(tooled) -> None:
    """Qwen3's: of an earlier answer it keeps what follows </think>."""
    tooled.chat_template = tooled.chat_template.replace(
        "m.content", "m.content.split('</think>')[-1]"
    )
    said = [("user", "a"), ("assistant", "<think>so</think>yes"), ("user", "b")]
    assert "so" not in tooled.decode(encode_prompt(tooled, said, "it", is_raw=False))


def test_a_template_that_leaves_out_a_turn_is_refused(tooled) -> None:
    """Older ones write the turns of user and assistant alone."""
    tooled.chat_template = TEMPLATE.replace(
        "{{ m.content }}", "{{ m.content if m.role != 'system' }}"
    )
    said = [("system", "Be brief."), ("user", "a")]
    with pytest.raises(ModelError, match="it: its chat template leaves out what the system says"):
        encode_prompt(tooled, said, "it", is_raw=False)


def test_the_tokenizer_itself_is_left_as_it_was(tooled) -> None:
    before = tooled.backend_tokenizer.to_str()
    encode_prompt(tooled, "<tool_call>", "it", is_raw=False)
    assert json.loads(tooled.backend_tokenizer.to_str()) == json.loads(before)
    assert tooled.encode("<tool_call>") == tooled.convert_tokens_to_ids(["<tool_call>"])


TYPED = ["say <x> now", "<x>", "a <x>", "<x> a", "What<x>is light?", "  a <x>\n"]


@pytest.mark.parametrize("kind", ["prepend", "first", "unigram"])
@pytest.mark.parametrize("text", TYPED)
def test_a_typed_control_token_is_encoded_as_if_there_were_no_such_token(kind, text) -> None:
    """No token more or less: SentencePiece's space before a text is put once, where it belongs."""
    plain = sentencepiece_kind(kind)
    tokenizer = copy.deepcopy(plain)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<x>"]})
    talks = (
        [("user", text)],
        [("system", text), ("user", "a"), ("assistant", text), ("user", text)],
    )
    for said in talks:
        found = encode_prompt(tokenizer, said, "it", is_raw=False)
        assert found == encode_prompt(plain, said, "it", is_raw=False)
        for answer in (ANSWER, text):
            expected = encode_turn(plain, said, answer, "it")
            assert encode_turn(tokenizer, said, answer, "it") == expected


THINKING = {
    # DeepSeek-R1's: of earlier answers, what follows the thought.
    "drops": "<s>{{ m.content.split('</think>')[-1] if m.role == 'assistant' else m.content }}</s>",
    # As of many fine-tunes: the answers as they are.
    "keeps": "<s>{{ m.content }}</s>",
    "opens": "<s>{{ '<think>\n' if m.role == 'assistant' }}{{ m.content }}</s>",
    # Qwen3-2507's: the thought and the answer each in its place.
    "splits": (
        "<s>{% if m.role == 'assistant' %}<think>\n"
        "{{ m.content.split('</think>')[0].split('<think>')[-1].strip('\n') }}\n</think>\n\n"
        "{{ m.content.split('</think>')[-1].lstrip('\n') }}"
        "{% else %}{{ m.content }}{% endif %}</s>"
    ),
}
THOUGHTS = {
    "<think>\nso\n</think>\n\nyes": "so\n</think>\n\nyes",
    "<think>so</think>yes": "so</think>yes",
    "so\n</think>\n\nyes": "so\n</think>\n\nyes",
    "yes": "\n</think>\n\nyes",
}


@pytest.mark.parametrize("kind", THINKING)
@pytest.mark.parametrize("answer", THOUGHTS)
def test_a_thought_that_the_prompt_opens_is_opened_once_and_closed(kind, answer, tooled) -> None:
    turn = "{% for m in messages %}" + THINKING[kind] + "{% endfor %}"
    opening = "{% if add_generation_prompt %}<s><think>\n{% endif %}"
    tooled.chat_template = (turn + opening).replace("</s>", "<eos>").replace("<s>", "<user>")
    prompt, ids = encode_turn(tooled, [("user", "a")], answer, "it")
    whole = tooled.decode([*prompt, *ids])
    assert whole.startswith("<user>a<eos><user><think>\n")
    learnt = whole.removeprefix("<user>a<eos><user><think>\n").replace("\n", "")
    assert learnt == THOUGHTS[answer].replace("\n", "") + "<eos>"
    assert [whole.count(mark) for mark in ("<think>", "</think>")] == [1, 1]
    assert prompt == encode_prompt(tooled, "a", "it", is_raw=False)[: len(prompt)]


NESTED = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
HOSTILE = {"time": NESTED, "memory": "{{ 'x' * 10**10 }}", "length": "{{ 'x' * 2000000 }}"}


@pytest.fixture
def limited(monkeypatch, tooled) -> Iterator[tuple[PreTrainedTokenizerFast, LimitedTemplate]]:
    monkeypatch.setattr(chat, "CPU_SECONDS", 1)
    render = LimitedTemplate(tooled)
    yield tooled, render
    render.close()


@pytest.mark.parametrize("limit", HOSTILE)
def test_a_template_that_is_hostile_to_one_text_alone_is_ended_there(limit, limited) -> None:
    tokenizer, render = limited
    good = tokenizer.chat_template
    plain = encode_prompt(tokenizer, "a prompt", "it", is_raw=False)
    asked = "{% if 'now' in messages[-1].content %}"
    tokenizer.chat_template = asked + HOSTILE[limit] + "{% else %}" + good + "{% endif %}"
    with pytest.raises(ModelError, match=r"^it: its chat template .*: 'it takes more time, more"):
        encode_prompt(tokenizer, "now", "it", is_raw=False, render=render)
    assert encode_prompt(tokenizer, "a prompt", "it", is_raw=False, render=render) == plain


@pytest.mark.parametrize(
    "template", ["{% if %}", "{{ raise_exception('no system') }}", "{{ 1 / 0 }}"]
)
def test_a_broken_template_says_so_within_limits_as_without(template, limited) -> None:
    tokenizer, render = limited
    tokenizer.chat_template = template
    said = []
    for way in (None, render):
        with pytest.raises(ModelError, match="its chat template cannot be used") as caught:
            encode_prompt(tokenizer, "a", "it", is_raw=False, render=way)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_whoever_opens_a_stranger_s_model_renders_within_limits(tmp_path) -> None:
    folder = save_tiny(tmp_path / "model", "llama", tiny_tokenizer())
    plain, stranger = (
        sbd_core.load(folder, device="cpu", limits_template=limited) for limited in (False, True)
    )
    assert plain.render is None
    assert isinstance(stranger.render, LimitedTemplate)
    assert stranger.encode("a prompt", is_raw=False) == plain.encode("a prompt", is_raw=False)
