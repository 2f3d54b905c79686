"""Time the browser's own decoding and measure its memory: python -m scripts.time_browser

Starts the engine of the static site in headless Chromium for each bundled model, once with one
thread and once with several, and writes assets/results/browser.json. On an emulated GPU only the
memory is measured, not the time. SmolLM2 needs its base model (sbd fetch).
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sbd_core.environment import environment
from sbd_core.files import write_text
from sbd_core.models.web_folder import keep_export
from scripts.static_site import MODELS, folder_path_of, write_site
from scripts.write_tables import RESULTS
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.site.conftest import GPU_FLAGS, Quiet, address, serving

COUNTED = """{
  let now = 0, peak = 0;
  const memories = new Set();
  const buffers = globalThis.GPUDevice?.prototype;
  if (buffers) {
    const { createBuffer } = buffers, { destroy } = GPUBuffer.prototype, held = new WeakMap();
    buffers.createBuffer = function (wanted) {
      const buffer = createBuffer.call(this, wanted);
      held.set(buffer, buffer.size);
      peak = Math.max(peak, (now += buffer.size));
      return buffer;
    };
    GPUBuffer.prototype.destroy = function () {
      now -= held.get(this) ?? 0;
      held.delete(this);
      return destroy.call(this);
    };
  }
  const { Memory, instantiate } = WebAssembly;
  WebAssembly.Memory = function (wanted) {
    const memory = new Memory(wanted);
    memories.add(memory);
    return memory;
  };
  WebAssembly.Memory.prototype = Memory.prototype;
  WebAssembly.instantiate = async function (...given) {
    const made = await instantiate.apply(WebAssembly, given);
    for (const each of Object.values((made.instance ?? made).exports))
      if (each instanceof Memory) memories.add(each);
    return made;
  };
  const channel = new BroadcastChannel("bytes");
  setInterval(() => {
    const wasm = [...memories].reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
    channel.postMessage({ wasm, gpu: peak });
  }, 500);
}
"""
"""Put before the engine's script; reports the bytes of WebAssembly memory and of GPU buffers."""
LISTEN = """() => {
  window.bytes = { wasm: 0, gpu: 0 };
  new BroadcastChannel("bytes").onmessage = ({ data }) => {
    for (const name in data) window.bytes[name] = Math.max(window.bytes[name], data[name]);
  };
}"""
WORDS = ".sbd-engine-choice-words"
BENCH = """(base) => new Promise((done, fail) => {
  const prompt = "Write a story about a fox and a hare.";
  const formOf = (strategy, size) =>
    ({ prompt, strategy, gamma: 0, ...(size && { block_size: size }), max_new_tokens: 64 });
  // The speeds are those of the last decodes, when all is compiled for speed.
  const ways = [formOf("ntp"), formOf("verify")];
  const forms = [...[2, 4, 7, 16, 41].map((size) => formOf("sbd", size)), ...ways, ...ways];
  const [ms, tokensPerSecond] = [{}, {}];
  const rounded = (value) => Number(value.toPrecision(3));
  const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);
  let [model, steps, form] = ["", [], null];
  const worker = new Worker("dist/engine.js", { type: "module" });
  const end = ({ strategy }) => {
    for (const { kind, context: [, numCausal], block: [, size], seconds } of steps) {
      const rows = strategy === "ntp" ? numCausal : numCausal + size;
      if (strategy !== "verify" && kind !== "prefill") (ms[rows] ??= []).push(1000 * seconds);
    }
    const numTokens = sum(steps.map(({ committed }) => committed?.length ?? 0));
    const speed = numTokens / sum(steps.map(({ seconds }) => seconds));
    if (strategy !== "sbd") tokensPerSecond[strategy] = rounded(speed);
  };
  const next = () => {
    [steps, form] = [[], forms.shift()];
    if (form) return worker.postMessage({ kind: "decode", form });
    const middle = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];
    const medians = Object.entries(ms).map(([rows, all]) => [rows, rounded(middle(all))]);
    const threads = crossOriginIsolated ? Math.min(navigator.hardwareConcurrency, 4) : 1;
    done({
      model,
      engine: `WebAssembly, threads: ${threads}`,
      ms_by_rows: Object.fromEntries(medians),
      tokens_per_second: tokensPerSecond,
    });
  };
  worker.onmessage = ({ data }) => {
    if (data.kind === "failed" || data.news?.isError) fail(new Error(data.text ?? data.news.text));
    if (data.kind === "ready") [model] = [data.name, next()];
    const lines = (data.news?.wire ?? "").split("\\n").filter((line) => line.startsWith("{"));
    const read = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === "step");
    steps.push(...read.filter(({ lane }) => lane === form.strategy));
    if (data.news?.isRunning === false) next(end(form));
  };
  const source = { name: "bench", base: new URL(base, document.baseURI).href, engine: "wasm" };
  worker.postMessage({ kind: "load", source });
})"""
"""Loads the model at `base` in a worker of its own, decodes a prompt in several ways, and returns
the median milliseconds of forward passes by their number of rows, and tokens per second."""
LONGEST_MS = 600_000


class Isolated(Quiet):
    """A file server that lets pages share memory between threads (cross-origin isolation)."""

    def end_headers(self) -> None:
        """Add the headers that isolate a page, so that its threads may share memory."""
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()


@contextmanager
def counted_page(browser: Any, url: str) -> Iterator[Any]:
    """Open a page that records its engine's peak memory in the JavaScript variable window.bytes."""
    with browser.new_context(service_workers="block", bypass_csp=True) as context:
        page = context.new_page()

        def count(route: Any) -> None:
            response = route.fetch()
            route.fulfill(response=response, body=COUNTED + response.text())

        context.route("**/dist/engine.js", count)
        page.add_init_script(f"({LISTEN})()")
        page.goto(url)
        yield page


def timed(browser: Any, site: Path, base: str, *, is_isolated: bool) -> dict[str, Any]:
    """Measure the engine on the CPU; return its results and its peak WebAssembly memory in bytes.

    base: path of the model. is_isolated: whether the page may use several threads.
    """
    with (
        serving(site, Isolated if is_isolated else Quiet) as server,
        counted_page(browser, address(server)) as page,
    ):
        return {**page.evaluate(BENCH, base), "memory_bytes": page.evaluate("window.bytes")}


def on_software_gpu(browser: Any, site: Path) -> dict[str, int]:
    """Start the engine on an emulated GPU; return peak bytes of GPU buffers and WebAssembly."""
    with (
        serving(site) as server,
        counted_page(browser, address(server) + "?engine=gpu#watch") as page,
    ):
        page.set_default_timeout(LONGEST_MS)
        page.wait_for_function(f"document.querySelector('{WORDS}')?.textContent")
        is_on = f"['on', 'failed'].includes(document.querySelector('{WORDS}')?.dataset.state)"
        offer = page.get_by_role("button", name="Run it on your own GPU")
        if offer.is_visible():  # a large model is not fetched unasked
            offer.click()
        page.wait_for_function(is_on)
        words = page.locator(WORDS).inner_text()
        if "on your GPU" not in words:
            raise SystemExit(f"no GPU decodes here: {words}")
        page.wait_for_timeout(1_000)
        bytes_held: dict[str, int] = page.evaluate("window.bytes")
        return bytes_held


def main() -> None:
    """Measure each model and write the file."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, prog="python -m scripts.time_browser")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--out", type=Path, default=RESULTS / "browser.json")
    flags = parser.parse_args()
    rows: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as held, sync_playwright() as playwright:
        plain = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        emulated = playwright.chromium.launch(executable_path=CHROMIUM, args=GPU_FLAGS)
        facts = {**environment(None), "chromium": plain.version}
        for name in flags.models:
            export = keep_export(MODELS[name])
            site = Path(held) / name
            write_site(site, [export])
            rows[name] = {"download_bytes": export.download}
            rows[name]["gpu_memory_bytes"] = on_software_gpu(emulated, site)
            rows[name]["runs"] = [
                timed(plain, site, folder_path_of(export), is_isolated=is_isolated)
                for is_isolated in (False, True)
            ]
            print(f"{name}: {rows[name]}")
    write_text(flags.out, json.dumps({"circumstances": facts, "rows": rows}, indent=2) + "\n")
    print(f"wrote {flags.out}")


if __name__ == "__main__":
    main()
