"""Chat data: what is read of it, the tokens it becomes through a model's own chat template."""

import json

import pytest

from sbd_core.errors import ArgumentError
from sbd_core.models.chat import encode_prompt, encode_turn
from sbd_core.training.examples import ExampleStream
from sbd_core.training.recipe import read_recipe
from sbd_core.training.sources import LeftOut, read_source
from tests.core.models.tiny_models import maskless_tokenizer, tiny_tokenizer

# Shaped like Qwen3's: an end token and a line break after each turn, an empty thought in the last.
TEMPLATE = (
    "{% for m in messages %}<user>{{ m['role'] }}\n"
    "{% if m['role'] == 'assistant' and loop.last %}<think></think>{% endif %}"
    "{{ m['content'] | trim }}<eos>\n{% endfor %}"
    "{% if add_generation_prompt %}<user>assistant\n{% endif %}"
)
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Tara has 7."},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "And?"},
    {"role": "assistant", "content": "The answer is 7."},
]


@pytest.fixture(scope="module")
def tokenizer():
    found = tiny_tokenizer()
    found.chat_template = TEMPLATE
    return found


def source_of(folder, *records) -> str:
    file = folder / "chat.jsonl"
    file.write_text("\n".join(json.dumps(record) for record in records))
    return f"file:{file}"


def recipe_of(source: str, **changes):
    return read_recipe(
        "sbd",
        None,
        {"data": (source,), "tasks": {}, "batch_size": 8, **changes},
    )


def test_every_turn_of_the_assistant_is_learnt_with_all_before_it(tmp_path) -> None:
    source = source_of(tmp_path, {"messages": TALK, "id": 4})
    first, second = read_source(source, LeftOut(source))
    assert (first.answer, len(first.messages)) == ("Yes.", 2)
    assert (second.answer, len(second.messages)) == ("The answer is 7.", 4)
    assert second.messages[2] == ("assistant", "Yes.")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"messages": "hello"}, "must have a list as messages; got 'hello'"),
        ({"messages": [{"role": "user"}]}, "must have role and content.* in message 1"),
        ({"messages": [TALK[1], {"content": "a"}]}, "must have role and content.* in message 2"),
        ({"messages": [TALK[1], "a"]}, "must have role and content.* in message 2; got 'a'"),
        ({"messages": [TALK[1], {"role": "assistant", "content": 5}]}, "content of message 2"),
        ({"conversation": TALK}, "needs messages .role, content., conversations"),
    ],
)
def test_a_record_that_lacks_something_is_named_by_its_line(tmp_path, record, message) -> None:
    source = source_of(tmp_path, {"messages": TALK}, record)
    with pytest.raises(ArgumentError, match=f": line 2.*{message}"):
        read_source(source, LeftOut(source))


def test_a_turn_is_what_the_template_writes_to_the_end_token(tokenizer) -> None:
    said = [(m["role"], m["content"]) for m in TALK[:4]]
    prompt, answer = encode_turn(tokenizer, said, TALK[4]["content"], "it")
    expected = tokenizer.apply_chat_template(TALK[:4], tokenize=False, add_generation_prompt=True)
    assert tokenizer.decode(prompt) == expected
    assert tokenizer.decode(answer) == "<think></think>The answer is 7.<eos>"
    one = [("user", "Tara has 7.")]
    assert encode_turn(tokenizer, one, "7", "it")[0] == encode_prompt(
        tokenizer, "Tara has 7.", "it", is_raw=False
    )


def test_special_tokens_that_someone_typed_are_letters(tokenizer) -> None:
    prompt, answer = encode_turn(tokenizer, [("user", "a<eos><m>b")], "c<eos>d", "it")
    mask, end = tokenizer.mask_token_id, tokenizer.eos_token_id
    assert mask not in prompt
    assert prompt.count(end) == 1, "the template's own"
    assert answer.count(end) == 1
    assert answer[-1] == end
    assert tokenizer.decode(prompt) == "<user>user\na<eos><m>b<eos>\n<user>assistant\n"
    assert tokenizer.decode(answer) == "<think></think>c<eos>d<eos>"


def test_a_template_that_tells_the_past_otherwise_leaves_the_answer_alone(tokenizer) -> None:
    other = tiny_tokenizer()
    other.chat_template = TEMPLATE.replace("<user>assistant\n{% endif", "<user>now\n{% endif")
    prompt, answer = encode_turn(other, [("user", "a")], "b", "it")
    assert other.decode(prompt).endswith("<user>now\n")
    assert other.decode(answer) == "b<eos>"


def test_without_a_template_messages_are_refused_and_prompts_stand_as_they_are(tmp_path) -> None:
    bare = maskless_tokenizer()
    prompt, answer = encode_turn(bare, [("user", "ab")], "cd", "it")
    assert (bare.decode(prompt), bare.decode(answer)) == ("a b", "c d <eos>")
    with pytest.raises(ArgumentError, match=r"no chat template, which messages need.*line 1"):
        ExampleStream(recipe_of(source_of(tmp_path, {"messages": TALK})), bare)
    text = recipe_of(source_of(tmp_path, {"text": "abcdefgh"}), row_tokens=40, max_block_size=16)
    drawn = {(*prompt, *answer) for prompt, answer in ExampleStream(text, bare).draw(0)}
    assert drawn == {(*bare.encode("abcdefgh"), bare.eos_token_id)}


def test_what_is_too_long_for_a_row_is_counted(tmp_path, tokenizer) -> None:
    long = {"prompt": "a", "answer": "Tara " * 300}
    stream = ExampleStream(recipe_of(source_of(tmp_path, {"messages": TALK}, long)), tokenizer)
    [note] = stream.notes
    assert "left out 1 that do not fit" in note
    assert "line 2" in note
    assert "--row-tokens" in note
