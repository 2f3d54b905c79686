"""A page for strangers: what they may ask for, and what they are not told of the machine."""

import pytest

from tests.ui.doubles import PROMPT, story_model
from ui.decode.fair_queue import FairQueue, QueueFull
from ui.decode.form import PUBLIC, USUAL, Form
from ui.decode.session import Session
from ui.lazy_model import LazyModel
from ui.views.home import words_for


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        (Form("x" * 1_001), "Prompt must be at most 1,000 characters; got 1001."),
        (Form("x" * 802), "Prompt must be at most 400 tokens; got 401."),
        (Form("pp", max_new_tokens=129), "Longest answer must be at most 128 tokens on this page"),
    ],
)
def test_a_public_page_refuses_what_is_longer_and_the_usual_one_takes_it(form, sentence) -> None:
    model = story_model()
    model.encode = lambda prompt, *, is_raw: (PROMPT,) * (len(prompt) // 2)
    [news] = list(Session(model, is_public=True).decode(form))
    assert news.is_error
    assert news.message.startswith(sentence)
    Session(model).open(form)


def test_a_prompt_beyond_the_reach_of_the_model_is_named_once() -> None:
    [news] = list(Session(story_model(max_positions=60)).decode(Form("p" * 10, max_new_tokens=64)))
    assert news.message.startswith("Prompt must leave room: its tokens and max_new_tokens together")


def test_the_limits_for_everyone_are_nowhere_wider() -> None:
    for name in USUAL.__dataclass_fields__:
        assert getattr(PUBLIC, name) < getattr(USUAL, name), name


def test_one_tab_cannot_take_every_place_of_its_address() -> None:
    queue = FairQueue(60.0, 1e9, max_places_each=3, max_places_of_session=2)
    first, _ = queue.join("a", "tab"), queue.join("a", "tab")
    with pytest.raises(QueueFull, match="2 runs of your tab are still in line"):
        queue.join("a", "tab")
    queue.join("a", "other tab")
    queue.join("b", "tab")
    with pytest.raises(QueueFull, match="3 runs of your address are still in line"):
        queue.join("a", "third tab")
    queue.leave(first)
    queue.join("a", "third tab")


def plain(**fields) -> LazyModel:
    model = story_model(**fields)
    return LazyModel.of(model, "runs/my model")


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
