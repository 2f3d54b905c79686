"""The page with a model of one's own: adapters, models not trained for blocks, and no models."""

import gradio as gr
import pytest
from transformers import AutoModelForCausalLM, T5Config

from sbd_core.errors import ModelError
from sbd_core.hf.model_folders import prepare
from tests.core.models.tiny_models import maskless_tokenizer, save_tiny, tiny_tokenizer
from ui.decode.form import Form
from ui.decode.session import Session
from ui.form import controls
from ui.models import Models, model_of
from ui.views.home import untrained


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
    assert not model.is_settled
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
