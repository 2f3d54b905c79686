"""Eq. 8 held against the EntropyBoundScheduler of diffusers, which somebody else wrote."""

import pytest
import torch

from sbd_core.sampling import Candidates
from sbd_core.solvers import EntropyBound, select

BLOCK, VOCABULARY = 8, 20
BOUNDS = (0.0, 0.05, 0.3, 1.0, 3.0)


@pytest.mark.filterwarnings("ignore")
def test_the_entropy_bound_reveals_what_the_scheduler_of_diffusers_accepts() -> None:
    diffusers = pytest.importorskip(
        "diffusers", reason="diffusers is no requirement: it would be installed for this test alone"
    )
    if not hasattr(diffusers, "EntropyBoundScheduler"):
        pytest.skip("diffusers has EntropyBoundScheduler from 0.42 on")
    scheduler = diffusers.EntropyBoundScheduler(t_min=1, t_max=1)
    generator = torch.Generator().manual_seed(0)
    is_masked = torch.ones(BLOCK, dtype=torch.bool)
    nothing = torch.zeros((1, BLOCK), dtype=torch.long)
    counts = set()
    for case in range(500):
        scale = 1 + 7 * torch.rand(BLOCK, 1, generator=generator)
        logits = scale * torch.randn(BLOCK, VOCABULARY, generator=generator)
        gamma = BOUNDS[case % len(BOUNDS)]
        theirs = scheduler.step(logits[None], 0, nothing, entropy_bound=gamma).accepted_index[0]
        ours = select(EntropyBound(gamma=gamma), Candidates.from_logits(logits), is_masked)
        assert ours.tolist() == theirs.tolist(), (case, gamma)
        counts.add(int(ours.sum()))
    assert len(counts) > 4, "the cases hardly differed"
