"""Models and prompts of the laws: made-up, repeatable logits and ids, and texts of the corpus."""

import random
from collections.abc import Sequence
from itertools import islice

from sbd_core.tasks import TASKS, examples
from sbd_core.trace import Trace
from tests.scripted import ScriptedModel

MASK, END = 0, 1
TEXTS = ("<m>", "<eos>", *"abcdefgh")


def row_for(key: object, sharpness: float, end_bias: float) -> list[float]:
    """Logits drawn from a text of `key`; the mask token is often the best of them."""
    draw = random.Random(repr(key))
    row = [sharpness * draw.gauss(0, 1) for _ in TEXTS]
    row[END] += end_bias
    return row


def best(row: Sequence[float]) -> int:
    """The argmax, the mask token left out."""
    return max(range(1, len(row)), key=lambda token: (row[token], -token))


def penalised(row: Sequence[float], before: Sequence[int], penalty: float) -> list[float]:
    """The logits of a row under the repetition penalty of the tokens before it."""
    return [
        (value * penalty if value < 0 else value / penalty) if token in before else value
        for token, value in enumerate(row)
    ]


def chance_model(
    seed: int,
    *,
    sharpness: float = 3.0,
    end_bias: float = -3.0,
    agreement: float = 0.0,
    mask_bias: float = 0.0,
) -> ScriptedModel:
    """A model of its own for every seed.

    agreement: share of block positions where the masked head says what the causal head will.
    end_bias, mask_bias: added to the logit of <eos> (both heads) and of <m>.
    """

    def next_logits(tokens: tuple[int, ...]) -> list[float]:
        row = row_for((seed, "next", tokens), sharpness, end_bias)
        row[MASK] += mask_bias
        return row

    def block_logits(tokens: tuple[int, ...], block: tuple[int, ...]) -> list[list[float]]:
        rows, text = [], tokens
        for offset, token in enumerate(block):
            causal = next_logits(text)
            key = (seed, offset, tokens, block)
            agrees = random.Random(repr((key, "agrees"))).random() < agreement
            row = causal if agrees else row_for(key, sharpness, end_bias)
            rows.append([row[MASK] + mask_bias, *row[1:]])
            text = (*text, token if token != MASK else best(causal))
        return rows

    return ScriptedModel(
        texts=TEXTS,
        next_logits=next_logits,
        block_logits=block_logits,
        mask_token_id=MASK,
        end_token_ids=frozenset({END}),
        name=f"chance-{seed}",
    )


def random_ids(count: int, vocabulary_size: int, longest: int = 12) -> list[list[int]]:
    """`count` prompts of 1 to `longest` ids each, special tokens left out, always the same."""
    draw = random.Random(1)
    return [
        [draw.randrange(5, vocabulary_size) for _ in range(draw.randint(1, longest))]
        for _ in range(count)
    ]


def corpus_texts(count: int) -> list[str]:
    """`count` prompts of the test split, every task among them, the shortest first."""
    drawn = islice(examples(3, "test", list(TASKS)), 3 * count)
    return sorted({example.prompt for example in drawn}, key=len)[:count]


def used_alternative(trace: Trace) -> bool:
    """Whether a forward pass of verify found an alternative to be right."""
    predrafts = [each for event in trace.events for each in event.predrafts]
    return any(each.is_used and each.alternative is not None for each in predrafts)
