"""Who decides how many masks a verifying forward pass feeds, and how far its drafts go.

A planner knows how drafts fared, never a token (see drafts.py for why).
"""

from collections.abc import Sequence
from typing import Protocol

from sbd_core.config import DecodeConfig, RowCosts
from sbd_core.decoding.drafts import Draft, next_block_size, predraft_offsets
from sbd_core.decoding.row_plans import (
    NUM_ALTERNATIVES,
    ONE_A_PASS,
    Acceptance,
    RowPlan,
    plan_rows,
)


class RowPlanner(Protocol):
    """plan: of the forward pass under way. shows_unused: whether predrafts are drafted to be shown.
    num_alternatives: to a drafted token, that it may plan with.

    plan_next(), checked() and chances() are called in this order in every forward pass, the last
    only for a block that is drafted from.
    """

    plan: RowPlan
    shows_unused: bool
    num_alternatives: int

    def plan_next(self, draft: Draft, num_left: int) -> None:
        """Plan the forward pass that checks `draft`; num_left: tokens the answer may grow by."""
        ...

    def checked(
        self, draft: Draft, num_accepted: int, *, has_alternative: bool, reads_prompt: bool
    ) -> None:
        """What became of the draft.

        has_alternative: whether one was right where the draft was not. reads_prompt: whether the
        forward pass read the prompt.
        """
        ...

    def chances(self, probabilities: Sequence[float]) -> Sequence[float]:
        """The chance of each token of a new draft to be accepted, by the head's probabilities."""
        ...


class FixedRows:
    """Row policy "fixed": blocks where config.num_predrafts says, long after accepted drafts."""

    shows_unused, num_alternatives = True, 0

    def __init__(self, config: DecodeConfig) -> None:
        self.plan = RowPlan((0,), 0, 0.0)
        self._config = config
        self._longest = config.block_size

    def plan_next(self, draft: Draft, num_left: int) -> None:
        """See RowPlanner."""
        config, num_drafted = self._config, len(draft.token_ids)
        fitting = draft.probabilities[: num_left - 1]
        offsets = {*predraft_offsets(fitting, config.num_predrafts), num_drafted}
        sizes = [0] * (num_drafted + 1)
        for offset in offsets:
            size = min(self._longest, num_left - offset)
            # The first mask stands where the causal head gives an exact token: 1 is no use.
            sizes[offset] = size if size > 1 else 0
        self.plan = RowPlan(tuple(sizes), config.block_size, config.draft_threshold)

    def checked(
        self, draft: Draft, num_accepted: int, *, has_alternative: bool, reads_prompt: bool
    ) -> None:
        """See RowPlanner."""
        if not reads_prompt:
            self._longest = next_block_size(num_accepted + 1, self._config.block_size)

    def chances(self, probabilities: Sequence[float]) -> Sequence[float]:
        """See RowPlanner."""
        return probabilities


class RowsByCost:
    """The other row policies: most tokens per cost, as expected from how drafts fared so far."""

    shows_unused, num_alternatives = False, NUM_ALTERNATIVES

    def __init__(self, config: DecodeConfig, costs: RowCosts) -> None:
        self.plan = RowPlan((0,), 0, 0.0)
        self._config, self._costs = config, costs
        self._acceptance = Acceptance()
        self._asked_length = 0
        """How far the draft might have gone."""

    def plan_next(self, draft: Draft, num_left: int) -> None:
        """See RowPlanner."""
        self.plan = plan_rows(
            self._acceptance,
            draft.probabilities,
            self._costs,
            block_size=self._config.block_size,
            num_left=num_left,
            alternatives=[[chance for _, chance in own] for own in draft.alternatives],
            num_sure=draft.num_sure,
        )

    def checked(
        self, draft: Draft, num_accepted: int, *, has_alternative: bool, reads_prompt: bool
    ) -> None:
        """See RowPlanner."""
        # What masks cost beside the many rows of a prompt is next to nothing.
        seconds = self._costs.seconds
        others = [
            draft.alternatives[place][rank][1]
            for place, rank, _ in self.plan.alternatives
            if place <= num_accepted
        ]
        cost = 1.0 if reads_prompt else seconds(self.plan.num_rows) / seconds(1)
        sure = min(draft.num_sure, num_accepted)
        is_reached = sure == draft.num_sure
        self._acceptance = self._acceptance.after(
            draft.probabilities[sure:] if is_reached else (),
            num_accepted - sure,
            self._asked_length if is_reached else 0,
            cost - sure,
            others_expected=sum(others),
            has_alternative=has_alternative,
        )
        self._asked_length = 0

    def chances(self, probabilities: Sequence[float]) -> Sequence[float]:
        """See RowPlanner."""
        self._acceptance = self._acceptance.having_seen(probabilities)
        self._asked_length = min(self.plan.draft_length, len(probabilities))
        return self._acceptance.chances(probabilities)


def row_planner(config: DecodeConfig) -> RowPlanner:
    """The planner of the config's row policy."""
    if config.row_policy == "fixed":
        return FixedRows(config)
    costs = ONE_A_PASS if config.row_policy == "fewest-passes" else config.row_costs
    assert costs is not None
    return RowsByCost(config, costs)
