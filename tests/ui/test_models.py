"""Models of a page: loaded when wanted, fetched when asked, one's own; a line if that fails."""

import time
from collections.abc import Callable

import pytest
from transformers import AutoModelForCausalLM, T5Config

from sbd_core.errors import ArgumentError, ModelError
from sbd_core.hf.conversions import prepare
from sbd_core.models.bases import SMOLLM2
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, REAL_MODEL
from tests.core.models.tiny_models import maskless_tokenizer, save_tiny, tiny_tokenizer
from tests.ui.doubles import FakeBase, outcome, story_model
from ui import models as models_module
from ui.best_settings import best_for
from ui.decode.form import Form
from ui.decode.session import Session
from ui.examples import compared_traces, opening_traces
from ui.models import LazyModel, Models, model_of, models_of
from ui.page import entry_of_offer

PROMPT = "Tell me a story."


@pytest.fixture(autouse=True)
def settings_of_the_page(monkeypatch) -> None:
    """The page's own, where this process has already served the browser tests'."""
    monkeypatch.setattr("ui.page.best_for", best_for)


@pytest.fixture
def base(monkeypatch) -> FakeBase:
    return FakeBase(monkeypatch)


def small() -> LazyModel:
    return LazyModel.of(story_model("One. Two.", name="small"), title="small 5M")


def large(load: Callable[[], object] | None = None) -> LazyModel:
    """A model whose base must be fetched."""
    loaded = load or (lambda: story_model("Three. Four.", name="large"))
    known = {"can_draft": True, "block_range": (2, 8), "has_adapter": True}
    offer = {"title": "Large 135M", "base": SMOLLM2, "presets": "presets-english.json"}
    return LazyModel("large", loader=loaded, **known, **offer)


@pytest.fixture
def pair(base: FakeBase) -> Models:
    nano, other = small(), large()
    return Models([nano, other])


def text_of(session: Session, name: str) -> str:
    [*_, last] = session.decode(Form(PROMPT, strategy="ntp", model=name))
    return last.lanes[0].trace.text


def test_each_form_is_decoded_by_the_model_it_names(pair: Models, base: FakeBase) -> None:
    session = Session(pair)
    base.is_there = True
    assert text_of(session, "") == "One. Two."
    assert text_of(session, "large") == "Three. Four."
    assert text_of(session, "small") == "One. Two."


@pytest.mark.parametrize("name", ["other", 7, ["small"], {"small": 1}])
def test_a_model_that_the_page_does_not_offer_is_refused_by_name(pair: Models, name) -> None:
    with pytest.raises(ArgumentError, match="model: must be one of small, large"):
        pair.named(name)


def test_a_base_that_comes_while_the_page_is_up_is_picked_up(pair: Models, base: FakeBase) -> None:
    session = Session(pair)
    words = "Large 135M is not on this machine; the command “sbd fetch” brings it, and the page "
    assert outcome(session.decode(Form(PROMPT, model="large"))) == ([], f"{words}then has it.")
    assert entry_of_offer(pair.named("large"), is_public=False)["absence"]
    base.is_there = True
    assert entry_of_offer(pair.named("large"), is_public=False)["absence"] == ""
    assert text_of(session, "large") == "Three. Four."


def test_two_models_are_never_loaded_at_a_time(base: FakeBase) -> None:
    now, most = 0, 0

    def load() -> object:
        nonlocal now, most
        now += 1
        most = max(most, now)
        time.sleep(0.05)
        now -= 1
        return story_model()

    lazies = [LazyModel(str(n), can_draft=True, block_range=None, loader=load) for n in range(4)]
    for lazy in (*lazies, *lazies):
        lazy.wanted()
    for lazy in lazies:
        lazy.wait()
    assert most == 1


def test_a_base_that_turns_out_damaged_is_said_to_be_and_loaded_anew(base, tmp_path) -> None:
    def load() -> object:
        if not base.folder.exists():
            return story_model("Mended.", name="large")
        base.is_there = False
        raise ModelError("model: its base is damaged")

    base.is_there = True
    base.folder = tmp_path / "base"
    base.folder.mkdir()
    models = Models([small(), large(load)])
    models.named("large").wanted().wait()
    with pytest.raises(ModelError, match="Large 135M is damaged on this machine; the command"):
        models.named("large").wanted()
    base.folder.rmdir()
    base.is_there = True
    assert text_of(Session(models), "large") == "Mended."


def test_models_share_one_line(pair: Models, base: FakeBase) -> None:
    base.is_there = True
    session = Session(pair)
    running = session.decode(Form(PROMPT, model="small"))
    next(running)
    waiting = session.decode(Form(PROMPT, model="large"))
    assert next(update for update in waiting if update.num_ahead).num_ahead == 1
    running.close()
    waiting.close()


def test_a_model_has_examples_and_settings_of_its_own(pair: Models) -> None:
    entry = entry_of_offer(pair.named("large"), is_public=False)
    assert "capital of France" in str(entry["presets"])
    assert (entry["form"]["strategy"], entry["form"]["block_size"]) == ("verify", 4)
    assert (entry["blockRange"], entry["isTrained"], entry["canDraft"]) == ([2, 8], True, True)
    assert entry["line"].startswith("large · ")


def test_without_the_adapter_the_page_offers_nano_alone(monkeypatch) -> None:
    bundled = models_module.bundled_folder
    monkeypatch.setattr(
        models_module, "bundled_folder", lambda name: None if name == REAL_MODEL else bundled(name)
    )
    assert [model.name for model in models_of(None, "cpu")] == [DEFAULT_CHECKPOINT.name]


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
    assert [model.title for model in models] == ["nano 5M", "SmolLM2 135M"]
    base.is_there = True
    assert models_of(None, "cpu").first.title == "SmolLM2 135M"


def made_of(adapter_folder) -> Callable[..., LazyModel]:
    def make(source: str | None, device: str, **offer: object) -> LazyModel:
        name = DEFAULT_CHECKPOINT.name if source is None else adapter_folder.name
        known = {"can_draft": True, "block_range": (2, 16)}
        return LazyModel(name, loader=story_model, **known, **offer)

    return make


def test_a_model_of_ones_own_comes_first_and_the_bundled_ones_stay(tiny_folders) -> None:
    models = models_of(str(tiny_folders["llama"]), "cpu")
    assert models.first.name == "llama"
    assert DEFAULT_CHECKPOINT.name in [model.name for model in models]


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

    lazy = LazyModel("base", can_draft=False, block_range=None, loader=load)
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


@pytest.fixture
def plain(tmp_path):
    return save_tiny(tmp_path / "plain", "qwen3", maskless_tokenizer())


def test_a_plain_model_offers_next_token_prediction_alone_and_the_line_that_prepares(plain) -> None:
    model = model_of(str(plain), "cpu")
    entry = entry_of_offer(model, is_public=False)
    assert (entry["form"]["strategy"], entry["canDraft"]) == ("ntp", False)
    assert f"sbd prepare {plain} --out ready" in entry["untrained"]["lines"]
    [*_, last] = Session(model).decode(Form("hello", strategy="ntp", max_new_tokens=4))
    assert not last.is_running


def test_a_prepared_model_starts_from_next_token_prediction_before_it_is_loaded(plain, tmp_path):
    prepare(plain, tmp_path / "ready")
    model = model_of(str(tmp_path / "ready"), "cpu")
    assert not model.is_done
    entry = entry_of_offer(model, is_public=False)
    assert (entry["form"]["strategy"], entry["canDraft"]) == ("ntp", True)
    assert "sbd prepare" not in str(entry["untrained"])
    assert f"--init {tmp_path / 'ready'} " in str(entry["untrained"])
    assert str(tmp_path) not in str(entry_of_offer(model, is_public=True))
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
    assert not last.is_running


def test_what_is_no_model_is_one_sentence_before_anything_is_served(tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    T5Config().save_pretrained(tmp_path / "t5")
    for name, words in (("empty", "Unrecognized model"), ("t5", "must be a decoder alone")):
        with pytest.raises(ModelError, match=words) as caught:
            model_of(str(tmp_path / name), "auto")
        assert "\n" not in str(caught.value)
