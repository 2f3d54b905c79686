"""lm-eval's verdicts on IFEval's instructions (Zhou et al. 2023): offline, and alike each time.

ifeval_file.yaml beside this file makes a task of lm-eval of them.
"""

import random
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from typing import Any
from unittest import mock


@cache
def lm_eval_ifeval() -> Any:
    """Import lm-eval's module of IFEval's verdicts, and make its verdicts repeatable.

    nltk's trained sentence splitter is not downloaded; if it is missing, an untrained one splits.
    The language detector gets a seed. A "letter" to count may be any character, such as #, in whose
    place lm-eval would draw a random letter.
    """
    import langdetect
    import nltk
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    with mock.patch.object(nltk, "download", return_value=False), redirect_stdout(StringIO()):
        from lm_eval.tasks.ifeval import instructions, instructions_util, utils

    langdetect.DetectorFactory.seed = 0
    try:
        nltk.data.find("tokenizers/punkt_tab")
    except LookupError:
        splitter = PunktSentenceTokenizer()
        instructions_util._get_sentence_tokenizer = lambda: splitter
        nltk.word_tokenize = NLTKWordTokenizer().tokenize  # of one sentence; has no data files

    class GivenLetter(instructions.LetterFrequencyChecker):
        """Counts the given letter, whatever character it is."""

        def build_description(self, *, letter: str | None = None, **given: Any) -> str:
            """Take the arguments of an instruction."""
            text = str(super().build_description(letter=letter, **given))
            if letter:
                self._letter = letter.strip().lower()
            return text

    utils.instructions_registry.INSTRUCTION_DICT["keywords:letter_frequency"] = GivenLetter
    return utils


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Judge an answer, results[0], to a row of IFEval's data; missing arguments are seeded."""
    utils, state = lm_eval_ifeval(), random.getstate()
    random.seed(0)
    try:
        return dict(utils.process_results({"key": 0, **doc}, results))
    finally:
        random.setstate(state)


def agg_inst_level_acc(items: Sequence[Sequence[bool]]) -> float:
    """Share of instructions that are followed, of all answers together."""
    return float(lm_eval_ifeval().agg_inst_level_acc(items))
