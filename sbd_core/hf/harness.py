"""A model for lm-eval that generates by Set Block Decoding.

The model is named `sbd` in lm-eval's --model. Only the generation of tokens is replaced: lm-eval
does the rest, such as stopping, and loglikelihoods come from the causal head.
"""

from typing import Any

from lm_eval.api.registry import register_model
from lm_eval.models.huggingface import HFLM
from torch import Tensor
from transformers import StoppingCriteriaList, StopStringCriteria

from sbd_core.hf.generation import generate
from sbd_core.models.loading import loading_errors, require_causal_lm
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
from sbd_core.solvers import SOLVER_PARAMETERS, make_solver


@register_model("sbd")
class SetBlockLM(HFLM):
    """An HFLM whose generate_until() decodes blocks.

    --model_args takes the arguments of HFLM and also:
    strategy (sbd, ntp or verify), repetition_penalty: by default the model's own.
    solver: a name, as in `sbd generate --solver`. gamma, tau, k, ..: parameters of the solver.
    block_size, seed: see generate() in generation.py.
    If pretrained is missing, the bundled model is used.
    """

    def __init__(
        self,
        pretrained: Any = None,
        *,
        strategy: str | None = None,
        solver: str = "entropy-bound",
        block_size: int | None = None,
        seed: int | None = None,
        repetition_penalty: float | None = None,
        **arguments: Any,
    ) -> None:
        """Load the model. The class describes the arguments. Raises ArgumentError, ModelError."""
        chosen = {name: arguments.pop(name) for name in SOLVER_PARAMETERS if name in arguments}
        self._decoding: dict[str, Any] = {
            "strategy": strategy,
            "solver": make_solver(solver, chosen),
            "block_size": block_size,
            "seed": seed,
        }
        if repetition_penalty is not None:
            self._decoding["repetition_penalty"] = float(repetition_penalty)
        self._num_tokens = self._num_forwards = 0
        source = str(pretrained or DEFAULT_CHECKPOINT)
        with loading_errors(source, "pretrained"):
            adapter = require_causal_lm(source)
        if adapter is not None:  # transformers gives DoRA other logits than peft does
            source, arguments["peft"] = adapter["base_model_name_or_path"], source
        super().__init__(source, **arguments)

    def _model_generate(
        self, context: Tensor, max_length: int, stop: list[str], **arguments: Any
    ) -> Tensor:
        """Generate token ids (batch, context + answer), each answer up to its first stop string."""
        temperature = arguments.pop("temperature", 0.0)
        is_sampled = arguments.pop("do_sample", None)
        if is_sampled is None:
            is_sampled = temperature > 0
        if is_sampled:
            arguments["temperature"] = temperature
        mask_id = getattr(self.model.config, "mask_token_id", None)
        output = type(self.model).generate(
            self.model,
            input_ids=context,
            max_length=max_length,
            stopping_criteria=StoppingCriteriaList([StopStringCriteria(self.tokenizer, stop)]),
            pad_token_id=self.tokenizer.pad_token_id,
            custom_generate=generate,
            mask_token_id=self.tokenizer.mask_token_id if mask_id is None else mask_id,
            do_sample=is_sampled,
            return_dict_in_generate=True,
            **{**self._decoding, **arguments},
        )
        self._num_forwards += sum(output.num_forwards)
        self._num_tokens += sum(output.num_tokens)
        sequences: Tensor = output.sequences
        return sequences

    def get_model_info(self) -> dict[str, Any]:
        """Return lm-eval's data on the model, plus settings and counts of passes and tokens."""
        info = dict(super().get_model_info())
        info |= {**self._decoding, "solver": repr(self._decoding["solver"])}
        info |= {"num_forwards": self._num_forwards, "num_generated_tokens": self._num_tokens}
        if self._num_forwards:
            info["tokens_per_forward"] = self._num_tokens / self._num_forwards
        return info
