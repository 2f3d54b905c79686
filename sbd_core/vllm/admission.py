"""Checks the settings of a request when vLLM admits it, so that nothing fails in its workers.

`serve` names Admission to vLLM by its path. vLLM's own checks come first: they refuse a temperature
other than 1, min_tokens, logit_bias, bad_words and structured outputs.
"""

from typing import TYPE_CHECKING, Any

from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor

from sbd_core.config import PENALTIES
from sbd_core.errors import ArgumentError, require_number
from sbd_core.vllm.rule import solver_of

if TYPE_CHECKING:
    from torch import Tensor
    from vllm.sampling_params import SamplingParams

NOT_APPLIED = {
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "top_p": 1.0,
    "top_k": 0,
    "logprobs": None,
}
"""Settings of a request that decoding by blocks does not apply: {name: value without effect}."""


class Admission(LogitsProcessor):
    """Refuses a request whose settings cannot be applied; changes no logits."""

    @classmethod
    def validate_params(cls, sampling_params: "SamplingParams") -> None:
        """Raise ArgumentError, which vLLM answers with status 400, for settings of no use here."""
        for name, neutral in NOT_APPLIED.items():
            value = getattr(sampling_params, name)
            if value != neutral:
                raise ArgumentError(
                    name, "must be left out, as decoding is greedy by blocks", value
                )
        require_number("repetition_penalty", sampling_params.repetition_penalty, *PENALTIES)
        solver_of(sampling_params.extra_args)

    def apply(self, logits: "Tensor", ctx: Any) -> "Tensor":
        """Return the logits as they are: blocks have a sampler of their own."""
        return logits
