"""What a step is fed: its texts, their masked copies, packed into rows.

Everything random of a step is drawn from (recipe seed, step), and of a text from its number in
the step, so neither resuming nor the number of processes changes it.
"""

import random
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from sbd_core.training.decoded_masks import masks_of_decoding
from sbd_core.training.examples import Data
from sbd_core.training.masking import (
    Rows,
    Text,
    blocks_of,
    clean_text,
    draw_copies,
    noisy_text,
    pack,
)
from sbd_core.training.recipe import Recipe


class Feed:
    """The rows of every step of a recipe; `trainee` is asked only for masks of decoding."""

    def __init__(
        self, recipe: Recipe, tokenizer: Any, trainee: nn.Module, accelerator: Accelerator
    ) -> None:
        self._recipe = recipe
        self._tokenizer = tokenizer
        self._trainee = trainee
        self._accelerator = accelerator
        self._data = Data(recipe, tokenizer)

    def rows(self, step: int) -> tuple[Rows, float]:
        """The rows of a step, and what to divide their loss by.

        Of several processes each takes its share of the texts; gradients are averaged over
        processes, so each divides by the mean weight of a share.
        """
        recipe, accelerator = self._recipe, self._accelerator
        pairs = self._data.pairs(step)
        texts = [clean_text(prompt, answer, recipe.prompt_weight) for prompt, answer in pairs]
        ntp_weight = sum(text.ntp_weight for text in texts) / accelerator.num_processes
        own = range(accelerator.process_index, len(pairs), accelerator.num_processes)
        if recipe.stage == "sbd":
            nums_prompt = [len(prompt) for prompt, _ in pairs]
            texts = self._masked(texts, nums_prompt, own, step)
        else:
            texts = [texts[index] for index in own]
        return pack(texts, recipe.row_tokens, self._tokenizer.pad_token_id), ntp_weight

    def _masked(
        self, texts: list[Text], nums_prompt: list[int], own: range, step: int
    ) -> list[Text]:
        """The texts number `own` with their masked copies. nums_prompt: tokens of each prompt."""
        recipe, accelerator = self._recipe.at(step), self._accelerator
        draw = random.Random(recipe.seed * 1_000_003 + step)
        block_size = draw.randint(recipe.min_block_size, recipe.max_block_size)
        # Half the steps start blocks at the answer, as decoding does; the others anywhere.
        phase = draw.choice((0, draw.randrange(block_size)))
        # Numbers of its own for every text, however the texts are shared out.
        seed = draw.getrandbits(62)
        draws = [torch.Generator().manual_seed(seed + index) for index in own]
        mask_id, pad_id = self._tokenizer.mask_token_id, self._tokenizer.pad_token_id
        lengths = [len(texts[index]) - nums_prompt[index] for index in own]

        def masked(masks: list[list[Tensor]]) -> list[Text]:
            return [
                noisy_text(texts[index], nums_prompt[index], mine, block_size, phase, mask_id)
                for index, mine in zip(own, masks, strict=True)
            ]

        if draw.random() < recipe.decoded_share:
            whole = masked([[torch.ones(length, dtype=torch.bool)] for length in lengths])
            etas = [float(torch.rand((), generator=generator)) for generator in draws]
            with accelerator.autocast():
                found = masks_of_decoding(
                    self._trainee, whole, etas, recipe.row_tokens, pad_id, accelerator.device
                )
            return masked([[mask] for mask in found])
        copies = [
            self._num_copies(len(texts[index]), len(blocks_of(length, block_size, phase)))
            for index, length in zip(own, lengths, strict=True)
        ]
        share = recipe.full_mask_share
        drawn = zip(lengths, draws, copies, strict=True)
        return masked([draw_copies(*each, full_share=share) for each in drawn])

    def _num_copies(self, num_clean: int, num_copied: int) -> int:
        """How many masked copies of num_copied tokens a row holds beside the text."""
        room = (self._recipe.row_tokens - num_clean) // num_copied
        return min(self._recipe.masked_copies, room)
