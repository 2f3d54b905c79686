"""Models of a page: loaded when wanted, fetched when asked, one's own; a line if that fails."""

import threading
import time
from collections.abc import Callable, Iterator

import gradio as gr
import pytest
from transformers import AutoModelForCausalLM, T5Config

from sbd_core.errors import ArgumentError, ModelError
from sbd_core.hf.conversions import prepare
from sbd_core.models.bases import SMOLLM2, BaseSource
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, REAL_MODEL
from sbd_core.run_lines import MAX_SHOWN_BLOCK
from tests.core.models.tiny_models import maskless_tokenizer, save_tiny, tiny_tokenizer
from tests.ui.doubles import Coming, FakeBase, story_model, wait_for
from ui import models as models_module
from ui import page as page_module
from ui.decode.form import Form
from ui.decode.session import Session, Update
from ui.examples import compared_traces, opening_traces
from ui.models import FETCH_FAILED, LazyModel, Models, Offer, model_of, models_of
from ui.views import controls
from ui.views.head import follow, switch_value, untrained

PROMPT = "Tell me a story."


@pytest.fixture
def base(monkeypatch) -> FakeBase:
    return FakeBase(monkeypatch)


def small() -> Offer:
    return Offer(lambda: LazyModel.of(story_model("One. Two.", name="small")), title="small 5M")


def large(load: Callable[[], object] | None = None) -> Offer:
    """A model whose base must be fetched."""

    def make() -> LazyModel:
        loaded = load or (lambda: story_model("Three. Four.", name="large"))
        return LazyModel("large", can_draft=True, block_range=(2, 8), load=loaded, has_adapter=True)

    return Offer(make, title="Large 135M", base=SMOLLM2, presets="presets-english.json")


@pytest.fixture
def pair(base: FakeBase) -> Models:
    nano, other = small(), large()
    return Models([other, nano], first=nano)


def fetched(offer: Offer, base: FakeBase) -> Offer:
    base.goes_on.set()
    offer.fetch()
    wait_for(lambda: not offer.fetch_news.is_running)
    return offer


def text_of(session: Session, name: str) -> str:
    [*_, trace] = session.traces([Form(PROMPT, strategy="ntp", model=name)])
    return trace.text


def test_each_form_is_decoded_by_the_model_it_names(pair: Models, base: FakeBase) -> None:
    session = Session(pair)
    fetched(pair.offer("large"), base)
    assert text_of(session, "") == "One. Two."
    assert text_of(session, "large") == "Three. Four."
    assert text_of(session, "small") == "One. Two."


def test_a_model_that_is_not_here_is_one_sentence_and_the_other_decodes(pair: Models) -> None:
    session = Session(pair)
    [update] = session.decode(Form(PROMPT, model="large"))
    assert update.is_error
    assert update.message == (
        "Large 135M is not on this machine yet: download it in the head of the page."
    )
    assert text_of(session, "small") == "One. Two."


@pytest.mark.parametrize("name", ["other", 7, ["small"], {"small": 1}])
def test_a_model_that_the_page_does_not_offer_is_refused_by_name(pair: Models, name) -> None:
    with pytest.raises(ArgumentError, match="model: must be one of large, small"):
        pair.offer(name)
    assert pair.known(name) == "small"


def test_a_fetch_tells_how_far_it_is_and_ends_with_the_model(pair: Models, base: FakeBase) -> None:
    offer = pair.offer("large")
    offer.fetch()
    wait_for(lambda: offer.fetch_news.done > 0)
    assert offer.fetch_news.done == 34_000_000
    with pytest.raises(ModelError, match="still being downloaded; until then"):
        pair.wanted("large")
    assert not offer.is_here
    base.goes_on.set()
    wait_for(lambda: offer.is_here)
    assert pair.wanted("large").result().name == "large"


def test_whoever_follows_a_fetch_hears_its_end_though_it_ends_while_they_are_told(pair, base):
    offer = pair.offer("large")
    offer.fetch()
    told = []
    for value in follow([offer], lambda: switch_value(pair, may_manage=True)):
        told.append(value)
        base.goes_on.set()
        wait_for(lambda: not offer.fetch_news.is_running)
    assert '"isFetching":true' in told[0]
    assert '"isFetching":false' in told[-1]


def test_a_cancelled_fetch_leaves_no_words_and_can_be_begun_again(pair, base) -> None:
    offer = pair.offer("large")
    offer.fetch()
    wait_for(lambda: offer.fetch_news.done > 0)
    offer.cancel()
    base.goes_on.set()
    wait_for(lambda: not offer.fetch_news.is_running)
    assert (offer.fetch_news.words, offer.is_here) == ("", False)
    assert fetched(offer, base).is_here


@pytest.mark.parametrize(
    ("error", "words"),
    [(ModelError("base: no network"), "base: no network"), (KeyError("x"), FETCH_FAILED)],
)
def test_a_fetch_that_fails_says_why_and_can_be_tried_again(pair, base, error, words) -> None:
    base.error = error
    offer = fetched(pair.offer("large"), base)
    assert (offer.fetch_news.words, offer.is_here) == (words, False)
    base.error = None
    assert fetched(offer, base).is_here
    assert offer.fetch_news.words == ""


def test_a_removed_base_lets_go_of_the_model(pair: Models, base: FakeBase) -> None:
    offer = fetched(pair.offer("large"), base)
    pair.wanted("large").result()
    offer.remove()
    assert not offer.is_here
    with pytest.raises(ModelError, match="is not on this machine"):
        pair.wanted("large")
    fetched(offer, base)
    assert pair.wanted("large").result().name == "large"


@pytest.fixture
def opened_with_large(base: FakeBase) -> Models:
    """A page that opens with a model whose base is here and that was loaded; nano is not yet."""
    nano = LazyModel(
        "small", can_draft=True, block_range=(2, 8), load=lambda: story_model("One.", name="small")
    )
    base.is_there = True
    models = Models([large(), Offer(lambda: nano)])
    assert models.wanted("").wait(10), "nobody loads it"
    return models


def last_of(updates: Iterator[Update]) -> Update:
    """The last news of a decode that must end."""
    deadline = time.monotonic() + 10
    for update in updates:
        assert time.monotonic() < deadline, update
    return update


def test_without_the_base_of_the_first_model_the_other_decodes_and_it_can_be_fetched(
    opened_with_large: Models, base: FakeBase
) -> None:
    session = Session(opened_with_large)
    first = opened_with_large.first
    first.remove()
    assert "is not on this machine" in last_of(session.decode(Form(PROMPT))).message
    assert not last_of(session.decode(Form(PROMPT, model="small"))).is_error
    assert fetched(first, base).is_here
    assert not last_of(session.decode(Form(PROMPT))).is_error


def test_a_first_model_that_is_deleted_before_it_was_wanted_is_still_waited_for(base) -> None:
    base.is_there = True
    models = Models([large(), small()])
    waits = threading.Thread(target=models.first.lazy.wait_until_done)
    waits.start()
    models.first.remove()
    fetched(models.first, base)
    models.wanted("")
    waits.join(10)
    assert not waits.is_alive()


def test_a_fetch_can_be_cancelled_while_it_waits_for_a_model_to_be_loaded(pair, base) -> None:
    coming = Coming(story_model)
    coming.lazy.begin()
    offer = pair.offer("large")
    offer.fetch()
    assert offer.fetch_news.words == "waiting"
    offer.cancel()
    assert offer.fetch_news.words == "cancelling"
    coming.go_on.set()
    base.goes_on.set()
    wait_for(lambda: not offer.fetch_news.is_running)
    assert (offer.fetch_news.words, offer.is_here) == ("", False)


def test_two_models_are_never_loaded_at_a_time(base: FakeBase) -> None:
    """Nor is transformers imported by a fetch meanwhile: two imports of it at a time fail."""
    now, most = 0, 0

    def load() -> object:
        nonlocal now, most
        now += 1
        most = max(most, now)
        time.sleep(0.05)
        now -= 1
        return story_model()

    lazies = [LazyModel(str(n), can_draft=True, block_range=None, load=load) for n in range(4)]
    for lazy in (*lazies, *lazies):
        lazy.begin()
    for lazy in lazies:
        lazy.wait_until_done()
    assert most == 1


def test_a_base_that_turns_out_damaged_is_said_to_be_and_fetched_anew(base, tmp_path) -> None:
    def load() -> object:
        if not base.folder.exists():
            return story_model("Mended.", name="large")
        base.is_there = False
        raise ModelError("model: its base is damaged")

    base.is_there = True
    base.folder = tmp_path / "base"
    base.folder.mkdir()
    models = Models([small(), large(load)])
    models.wanted("large").wait_until_done()
    with pytest.raises(ModelError, match="Large 135M is damaged on this machine: download it"):
        models.wanted("large")
    base.folder.rmdir()
    fetched(models.offer("large"), base)
    assert text_of(Session(models), "large") == "Mended."


def test_a_base_that_cannot_be_deleted_is_said_to_stay(opened_with_large, monkeypatch) -> None:
    def refuse(source: BaseSource) -> None:
        raise ModelError("base: cannot be deleted: Read-only file system")

    monkeypatch.setattr("ui.models.remove", refuse)
    first = opened_with_large.first
    first.remove()
    assert first.is_here
    assert "Read-only" in switch_value(opened_with_large, may_manage=True)


def test_models_share_one_line(pair: Models, base: FakeBase) -> None:
    fetched(pair.offer("large"), base)
    session = Session(pair)
    running = session.decode(Form(PROMPT, model="small"))
    next(running)
    waiting = session.decode(Form(PROMPT, model="large"))
    assert next(update for update in waiting if update.num_ahead).num_ahead == 1
    running.close()
    waiting.close()


def test_the_switch_is_there_only_for_more_than_one(pair: Models) -> None:
    def names_of(models) -> set:
        demo = page_module.build(models)
        return {block.elem_id for block in demo.blocks.values()} & {"sbd-model-switch"}

    assert names_of(pair) == {"sbd-model-switch"}
    assert names_of(story_model()) == set()


def test_visitors_of_a_public_page_manage_nothing(pair: Models) -> None:
    assert '"mayManage":true' in switch_value(pair, may_manage=True).replace(" ", "")
    assert '"mayManage":true' not in switch_value(pair, may_manage=False).replace(" ", "")
    demo = page_module.build(pair, is_public=True)
    handlers = {f.name: f.fn for f in demo.fns.values()}
    event = gr.EventData(None, {"name": "large"})
    list(handlers["fetch"](event))
    assert not pair.offer("large").fetch_news.is_running


def chosen_values(models: Models, data: dict) -> list:
    demo = page_module.build(models)
    [handler] = [f for f in demo.fns.values() if f.name == "choose"]
    names = [block.elem_id for block in handler.outputs]
    return [dict(zip(names, row, strict=True)) for row in handler.fn(gr.EventData(None, data))]


def test_choosing_a_model_brings_its_examples_and_settings(pair: Models, base: FakeBase) -> None:
    fetched(pair.offer("large"), base)
    first, last = chosen_values(pair, {"name": "large"})
    ids = controls.FIELD_IDS
    assert first["sbd-model-field"] == "large"
    assert "capital of France" in first["sbd-presets"]
    assert first[ids["strategy"]]["value"] == "verify"
    assert first[ids["block_size"]]["value"] == 4 <= MAX_SHOWN_BLOCK
    assert "trained on 2 to 8" in first[ids["block_size"]]["info"]
    assert last["sbd-header"].startswith("large · ")
    [kept, _] = chosen_values(pair, {"name": "small", "keepsSettings": True})
    assert "value" not in kept[ids["strategy"]]
    assert kept["sbd-model-field"] == "small"


@pytest.mark.parametrize("data", [{}, {"name": "large"}, {"name": []}])
def test_choosing_what_is_not_here_changes_no_form(pair: Models, data: dict) -> None:
    for row in chosen_values(pair, data):
        assert row["sbd-model-field"] in (gr.skip(), "small")


def test_without_the_adapter_the_page_offers_nano_alone(monkeypatch) -> None:
    bundled = models_module.bundled_folder
    monkeypatch.setattr(
        models_module, "bundled_folder", lambda name: None if name == REAL_MODEL else bundled(name)
    )
    assert [offer.name for offer in models_of(None, "cpu")] == [DEFAULT_CHECKPOINT.name]


def test_with_the_adapter_the_page_opens_with_nano_until_the_base_is_here(
    adapter_folder, monkeypatch, base: FakeBase
) -> None:
    bundled = models_module.bundled_folder
    monkeypatch.setattr(
        models_module,
        "bundled_folder",
        lambda name: adapter_folder if name == REAL_MODEL else bundled(name),
    )
    monkeypatch.setattr(models_module, "base_of", lambda name: SMOLLM2)
    monkeypatch.setattr(models_module, "model_of", made_of(adapter_folder))
    models = models_of(None, "cpu")
    assert [offer.title for offer in models] == ["SmolLM2 135M", "nano 5M"]
    assert models.first.title == "nano 5M"
    base.is_there = True
    assert models_of(None, "cpu").first.title == "SmolLM2 135M"


def made_of(adapter_folder) -> Callable[..., LazyModel]:
    def make(source: str | None, device: str) -> LazyModel:
        name = DEFAULT_CHECKPOINT.name if source is None else adapter_folder.name
        return LazyModel(name, can_draft=True, block_range=(2, 16), load=story_model)

    return make


def test_a_model_of_ones_own_comes_first_and_the_bundled_ones_stay(tiny_folders) -> None:
    models = models_of(str(tiny_folders["llama"]), "cpu")
    assert models.first.name == "llama"
    assert DEFAULT_CHECKPOINT.name in [offer.name for offer in models]


@pytest.mark.parametrize(
    "words",
    [
        "model: its base in /root/.cache/sbd_core/bases/base-1 is damaged",
        "model: '/srv/models/base-1/base.json' is damaged: see https://example.org/a/b",
    ],
)
def test_visitors_are_not_told_in_which_folder_a_model_or_its_base_lies(words):
    def load():
        raise ModelError(words)

    lazy = LazyModel("base", can_draft=False, block_range=None, load=load)
    lazy.load()
    with pytest.raises(ModelError) as caught:
        lazy.result()
    told = str(caught.value)
    assert "base-1" in told or "base.json" in told
    assert "/root" not in told
    assert "/srv" not in told
    assert ("https://example.org/a/b" in told) == ("https" in words)


@pytest.mark.parametrize("model", [DEFAULT_CHECKPOINT.name, REAL_MODEL])
def test_a_page_opens_on_a_run_and_lanes_of_its_first_model(model):
    traces = [*opening_traces(model).values(), *compared_traces(model).values()]
    assert {trace.model for trace in traces} == {model}


def test_a_model_without_runs_of_its_own_opens_on_those_of_nano():
    assert opening_traces("llama") == opening_traces(DEFAULT_CHECKPOINT.name)


def strategy_field(model):
    with gr.Blocks():
        return controls.build(Models.of(model)).fields["strategy"]


def strip_of(model, *, may_name_folder=True) -> str:
    """Text of the page's strip; "" where there is none."""
    with gr.Blocks() as blocks:
        untrained(Models.of(model), may_name_folder=may_name_folder)
    return "".join(str(block.value) for block in blocks.blocks.values())


@pytest.fixture
def plain(tmp_path):
    return save_tiny(tmp_path / "plain", "qwen3", maskless_tokenizer())


def test_a_plain_model_offers_next_token_prediction_alone_and_the_line_that_prepares(plain) -> None:
    model = model_of(str(plain), "cpu")
    field = strategy_field(model)
    assert (field.value, [value for _, value in field.choices]) == ("ntp", ["ntp"])
    assert f"sbd prepare {plain} --out ready" in strip_of(model)
    [*_, last] = Session(model).decode(Form("hello", strategy="ntp", max_new_tokens=4))
    assert not last.is_error


def test_a_prepared_model_starts_from_next_token_prediction_before_it_is_loaded(plain, tmp_path):
    prepare(plain, tmp_path / "ready")
    model = model_of(str(tmp_path / "ready"), "cpu")
    assert not model.is_done
    field = strategy_field(model)
    assert (field.value, len(field.choices)) == ("ntp", 3)
    assert "sbd prepare" not in strip_of(model)
    assert f"--init {tmp_path / 'ready'} " in strip_of(model)
    assert str(tmp_path) not in strip_of(model, may_name_folder=False)
    model.load()
    assert not model.result().is_trained  # loading says what the folder said


@pytest.mark.filterwarnings("ignore")
def test_an_adapter_opens_and_no_browser_decodes_with_its_base_alone(tmp_path) -> None:
    peft = pytest.importorskip("peft")
    base = save_tiny(tmp_path / "base", "llama", tiny_tokenizer())
    lora = peft.LoraConfig(target_modules=["q_proj"], init_lora_weights=False)
    peft.get_peft_model(AutoModelForCausalLM.from_pretrained(base), lora).save_pretrained(
        tmp_path / "adapter"
    )
    tiny_tokenizer().save_pretrained(tmp_path / "adapter")
    model = model_of(str(tmp_path / "adapter"), "cpu")
    assert (model.name, model.folder) == ("adapter", None)
    [*_, last] = Session(model).decode(Form("hello", max_new_tokens=4))
    assert not last.is_error


def test_what_is_no_model_is_one_sentence_before_anything_is_served(tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    T5Config().save_pretrained(tmp_path / "t5")
    for name, words in (("empty", "is no model"), ("t5", "must be a decoder alone")):
        with pytest.raises(ModelError, match=words) as caught:
            model_of(str(tmp_path / name), "auto")
        assert "\n" not in str(caught.value)
