"""`bench --peers`: forward passes of others' ways to decode are counted as they happen."""

import json

import pytest
import torch

from sbd_core.__main__ import main
from sbd_core.benchmark.peers import REFINEMENT, peers
from sbd_core.rules import ConfidenceThreshold
from sbd_core.sampling import Candidates
from sbd_core.solvers import select
from tests.conftest import loaded


@pytest.mark.filterwarnings("ignore")
def test_every_forward_pass_of_a_peer_is_counted(trained) -> None:
    model = loaded(trained)
    found, left_out = peers(model, 12, assistant=model)
    counts = {name: peer([10, 20, 30, 20, 30]) for name, peer in found.items()}
    plain, look_up, assisted, *_ = counts.values()
    assert plain.num_forwards == len(plain.token_ids) == 12
    assert look_up.token_ids == plain.token_ids
    assert look_up.num_forwards <= 12
    assert assisted.token_ids == plain.token_ids
    # A model that assists itself is always right.
    assert assisted.num_forwards < 6 < assisted.num_draft_forwards
    assert counts["ntp"].num_forwards == plain.num_forwards
    for name, one in counts.items():
        data = one.to_data()
        assert data["tokens_per_forward"] <= data["tokens_per_revealing_forward"], name
    refined = [name for name in counts if name.startswith(REFINEMENT)]
    if not refined:
        pytest.skip(next(line for line in left_out if line.startswith(REFINEMENT)))
    for name in refined:
        assert counts[name].num_forwards == counts[name].num_revealing + 1, "the prompt's"
        assert 0 < len(counts[name].token_ids) <= 12
        # A last block is as long as any other there, and cut with us.
        ours = counts[name.replace(f"{REFINEMENT},", "sbd, confidence") + ", k=8"]
        assert counts[name].token_ids[:8] == ours.token_ids[:8]
    # An end token with nothing masked before it ends the answer, whatever the block still lacks.
    name = refined[0]
    model.end_token_ids = frozenset(counts[name].token_ids[:1])
    ended = found[name]([10, 20, 30, 20, 30])
    assert ended.token_ids == counts[name].token_ids[:1]
    assert ended.num_forwards < 1 + 8


@pytest.mark.filterwarnings("ignore")
def test_the_refinement_scheduler_reveals_what_the_confidence_threshold_does() -> None:
    diffusers = pytest.importorskip("diffusers", reason="diffusers is no requirement")
    scheduler = diffusers.BlockRefinementScheduler(block_length=8)
    generator = torch.Generator().manual_seed(0)
    seen = set()
    for case in range(200):
        logits = torch.randn(8, 20, generator=generator) * (1 + 5 * (case % 3))
        is_masked = torch.rand(8, generator=generator) < 0.7
        if not is_masked.any():
            continue
        tau = (0.3, 0.6, 0.9)[case % 3]
        scheduler.set_timesteps(8)
        sample = torch.where(is_masked, 20, 3)[None]
        step = scheduler.step(logits[None], 0, sample, mask_token_id=20, threshold=tau)
        ours = select(ConfidenceThreshold(tau=tau), Candidates.from_logits(logits), is_masked)
        assert step.transfer_index[0].tolist() == ours.tolist(), case
        seen.add(int(ours.sum()))
    assert len(seen) > 3


@pytest.mark.filterwarnings("ignore")
def test_the_command_prints_both_definitions(trained, capsys, tmp_path) -> None:
    words = ["bench", "--peers", "--model", str(trained), "--device", "cpu", "--limit", "1"]
    assert main([*words, "--max-new-tokens", "4", "--json", "--assistant", str(trained)]) == 0
    printed = capsys.readouterr().out
    assert "tokens_per_forward  tokens_per_revealing_forward" in printed
    rows = json.loads(printed.splitlines()[-1])["peers"]
    assert {row["num_prompts"] for row in rows.values()} == {6}
    assert rows["transformers generate(), assistant"]["num_draft_forwards"] > 0
    assert rows["transformers generate(), assistant"]["num_equal_to_baseline"] == 6
    assert all(0 <= row["num_right"] <= 6 for row in rows.values())
