"""vLLM's models with decoding by blocks: each has vLLM's own layers and this state and sampler.

vLLM schedules a block as it schedules a draft of as many tokens: rows that the sampler rejects are
overwritten by the next pass and never enter the prefix cache. A flag for each request says whether
a pass reads causally. What the passes do to the blocks is in blocks.py.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from vllm.config import VllmConfig
from vllm.config.compilation import CUDAGraphMode
from vllm.model_executor.models.llama import LlamaForCausalLM
from vllm.model_executor.models.mistral import MistralForCausalLM
from vllm.model_executor.models.qwen2 import Qwen2ForCausalLM
from vllm.model_executor.models.qwen3 import Qwen3ForCausalLM
from vllm.sampling_params import SamplingParams
from vllm.v1.worker.gpu.attn_utils import build_attn_metadata
from vllm.v1.worker.gpu.input_batch import InputBatch
from vllm.v1.worker.gpu.model_states.default import DefaultModelState
from vllm.v1.worker.gpu.sample.output import SamplerOutput

from sbd_core.errors import ArgumentError
from sbd_core.solvers import make_solver
from sbd_core.vllm.blocks import Blocks
from sbd_core.vllm.rule import solver_of
from sbd_core.vllm.serving import ADMISSION

UNSUPPORTED = {
    "pipeline_parallel_size": 1,
    "decode_context_parallel_size": 1,
    "prefill_context_parallel_size": 1,
    "enable_batch_sharded_sampling": False,
}
"""Fields of vLLM's parallel_config that must have this value: each worker decodes whole blocks."""


def require_supported(config: VllmConfig) -> None:
    """Raise ArgumentError if vLLM was started with something that blocks cannot be decoded with."""
    model = config.model_config
    if config.diffusion_config is None or ADMISSION not in (model.logits_processors or ()):
        rule = "must be started by `python -m sbd_core serve`, which sets what blocks need"
        raise ArgumentError("vllm", rule, model.model)
    size, most = config.diffusion_config.canvas_length, model.hf_config.max_block_size
    budget = config.scheduler_config.max_num_batched_tokens
    facts = [
        *(
            (name, getattr(config.parallel_config, name), want)
            for name, want in UNSUPPORTED.items()
        ),
        ("speculative_config", config.speculative_config, None),
        ("lora_config", config.lora_config, None),
        ("sliding_window", model.get_sliding_window(), None),
    ]
    for name, value, wanted in facts:
        if value != wanted:
            raise ArgumentError(name, f"must be {wanted} where blocks are decoded", value)
    if size > most:
        raise ArgumentError("canvas_length", f"must be at most {most}, as trained", size)
    if budget < size:
        raise ArgumentError("max_num_batched_tokens", f"must hold a block of {size}", budget)


class BlockState(DefaultModelState):
    """The blocks of the requests in vLLM's slots, and the attention metadata of their passes."""

    num_new_sampled_tokens_per_step = 0  # all tokens of a block are rows of it

    def __init__(
        self, vllm_config: VllmConfig, model: nn.Module, encoder_cache: Any, device: torch.device
    ) -> None:
        super().__init__(vllm_config, model, encoder_cache, device)
        config = self.model_config.hf_config
        self.blocks = Blocks(
            num_slots=self.max_num_reqs,
            block_size=vllm_config.diffusion_config.canvas_length,
            vocabulary_size=self.model_config.get_vocab_size(),
            mask_token_id=config.mask_token_id,
            max_length=self.max_model_len,
            device=device,
        )
        self._solver = make_solver(**config.block_solver)
        # What a CUDA graph reads: int32 flags, and lengths in which a short block ends its text.
        self._flags = torch.zeros(self.max_num_reqs, dtype=torch.int32, device=device)
        self._lengths = torch.zeros(self.max_num_reqs, dtype=torch.int32, device=device)

    def custom_sampler(self, sampler: Any) -> tuple[Any, None]:
        """See vLLM's ModelState."""
        return BlockSampler(self.blocks, sampler.req_states), None

    def add_request(self, req_index: int, new_req_data: Any) -> None:
        """See vLLM's ModelState. A request that was preempted comes with its tokens so far."""
        super().add_request(req_index, new_req_data)
        params, token_ids = new_req_data.sampling_params, new_req_data.prefill_token_ids
        ends = {*(params.stop_token_ids or ()), params.eos_token_id} - {None}
        self.blocks.add(
            req_index,
            solver=solver_of(params.extra_args) or self._solver,
            num_left=params.max_tokens - (len(token_ids) - new_req_data.prompt_len),
            end_token_ids=ends,
            penalty=params.repetition_penalty,
            token_ids=token_ids,
        )

    def prepare_attn(
        self,
        input_batch: InputBatch,
        cudagraph_mode: CUDAGraphMode,
        block_tables: tuple[Tensor, ...],
        slot_mappings: Tensor,
        attn_groups: Any,
        kv_cache_config: Any,
        for_capture: bool = False,  # noqa: FBT001, FBT002 - vLLM's signature
        ubatch_idx: int = 0,
        model_specific_attn_metadata: Any = None,
    ) -> dict[str, Any]:
        """See vLLM's ModelState. A block is read both ways, everything else causally."""
        batch, num = input_batch, input_batch.num_reqs
        is_padded = cudagraph_mode == CUDAGraphMode.FULL
        num_reqs = batch.num_reqs_after_padding if is_padded else num
        self.blocks.max_length = self.max_model_len
        slots, lengths = batch.idx_mapping[:num], batch.seq_lens[:num]
        starts = lengths - batch.query_start_loc[1 : num + 1] + batch.query_start_loc[:num]
        is_causal = self.blocks.is_causal[slots]
        # vLLM gives every block its full number of rows: rows beyond a short one see the block,
        # and the block does not see them.
        ends = (starts + self.blocks.sizes(slots, starts)).to(lengths.dtype)
        self._lengths.zero_()
        self._lengths[:num] = torch.where(is_causal, lengths, torch.minimum(lengths, ends))
        self._flags.zero_()
        self._flags[:num] = is_causal
        return build_attn_metadata(
            attn_groups=attn_groups,
            num_reqs=num_reqs,
            num_tokens=batch.num_tokens_after_padding if is_padded else batch.num_tokens,
            query_start_loc_gpu=batch.query_start_loc[: num_reqs + 1],
            query_start_loc_cpu=torch.from_numpy(batch.query_start_loc_np[: num_reqs + 1]),
            max_query_len=int(batch.num_scheduled_tokens.max()),
            seq_lens=self._lengths[:num_reqs],
            max_seq_len=self.max_model_len,
            block_tables=block_tables,
            slot_mappings=slot_mappings,
            kv_cache_config=kv_cache_config,
            seq_lens_cpu_upper_bound=batch.seq_lens_cpu_upper_bound,
            positions=batch.positions,
            is_prefilling=torch.from_numpy(batch.is_prefilling_np),
            for_cudagraph_capture=for_capture,
            causal=self._flags[:num_reqs],
            ubatch_idx=ubatch_idx,
        )


class BlockSampler:
    """Hands the logits of a step to the blocks. vLLM calls it in place of its own sampler."""

    penalties_state = SimpleNamespace(output_bin_counts=None)  # vLLM counts no tokens then

    def __init__(self, blocks: Blocks, req_states: Any) -> None:
        self._blocks, self._requests = blocks, req_states

    def add_request(self, req_idx: int, sampling_params: SamplingParams) -> None:
        """Do nothing: BlockState has read the settings."""

    def apply_staged_writes(self) -> None:
        """Do nothing: no write waits."""

    def __call__(self, logits: Tensor, input_batch: InputBatch, draft_logits: Any = None) -> Any:
        """Reveal, or finish blocks; reject the rows of those that are not finished."""
        batch, num = input_batch, input_batch.num_reqs
        slots, ends = batch.idx_mapping[:num], batch.seq_lens[:num]
        first_rows, num_rows = batch.cu_num_logits[:num], batch.cu_num_logits.diff()[:num]
        if not batch.num_draft_tokens:  # prompts alone, or vLLM's dry run
            logits, num_rows = logits[:0], torch.zeros_like(num_rows)
        is_prompt_read = (num_rows == 0) & (ends >= self._requests.prefill_len.gpu[slots])
        token_ids, num_final = self._blocks.update(
            logits,
            slots=slots,
            host_slots=np.asarray(batch.idx_mapping_np[:num]),
            starts=ends - batch.query_start_loc[1 : num + 1] + batch.query_start_loc[:num],
            first_rows=first_rows,
            num_rows=num_rows,
            is_prompt_read=is_prompt_read,
        )
        self._requests.draft_tokens[slots] = self._blocks.token_ids[slots]
        num_final = num_final.int()
        return SamplerOutput(
            sampled_token_ids=token_ids.int(),
            logprobs_tensors=None,
            num_nans=None,
            num_sampled=num_final,
            num_rejected=num_rows.int() - num_final,
        )


def with_blocks(base: Any) -> Any:
    """Make vLLM's model class `base` decode by blocks."""

    class WithBlocks(base):
        def __init__(self, *, vllm_config: VllmConfig, prefix: str = "") -> None:
            require_supported(vllm_config)
            super().__init__(vllm_config=vllm_config, prefix=prefix)

        @staticmethod
        def get_model_state_cls() -> type[BlockState]:
            return BlockState

    WithBlocks.__name__ = WithBlocks.__qualname__ = f"SetBlock{base.__name__}"
    return WithBlocks


SetBlockLlamaForCausalLM = with_blocks(LlamaForCausalLM)
SetBlockMistralForCausalLM = with_blocks(MistralForCausalLM)
SetBlockQwen2ForCausalLM = with_blocks(Qwen2ForCausalLM)
SetBlockQwen3ForCausalLM = with_blocks(Qwen3ForCausalLM)
