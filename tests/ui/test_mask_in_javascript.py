"""The mask that the panel works out in JavaScript is the one that the model was given."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from sbd_core import DecodeConfig, generate
from sbd_core.masks import decoding_mask
from sbd_core.replay import wire_format
from sbd_core.rules import EntropyBound

NODE = shutil.which("node")
WEB = Path(__file__).parents[2] / "ui" / "web"
SCRIPT = """
import { readFileSync } from "node:fs";
import { History } from "./core/run/history.js";
import { maskOf, mayAttend, rowsOf } from "./core/forward/mask.js";

const history = new History();
history.accept(readFileSync(0, "utf8"));
const { run } = history;
const masks = run.main.steps.map((_, pass) => {
  const { numCached, visible } = maskOf(run, run.main, pass);
  const keys = Array.from({ length: numCached + visible.length }, (_, key) => key);
  const rows = visible.map((row) => keys.map((key) => (mayAttend(row, key, numCached) ? 1 : 0)));
  const read = rowsOf(run, run.main, pass);
  return { rows, read: read.map(({ token, isMask }) => (isMask ? null : run.tokenId(token))) };
});
console.log(JSON.stringify(masks));
"""


def settings_of(strategy: str) -> dict:
    if strategy == "verify":
        return {"num_predrafts": 3, "draft_threshold": 0.0, "block_size": 8}
    return {"solver": EntropyBound(6.0), "block_size": 8} if strategy == "sbd" else {}


@pytest.mark.skipif(NODE is None, reason="needs Node.js")
@pytest.mark.parametrize("strategy", ["ntp", "sbd", "verify"])
def test_the_mask_from_the_trace_is_that_of_every_forward_pass(llama, strategy) -> None:
    given = []
    forward_batch = llama.forward_batch

    def remembering(requests):
        for request in requests:
            mask = decoding_mask(
                request.cache.length,
                len(request.causal_ids),
                len(request.block_ids),
                request.early_shapes,
            )
            ids = [None if i == llama.mask_token_id else i for i in request.token_ids]
            given.append({"rows": mask.int().tolist(), "read": ids})
        return forward_batch(requests)

    llama.forward_batch = remembering
    try:
        config = DecodeConfig(strategy=strategy, max_new_tokens=40, **settings_of(strategy))
        trace = generate(llama, "a few words", config)
    finally:
        del llama.forward_batch
    lines = wire_format.replay("r", {strategy: trace})
    assert NODE is not None
    words = [NODE, "--no-warnings", "--input-type=module", "--eval", SCRIPT]
    done = subprocess.run(words, cwd=WEB, input=lines, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == len(given) > 2
    for pass_index, (mine, wanted) in enumerate(zip(found, given, strict=True)):
        assert mine["rows"] == wanted["rows"], pass_index
        assert mine["read"] == wanted["read"], pass_index
    if strategy == "verify":
        assert any(event.predrafts for event in trace.events)
