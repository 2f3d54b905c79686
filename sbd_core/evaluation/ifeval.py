"""Checks whether an answer follows the instructions of a request of IFEval (Zhou et al. 2023).

The verifiers are those of lm-eval, which is an optional part.
"""

import random
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from typing import Any
from unittest import mock

from sbd_core.errors import ArgumentError, require_extra

IDS, ARGUMENTS = "instruction_id_list", "kwargs"


def check_of(row: Mapping[str, Any]) -> Callable[[str], bool] | None:
    """Make a check that an answer follows every instruction of a request, by IFEval's strict rule.

    row: prompt, instruction_id_list and kwargs, as google/IFEval has them.
    Returns None for a request without instructions. Raises ArgumentError.
    """
    if IDS not in row:
        return None
    names, arguments = row[IDS], row.get(ARGUMENTS)
    known = verifiers()
    if (
        not isinstance(names, list)
        or not isinstance(arguments, list)
        or len(arguments) != len(names)
        or any(name not in known for name in names)
        or not all(isinstance(each, dict) for each in arguments)
    ):
        rule = f"{IDS} and {ARGUMENTS} must be IFEval's, one mapping per instruction"
        raise ArgumentError("requests", rule, str(names)[:200])

    def check(answer: str) -> bool:
        return bool(answer.strip()) and all(
            _follows(known[name](name), given, str(row.get("prompt", "")), answer)
            for name, given in zip(names, arguments, strict=True)
        )

    return check


def _follows(verifier: Any, given: Mapping[str, Any], prompt: str, answer: str) -> bool:
    """Ask lm-eval's verifier, with a fixed seed for arguments that an instruction leaves open."""
    state = random.getstate()
    random.seed(0)
    try:
        verifier.build_description(**{key: value for key, value in given.items() if value})
        if "prompt" in (verifier.get_instruction_args() or {}):
            verifier.build_description(prompt=prompt)
    finally:
        random.setstate(state)
    if given.get("letter"):
        # lm-eval replaces a "letter" that is not from a to z, such as # or \u00e9, by a random one.
        verifier._letter = given["letter"].strip().lower()
    return bool(verifier.check_following(answer))


@cache
def verifiers() -> Mapping[str, Any]:
    """IFEval's verifier classes in lm-eval, by instruction id.

    Importing lm-eval downloads a sentence splitter, which is prevented: unless it is there already,
    sentences are split by the same algorithm without its list of abbreviations. The language
    guesser is seeded. Raises ModelError.
    """
    require_extra("lm-eval")
    import langdetect
    import nltk
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    with mock.patch.object(nltk, "download", return_value=False), redirect_stdout(StringIO()):
        from lm_eval.tasks.ifeval import instructions_registry, instructions_util
    langdetect.DetectorFactory.seed = 0
    try:
        nltk.data.find("tokenizers/punkt_tab")
    except LookupError:
        splitter = PunktSentenceTokenizer()
        instructions_util._get_sentence_tokenizer = lambda: splitter
        nltk.word_tokenize = NLTKWordTokenizer().tokenize  # of one sentence; has no data files
    registry: Mapping[str, Any] = instructions_registry.INSTRUCTION_DICT
    return registry
