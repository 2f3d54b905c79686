"""The form as a decode: blanks, limits of a public page, and the sentences that refuse."""

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.errors import ArgumentError
from tests.ui.doubles import END, PROMPT, outcome, story_model
from ui.decode.form import PUBLIC, USUAL, Form, template_pins
from ui.decode.session import Session
from ui.models import LazyModel
from ui.page import words_for

CONFIG = DecodeConfig(strategy="sbd", max_new_tokens=64, block_size=4)


@pytest.fixture(scope="module")
def model():
    return story_model()


def pins(model, template: object, config: DecodeConfig = CONFIG) -> dict[int, str]:
    return {
        offset: model.texts[token]
        for offset, token in template_pins(model, template, config).items()
    }


def test_what_is_not_blank_is_pinned_and_the_end_after_it(model):
    assert pins(model, "21___.") == {0: "2", 1: "1", 3: ".", 4: "<eos>"}
    assert pins(model, "___2.___(2)1") == {2: ".", 5: "1", 6: "<eos>"}
    assert pins(model, "_____") == {1: "<eos>"}


def test_an_empty_template_pins_nothing(model):
    assert pins(model, "") == pins(model, " \n") == {}


def test_a_token_that_the_tokenizer_puts_first_is_no_part_of_the_answer(model):
    def encode(prompt: str, *, is_raw: bool) -> tuple[int, ...]:
        return (1, *type(model).encode(model, prompt, is_raw=is_raw))

    beginning = story_model()
    beginning.encode = encode  # type: ignore[method-assign]
    assert pins(beginning, "1___.") == {0: "1", 2: ".", 3: "<eos>"}


def test_the_decode_fills_only_the_blanks_across_blocks(model):
    template = "1.___(3)2222____.___6.1"
    given = template_pins(model, template, CONFIG)
    trace = generate(
        model, "p", DecodeConfig(strategy="sbd", max_new_tokens=64, block_size=4, pinned=given)
    )
    assert trace.num_tokens == max(given) + 1 > 4 * CONFIG.block_size
    assert {offset: trace.token_ids[offset] for offset in given} == given
    revealed = {reveal.position for event in trace.events for reveal in event.reveals}
    assert revealed == set(range(trace.num_tokens)) - set(given)
    assert trace.token_ids[-1] == END


BAD = {
    "no blank": ("The answer.", "template: must hold a blank, ___"),
    "an empty blank": ("a___0", "template: must have blanks of 1 to 2,000 tokens; got '___0'"),
    "a huge blank": ("___" + "9" * 1900, "template: must have blanks of 1 to 2,000 tokens"),
    "longer than the answer": ("___64", "template: must be at most 64 tokens with its end"),
    "too many characters": ("_" * 2001, "template: must be at most 2,000 characters"),
    "not text": ([1], "template: must be text"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_template_is_refused_by_name_rule_and_value(model, name):
    template, message = BAD[name]
    with pytest.raises(ArgumentError) as caught:
        template_pins(model, template, CONFIG)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 300


def test_blanks_need_set_block_decoding(model):
    told = outcome(Session(model).decode(Form("p", strategy="verify", template="___")))[1]
    assert told.startswith("Answer with blanks needs the strategy Set Block Decoding")


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        (Form("x" * 802), "Prompt must be at most 400 tokens; got 401."),
        (Form("pp", max_new_tokens=129), "Longest answer must be at most 128 tokens on this page"),
    ],
)
def test_a_public_page_refuses_what_is_longer_and_the_usual_one_takes_it(form, sentence) -> None:
    model = story_model()
    model.encode = lambda prompt, *, is_raw: (PROMPT,) * (len(prompt) // 2)
    news, told = outcome(Session(model, is_public=True).decode(form))
    assert news == []
    assert told.startswith(sentence)
    Session(model).open(form)


def test_a_prompt_beyond_the_reach_of_the_model_is_named_once() -> None:
    session = Session(story_model(max_positions=60))
    told = outcome(session.decode(Form("p" * 10, max_new_tokens=64)))[1]
    assert told.startswith("Prompt must leave room: its tokens and max_new_tokens together")


def test_the_limits_for_everyone_are_nowhere_wider() -> None:
    for name in USUAL.__dataclass_fields__.keys() - {"is_public"}:
        assert getattr(PUBLIC, name) < getattr(USUAL, name), name


def plain(**fields) -> LazyModel:
    model = story_model(**fields)
    return LazyModel.of(model, source="runs/my model")


def test_a_model_without_a_mask_token_offers_the_line_that_prepares_it() -> None:
    model = plain(mask_token_id=None, block_range=None)
    assert not model.is_trained
    lines = words_for(model, model.source)["lines"]
    assert lines == [
        "sbd prepare 'runs/my model' --out ready",
        "sbd train --stage sbd --recipe finetune --init ready --data file:chat.jsonl --out trained",
        "python app.py --model trained",
    ]
    assert words_for(model, model.name)["lines"][0] == "sbd prepare story --out ready"
