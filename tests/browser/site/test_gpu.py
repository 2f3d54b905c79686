"""A browser decodes an exported folder as Python does, on its processor and its GPU, or on the
processor instead of a GPU.

The GPU is Chromium's software adapter: slow, and true to the last bits that matter here.
"""

import json
import re
from dataclasses import replace

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
from sbd_core.models.web_export import export_web
from sbd_core.solvers import Random
from tests.browser.conftest import CHROMIUM, RUN, decode_button, sync_api
from tests.browser.site.conftest import (
    GPU_FLAGS,
    address,
    before_engine,
    fill,
    say_it_is_large,
    until,
    visiting,
)
from tests.conftest import in_browsers
from ui.decode.form import USUAL_ROWS

pytestmark = pytest.mark.browser
expect = sync_api.expect
PROMPTS = {
    "sbd-nano": "Tara has 49 pencils. Hugo takes 12. How many pencils does Tara have now?",
    "adapted": "a b c",
}
LONGEST = {"webgpu": 8, "wasm": 40}
WAYS = {
    "ntp": DecodeConfig(strategy="ntp"),
    "sbd": DecodeConfig(strategy="sbd", solver=Random(2), seed=5),
    "verify": DecodeConfig(strategy="verify", block_size=8, max_rows=9),
    "verify-12-rows": DecodeConfig(strategy="verify", max_rows=12),
    "verify-penalised": DecodeConfig(strategy="verify", repetition_penalty=1.3),
}
ADAPTED = "?engine=gpu&model=models/adapted"
WORDS = ".sbd-engine-choice-words"

LOAD = """(source) => new Promise((done) => {
  window.engine?.terminate();
  window.engine = new Worker('dist/engine.js', { type: 'module' });
  window.engine.onmessage = ({ data }) => {
    if (data.kind === 'ready' || data.kind === 'failed') done(data);
  };
  window.engine.postMessage({ kind: 'load', source });
})"""
"""Starts an engine of one's own; resolves with what it says of itself."""

DECODE = """([lane, form]) => new Promise((done) => {
  const lines = [];
  window.engine.onmessage = ({ data: { news } }) => {
    if (news?.wire) lines.push(...news.wire.split('\\n').map(JSON.parse));
    if (news?.isRunning === false) {
      const steps = lines.filter((line) => line.type === 'step');
      const rows = lines[0]?.lanes[0].max_rows;
      done([[news.text, steps.length, steps.flatMap((step) => step.committed ?? [])], rows]);
    }
  };
  window.engine.postMessage({ kind: 'compare', lanes: [lane], form });
})"""
"""Decodes one lane; resolves with [the error, the number of passes, the tokens], and the most rows
of a forward pass."""


@pytest.fixture(scope="module")
def gpu_browser(chromium):
    """Chromium with an adapter."""
    started = chromium.launch(executable_path=CHROMIUM, args=GPU_FLAGS)
    yield started
    started.close()


@pytest.fixture
def page(gpu_browser, site):
    """The site in a tab of its own, its recorded runs on the stage."""
    with visiting(gpu_browser, site) as opened:
        yield opened


def loaded(page, name: str, engine: str = "webgpu") -> None:
    """Have the GPU, or another engine, ready with a model of the site."""
    base = f"{page.url.partition('#')[0]}models/{name}/"
    source = {"name": name, "base": base, "storePrefix": f"sbd / model {name}", "engine": engine}
    said = page.evaluate(LOAD, source)
    assert ("gpu" in said and said["gpu"] != "") == (engine == "webgpu"), said


def decoded(page, config, prompt: str, longest: int = LONGEST["webgpu"]):
    """The result of a lane of the page's own engine."""
    kind = f"random:{config.solver.k}" if config.strategy == "sbd" else config.strategy
    form = {"prompt": prompt, "block_size": config.block_size, "seed": config.seed,
            "max_new_tokens": longest, "max_rows": config.max_rows,
            "repetition_penalty": config.repetition_penalty or 0}  # fmt: skip
    return page.evaluate(DECODE, [kind, form])[0]


@pytest.mark.parametrize("name", PROMPTS)
def test_every_strategy_gives_the_tokens_of_python(page, adapter_folder, name) -> None:
    """With the usual number of rows of its device. Under Node test_browser_engine.py tries more."""
    model = in_browsers({"sbd-nano": DEFAULT_CHECKPOINT, "adapted": adapter_folder}[name])
    for (engine, longest), device in zip(LONGEST.items(), ("GPU", "WebAssembly"), strict=True):
        loaded(page, name, engine)
        form = {"prompt": "a b c", "block_size": 4, "max_new_tokens": 2}
        assert page.evaluate(DECODE, ["verify", form])[1] == USUAL_ROWS[device]
        # The products of nano are large for a processor that plays a GPU.
        step = 3 if (name, engine) == ("sbd-nano", "webgpu") else 1
        for way, config in [*WAYS.items()][::step]:
            expected = generate(model, PROMPTS[name], replace(config, max_new_tokens=longest))
            tokens = [token for event in expected.events for token in event.committed]
            found = decoded(page, config, PROMPTS[name], longest)
            assert found == ["", expected.num_forwards, tokens], (engine, way)


def test_weights_of_8_bits_give_verify_the_tokens_of_ntp(page, site, adapter_folder) -> None:
    folder = site / "models" / "in-8-bits"
    export_web(adapter_folder, folder, dtype="int8")
    plain = replace(WAYS["ntp"], max_new_tokens=LONGEST["webgpu"])
    for engine, dtype in (("webgpu", "float32"), ("wasm", "int8")):  # of its products
        loaded(page, folder.name, engine)
        expected = generate(in_browsers(adapter_folder, "int8", dtype), "a b c", plain)
        for way in ("ntp", "verify-12-rows"):
            text, _, tokens = decoded(page, WAYS[way], "a b c")
            assert (text, tokens) == ("", [*expected.token_ids]), (engine, way)


def has_decoded(page) -> None:
    """Decode a short answer to the end."""
    fill(page, "max-new-tokens", 8)
    page.get_by_label("Prompt").fill("a b c")
    old = page.evaluate(f"{RUN}.id")
    decode_button(page).click()
    until(page, f"{RUN}.id !== {json.dumps(old)} && {RUN}.isComplete")


def test_a_large_model_is_offered_fetched_and_deleted(gpu_browser, changed, exports) -> None:
    site = changed(lambda folder: say_it_is_large(folder, exports[0]))
    with visiting(gpu_browser, site, "?engine=gpu") as page:
        offer = page.get_by_role("button", name="Run it on your own GPU, a download of 30.0 MB")
        offer.click()
        expect(page.get_by_role("progressbar", name="Fetched")).to_be_visible()
        expect(page.locator(WORDS)).to_contain_text("on your GPU (google swiftshader)")
        expect(offer).to_be_hidden()
        is_of_nano = "(name) => name.startsWith('sbd / model sbd-nano ')"
        kept = f"caches.keys().then((names) => names.some({is_of_nano}))"
        assert page.evaluate(kept)
        page.get_by_role("button", name="Delete the model from this browser").click()
        expect(offer).to_be_visible()
        assert not page.evaluate(kept)


def test_a_lost_gpu_leaves_the_run_and_the_processor_goes_on(page, gpu_browser) -> None:
    page.goto(page.url.replace("#", f"{ADAPTED}#"))
    expect(page.locator(WORDS)).to_have_text(re.compile("on your GPU .google swiftshader"))
    fill(page, "max-new-tokens", 100)
    page.get_by_label("Prompt").fill("a b c")
    decode_button(page).click()
    until(page, f"{RUN}.id !== 'opening' && {RUN}.main.numCommitted > 2")
    gpu_browser.new_browser_cdp_session().send("Browser.crashGpuProcess")
    expect(page.locator(".sbd-status-line")).to_contain_text(
        "Your GPU stopped, perhaps for want of memory; the run"
    )
    assert page.evaluate(f"{RUN}.main.numCommitted") > 2
    has_decoded(page)
    expect(page.locator(WORDS)).to_have_text(
        re.compile(r", on your processor, \d.* tokens a second")
    )


def wrong_trial(site) -> None:
    manifest = site / "models" / "adapted" / "manifest.json"
    told = json.loads(manifest.read_text())
    told["trial"][0][1] += 5
    manifest.write_text(json.dumps(told))


REFUSED = "GPUAdapter.prototype.requestDevice = () => Promise.reject(new TypeError('no'));"
FULL = """{
  const { createBuffer } = GPUDevice.prototype;
  let left = 60;
  GPUDevice.prototype.createBuffer = function (wanted) {
    left -= 1;
    if (left === 0) {
      const error = new GPUOutOfMemoryError('full');
      this.dispatchEvent(new GPUUncapturedErrorEvent('uncapturederror', { error }));
    }
    return createBuffer.call(this, wanted);
  };
}"""
TOO_LARGE = """{
  const { createBuffer } = GPUDevice.prototype;
  GPUDevice.prototype.createBuffer = function ({ size, ...wanted }) {
    return createBuffer.call(this, { ...wanted, size: size > 5e4 ? 2 ** 40 : size });
  };
}"""
"""Every larger buffer is one that the GPU refuses."""
LEAST = """{
  const { requestDevice } = GPUAdapter.prototype;
  GPUAdapter.prototype.requestDevice = function ({ requiredFeatures }) {
    return requestDevice.call(this, { requiredFeatures });
  };
}"""
"""A device with what every one has: buffers of 256 MiB, of which 128 can be bound."""


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (wrong_trial, "Your GPU computes other numbers than it should."),
        (before_engine(REFUSED), "This browser gives the page no GPU."),
        (before_engine(FULL), "Your GPU stopped, perhaps for want of memory."),
        (before_engine(TOO_LARGE), "Your GPU cannot run the model."),
    ],
    ids=["wrong numbers", "refused", "no memory", "small buffers"],
)
def test_a_gpu_that_cannot_decode_is_told_and_left(gpu_browser, changed, damage, words):
    with visiting(gpu_browser, changed(damage), ADAPTED) as page:
        expect(page.locator(WORDS)).to_have_text(
            f"Decode runs in your browser by adapted, on your processor. {words}"
        )
        has_decoded(page)


def test_a_gpu_with_the_least_limits_decodes(gpu_browser, changed) -> None:
    with visiting(gpu_browser, changed(before_engine(LEAST))) as page:
        loaded(page, "adapted")
        assert decoded(page, WAYS["verify-12-rows"], "a b c")[0] == ""


def test_a_browser_without_a_gpu_says_so_and_decodes(open_page, server) -> None:
    page = open_page(address(server) + "?engine=gpu")
    words = "on your processor. This browser gives the page no GPU."
    expect(page.locator(WORDS)).to_contain_text(words)
    has_decoded(page)
