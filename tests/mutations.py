"""One-line faults that the tests must notice; `python -m scripts.try_mutations` tries each of them.

A mutation names what goes wrong, so that it can be written again when its line is rewritten.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutation:
    """A fault in one place, and the test files that should fail by it.

    fault: what goes wrong. file: path of the source file. old: text that occurs in it once.
    new: text that takes its place. tests: paths, the nearest first.
    """

    fault: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MASKS = "sbd_core/masks.py"
SAMPLING = "sbd_core/sampling.py"
SOLVERS = "sbd_core/solvers.py"
SBD = "sbd_core/decoding/sbd.py"
VERIFY = "sbd_core/decoding/verify.py"
BATCHES = "sbd_core/training/batches.py"
STEP = "sbd_core/training/step.py"
EVENTS = "sbd_core/events.py"
OF_MASKS = ("tests/core/test_masks.py",)
OF_SAMPLING = ("tests/core/test_sampling.py",)
OF_SOLVERS = ("tests/core/test_solvers.py",)
OF_SBD = ("tests/core/decoding/test_sbd.py", "tests/core/decoding/test_laws.py")
OF_VERIFY = ("tests/core/decoding/test_verify.py",)
OF_BATCHES = ("tests/core/training/test_batches.py", "tests/core/training/test_step.py")
OF_STEP = ("tests/core/training/test_step.py",)
OF_EVENTS = ("tests/core/test_trace.py",)

MUTATIONS = (
    Mutation(
        "in training a token of x does not see itself", MASKS,
        "position[sequence, key] <= position[sequence, query]",
        "position[sequence, key] < position[sequence, query]", OF_MASKS,
    ),
    Mutation(
        "a masked copy sees the clean tokens of its own block", MASKS,
        "(key_block < query_block)", "(key_block <= query_block)", OF_MASKS,
    ),
    Mutation(
        "a masked copy sees the blocks of the copy before its own", MASKS,
        "(key_block == query_block)", "(key_block <= query_block)", OF_MASKS,
    ),
    Mutation(
        "no row of a block sees the block's last token", MASKS,
        "rows += [(num_seen, first, first + size)]",
        "rows += [(num_seen, first, first + size - 1)]", OF_MASKS,
    ),
    Mutation(
        "a row sees one causal token too many", MASKS,
        "(own < num_seen[query])", "(own <= num_seen[query])", OF_MASKS,
    ),
    Mutation(
        "a temperature multiplies the logits", SAMPLING,
        "shifted.double() / temperature", "shifted.double() * temperature", OF_SAMPLING,
    ),
    Mutation(
        "the margin is not divided by the softmax's total", SAMPLING,
        "(1 - self._others().amax(1)) / self.total", "(1 - self._others().amax(1))", OF_SAMPLING,
    ),
    Mutation(
        "the entropy has the wrong sign in one of its terms", SAMPLING,
        "self._others().sum(1)) - surprise", "self._others().sum(1)) + surprise", OF_SAMPLING,
    ),
    Mutation(
        "a token's probability forgets the temperature", SAMPLING,
        "math.exp((logit - best) / scale)", "math.exp(logit - best)", OF_SAMPLING,
    ),
    Mutation(
        "entropies that sum to exactly gamma are too many", SOLVERS,
        "total <= limit for total in accumulate(others)",
        "total < limit for total in accumulate(others)",
        OF_SOLVERS,
    ),
    Mutation(
        "the bound of Eq. 8 counts the largest entropy too", SOLVERS,
        "others = (min(entropy, top) for", "others = (entropy for", OF_SOLVERS,
    ),
    Mutation(
        "an entropy that equals the threshold is below it", SOLVERS,
        "entropy < limit for", "entropy <= limit for", OF_SOLVERS,
    ),
    Mutation(
        "a probability that equals tau does not reach it", SOLVERS,
        "top >= limit for", "top > limit for", OF_SOLVERS,
    ),
    Mutation(
        "the factor rule multiplies by n, not by n + 1", SOLVERS,
        "(n + 1) * (1 - top)", "n * (1 - top)", OF_SOLVERS,
    ),
    Mutation(
        "the bound from the left leaves the leftmost position out", SOLVERS,
        "return [masked[0], *sorted(", "return [*sorted(", OF_SOLVERS,
    ),
    Mutation(
        "a finished block is not read causally in full", SBD,
        "            pending.add(final)", "            pending.add(final[1:])", OF_SBD,
    ),
    Mutation(
        "the hindsight on a block's first token comes from a wrong row", SBD,
        "self._before = stats.rows(last, last + 1)", "self._before = stats.rows(0, 1)", OF_SBD,
    ),
    Mutation(
        "masks after the end of the answer are predicted too", SBD,
        "before_end = cut_after_end(self.token_ids, self._end_ids)",
        "before_end = self.token_ids", OF_SBD,
    ),
    Mutation(
        "verify accepts a wrong token at temperature 0", VERIFY,
        "if token_id != best[index]:", "if token_id != best[index] and index:", OF_VERIFY,
    ),
    Mutation(
        "a token rejected at a temperature is drawn again from the whole distribution", VERIFY,
        "rest = (wanted - drafted).clamp(min=0)", "rest = wanted", OF_VERIFY,
    ),
    Mutation(
        "the cache keeps the keys of rejected tokens", VERIFY,
        "state.cache.truncate(state.cache.length - num_checked + len(exact))",
        "state.cache.truncate(state.cache.length)", OF_VERIFY,
    ),
    Mutation(
        "the first answer token has the weight of the prompt", BATCHES,
        '[: len(prompt) - 1] = prompt', '[: len(prompt)] = prompt', OF_BATCHES,
    ),
    Mutation(
        "tokens that are not masked are predicted too", BATCHES,
        "np.where(is_masked, answer, NO_TARGET)", "answer", OF_BATCHES,
    ),
    Mutation(
        "the first block of a masked copy is never shorter", BATCHES,
        "return (np.arange(num_copied) + phase) // block_size",
        "return np.arange(num_copied) // block_size", OF_BATCHES,
    ),
    Mutation(
        "the masked copy's positions begin at 0", BATCHES,
        "num_prompt + np.arange(len(block))", "np.arange(len(block))", OF_BATCHES,
    ),
    Mutation(
        "the loss leaves the masked tokens out", STEP,
        "matp = (losses * weights)[is_noisy].sum()", "matp = (losses * 0)[is_noisy].sum()", OF_STEP,
    ),
    Mutation(
        "eager attention sees what it must not see", STEP,
        "added.masked_fill_(~may_attend", "added.masked_fill_(may_attend", OF_STEP,
    ),
    Mutation(
        "gradients that are not finite change the weights", STEP,
        "if not math.isfinite(norm):", "if norm is None:", OF_STEP,
    ),
    Mutation(
        "an event forgets the token that the causal head would have chosen", EVENTS,
        "ids.update((hindsight.token_id, hindsight.argmax_id))", "ids.add(hindsight.token_id)",
        OF_EVENTS,
    ),
    Mutation(
        "an event's kind is not what was written", EVENTS,
        "StepEvent(index, kind, ", 'StepEvent(index, "decode", ', OF_EVENTS,
    ),
)  # fmt: skip
