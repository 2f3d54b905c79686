"""synthesize(): answers are the model's own, greedy, under the repetition penalty of decoding."""

import copy
import json

import pytest

from sbd_core import ArgumentError, DecodeConfig, generate
from sbd_core.decoding.repetition import is_loop
from sbd_core.training.synthesize import SynthesisConfig, synthesize
from sbd_core.training.train_adapter import Base, is_held_out, read_texts

REQUESTS = ["What is 12 + 30?", "Name a fruit and a colour.", "Count from 1 to 5."]


def base_of(model) -> Base:
    return Base(model.model, model.tokenizer, model.name, None)


@pytest.mark.parametrize("penalty", [1.0, 1.3])
def test_answers_are_those_of_next_token_prediction(nano, tmp_path, penalty) -> None:
    out, told = tmp_path / "own.jsonl", []
    settings = {"max_answer_tokens": 24, "batch_size": 2, "repetition_penalty": penalty}
    config = SynthesisConfig(num_examples=3, **settings)
    assert synthesize(nano, out, config, REQUESTS, told.append) == 3
    rows = {row["prompt"]: row for row in map(json.loads, out.read_text().splitlines())}
    for request in REQUESTS:
        ntp = DecodeConfig(strategy="ntp", max_new_tokens=24, repetition_penalty=penalty)
        trace = generate(nano, request, ntp)
        assert rows[request]["answer"] == trace.text.strip()
        assert rows[request]["finished"] == (trace.finish == "end_of_sequence")
    assert told == [0, 2, 3]
    assert synthesize(nano, out, config, REQUESTS) == 3
    training, held_out, _ = read_texts([out], base_of(nano), 99)
    assert len(training) + len(held_out) == len(REQUESTS)


@pytest.mark.parametrize("ends_turns", [False, True])
def test_requests_that_it_made_up_are_answered_as_if_they_were_asked(nano, tmp_path, ends_turns):
    """ends_turns: by the end token, which then stands in the text before it is read."""
    model = copy.copy(nano)
    if ends_turns:
        model.tokenizer = copy.deepcopy(nano.tokenizer)
        model.tokenizer.chat_template = "Q:{{ messages[0].content }}{{ eos_token }}A:"
    out = tmp_path / "own.jsonl"
    config = SynthesisConfig(num_examples=4, max_answer_tokens=12, batch_size=3, seed=1)
    assert synthesize(model, out, config) == 4
    for row in map(json.loads, out.read_text().splitlines()):
        assert row["kind"] in ("sampled", "structured")
        ntp = DecodeConfig(strategy="ntp", max_new_tokens=12, repetition_penalty=1.1)
        assert row["answer"] == generate(model, row["prompt"], ntp).text.strip()


def test_examples_are_held_out_by_their_words_and_of_few_the_first(nano, tmp_path) -> None:
    file = tmp_path / "own.jsonl"

    def split(requests: list[str]) -> list[list[str]]:
        rows = [{"prompt": request, "answer": "It is so."} for request in requests]
        file.write_text("\n".join(map(json.dumps, rows)))
        *parts, _ = read_texts([file], base_of(nano), 99)
        return [[nano.tokenizer.decode(prompt) for prompt, _ in part] for part in parts]

    many = [f"What is {number}?" for number in range(200)]
    training, held_out = split(many)
    assert len(held_out) == sum(map(is_held_out, many)) > 0
    assert len(training) + len(held_out) == len(many)
    training, held_out = split(few := [each for each in many if not is_held_out(each)][:3])
    assert len(training) == 2
    assert few[0] in held_out[0]
    with pytest.raises(ArgumentError, match="must hold examples to train on and to measure by"):
        split(few[:1])


def test_a_loop_is_more_than_three_times_the_same_six_words() -> None:
    six = "one two three four five six "
    assert not is_loop(six * 3)
    assert is_loop(six * 4)


def test_a_file_whose_answers_hold_other_line_ends_of_unicode_goes_on(nano, tmp_path) -> None:
    out = tmp_path / "own.jsonl"
    row = {"prompt": "a", "answer": "b\u2028c\x85d", "finished": True, "kind": "asked", "number": 0}
    out.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    assert synthesize(nano, out, SynthesisConfig(num_examples=1)) == 1
