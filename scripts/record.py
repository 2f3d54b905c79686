"""Record the decodes that the page shows without a model, and write the gallery's index.

    python -m scripts.record                     all runs of nano
    python -m scripts.record --real              all runs of SmolLM2
    python -m scripts.record gallery/code-1 ...  only these runs

Every prompt was chosen by hand; those of the gallery are in gallery.json beside this file.
assets/traces/learn/index.json, also written by hand, lists words and forward passes that the Learn
view explains. In that file, this command only updates the name of the processor. It writes
assets/views.json, too; tests/ui/views/test_lesson.py says which texts in assets/learn/words.json
quote a run otherwise than it now is.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any
from unittest import mock

from torch import Tensor

from sbd_core import generate, load
from sbd_core.config import DecodeConfig
from sbd_core.environment import processor_name
from sbd_core.errors import TraceError
from sbd_core.masks import decoding_mask
from sbd_core.models.backends.transformers import TransformersBackend
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, REAL_MODEL
from sbd_core.models.protocol import ForwardRequest
from sbd_core.models.runtime import choose_threads
from sbd_core.solvers import EntropyBound
from sbd_core.trace import Trace
from scripts import write_views
from scripts.write_views import BLOCKS
from ui.examples import GALLERY_INDEX, LEARN_INDEX, TRACES, recorded

NANO = DEFAULT_CHECKPOINT.name
SBD = DecodeConfig(strategy="sbd", max_new_tokens=128)
NTP = replace(SBD, strategy="ntp")
VERIFY = replace(SBD, strategy="verify")
SHORT = 64
NUM_TIMINGS = 9


def with_gamma(gamma: float) -> DecodeConfig:
    """The config SBD with another gamma."""
    return replace(SBD, solver=EntropyBound(gamma))


@dataclass(frozen=True, slots=True)
class Card:
    """One entry of the gallery: a prompt decoded twice, by `main` and by next-token prediction.

    sentence: says what to look at; names in braces stand for values of facts().
    main, ntp: configs of the two decodes.
    task, case: key of TASKS and Example.case by which answers are checked. "" checks the answers
        as those of the form's preset with this prompt; without such a preset they are not checked.
    """

    name: str
    group: str
    prompt: str
    sentence: str
    title: str = ""
    main: DecodeConfig = SBD
    ntp: DecodeConfig = NTP
    model: str = NANO
    task: str = ""
    case: str = ""

    @property
    def run(self) -> "Run":
        """The prompt, and the configs of both decodes, `main` first."""
        return self.prompt, (self.main, self.ntp)


FOX = "A story about David, a fox called Luna, a red toy and a cake, please."
GOOSE = "For my children: a story about Elif, some goose and a necklace."
REAL_GROUP, FAILURES = "SmolLM2, a real model", "What goes wrong"
"""The group of SmolLM2's runs, and the group in which answers may be wrong."""


def card_of(row: dict[str, Any]) -> Card:
    """Make a card from an entry of gallery.json.

    The entry's "main" holds changes to the config SBD, in which "gamma" changes the solver's gamma.
    A "case" that is not text is turned into JSON text.
    """
    changes = row.pop("main", {})
    if "gamma" in changes:
        changes["solver"] = EntropyBound(changes.pop("gamma"))
    if not isinstance(row.get("case", ""), str):
        row["case"] = json.dumps(row["case"])
    main = replace(SBD, **changes)
    if row["group"] != REAL_GROUP:
        return Card(**row, main=main)
    main = replace(main, block_size=4)  # suits SmolLM2
    ntp = replace(NTP, block_size=4, max_new_tokens=main.max_new_tokens)
    return Card(**row, main=main, ntp=ntp, model=REAL_MODEL)


ROWS = json.loads(Path(__file__).with_name("gallery.json").read_text("utf-8"))
CARDS = tuple(card_of(row) for row in ROWS)
Run = tuple[str, Sequence[DecodeConfig]]
"""A prompt and the configs of its lanes, the main one first."""
OPENING = (VERIFY, NTP)
CROW = "Tell me a story about Theo, a crow named Socks and a key."
OTTER = "Let me hear a story about Jane and her otter Echo at the beach."
EDGES = (0.0, 0.1, 0.2, 0.35, 0.6, 1.0, 2.0, 4.0)
TEXT = "learn/text"
"""The run whose seconds the page shows."""
STALE, UNTRAINED = "learn/stale", "learn/untrained"
"""The run TEXT with stale keys, and a model that was never trained to fill masks."""
BLOCK = replace(SBD, max_new_tokens=SHORT, top_k_recorded=0)
RUNS: dict[str, dict[str, Run]] = {
    NANO: {
        "opening": (FOX, OPENING),
        # As the form of a race sends them.
        "race": (
            FOX,
            [
                replace(c, allows_untrained_block_size=True)
                for c in (NTP, SBD, with_gamma(0.35), VERIFY)
            ],
        ),
        TEXT: (OTTER, [replace(config, max_new_tokens=SHORT) for config in (SBD, NTP)]),
        STALE: (OTTER, [BLOCK]),
        "learn/blocks": (OTTER, [replace(BLOCK, block_size=size) for size in BLOCKS]),
        "learn/guess": ("Tell a story about a crow named Tiger and a white blanket.", [SBD]),
        "learn/sudoku": ("Can you solve this sudoku? 0000002021034002", [SBD]),
        # Few rows, so that no alternative stands in for a rejected token.
        "learn/verify": (CROW, [replace(VERIFY, max_rows=7), NTP]),
        "learn/edges": (GOOSE, [with_gamma(gamma) for gamma in EDGES]),
    },
    REAL_MODEL: {UNTRAINED: ("List the days of the week.", [replace(BLOCK, max_new_tokens=32)])},
}
"""{model: {file in assets/traces without its ending: run}}."""
for card in CARDS:
    RUNS[card.model][f"gallery/{card.name}"] = card.run


class StaleKeys(TransformersBackend):
    """Keeps a block's keys and values as its last pass computed them, which no decode here does.

    They saw the whole block, with masks where that pass revealed tokens.
    """

    def __init__(self, model: HuggingFaceModel) -> None:
        """Take a model that decodes one text at a time."""
        super().__init__(model.model)
        self._block: list[int] = []
        """The last block, as it was read."""

    def _forward(self, request: ForwardRequest) -> Tensor:
        block, self._block = self._block, list(request.block_ids)
        count, start = len(request.causal_ids), request.cache.length
        if not start or not count:
            return super()._forward(request)
        is_seen = decoding_mask(start, count, len(request.block_ids))
        is_seen[:count, start : start + count] = True
        with mock.patch(f"{TransformersBackend.__module__}.decoding_mask", return_value=is_seen):
            return super()._forward(replace(request, causal_ids=block[:count]))


def untrained(model: HuggingFaceModel) -> TransformersBackend:
    """A backend of the model alone, without its adapter; its mask is the mean of all tokens."""
    rows, mask_id = model.model.get_input_embeddings().weight.data, model.mask_token_id
    rows[mask_id] = (rows.sum(0) - rows[mask_id]) / (len(rows) - 1)
    return TransformersBackend(model.model)


BACKENDS: dict[str, Callable[[HuggingFaceModel], TransformersBackend]] = {
    STALE: StaleKeys,
    UNTRAINED: untrained,
}
"""What decodes the runs that show how not to."""


def decoded(model: HuggingFaceModel, name: str) -> list[Trace]:
    """Decode the run `name` with each config; for TEXT, keep the fastest of several decodes."""
    prompt, configs = RUNS[model.name][name]
    times = NUM_TIMINGS if name == TEXT else 1
    if name in BACKENDS:
        model = copy(model)
        model.backend, model.sampler_head = BACKENDS[name](model), None
    return [
        min((generate(model, prompt, each) for _ in range(times)), key=lambda trace: trace.seconds)
        for each in configs
    ]


def recorded_lanes(card: Card) -> list[Trace]:
    """Read both traces of a card, the main one first. Raises TraceError if there are none yet."""
    try:
        return recorded(f"gallery/{card.name}")
    except OSError as error:
        command = f"python -m scripts.record gallery/{card.name}"
        raise TraceError(f"{card.name}: is not recorded; {command} records it") from error


def facts(main: Trace, ntp: Trace) -> dict[str, str]:
    """Numbers for a card's sentence, as text. main, ntp: the card's traces. Keys of the result:

    tokens, ntp_tokens: number of tokens in the answer of each trace.
    passes, ntp: number of forward passes of each trace.
    most: largest number of tokens that one forward pass wrote.
    early: share of the tokens that were written before a token on their left.
    after_end: number of tokens that were written after the answer's last token.
    changed: share of the tokens in StepEvent.hindsight that next-token prediction would not choose.
    repeats, ntp_repeats: share of repeated words in each trace, see repeats().
    """
    passes = main.token_passes
    early = [at < latest for at, latest in zip(passes, accumulate(passes, max), strict=True)]
    reread = [item for event in main.events for item in event.hindsight]
    changed = [item.token_id != item.argmax_id for item in reread]
    return {
        "tokens": str(main.num_tokens),
        "passes": str(main.num_forwards),
        "ntp": str(ntp.num_forwards),
        "ntp_tokens": str(ntp.num_tokens),
        "most": str(max(Counter(passes).values())),
        "early": percent(early),
        "after_end": str(sum(at > passes[-1] for at in passes)),
        "changed": percent(changed),
        "repeats": percent(repeats(main)),
        "ntp_repeats": percent(repeats(ntp)),
    }


def repeats(trace: Trace) -> list[bool]:
    """For each token, whether it consists of letters and equals the token before it."""
    texts = [trace.tokens[token_id].strip() for token_id in trace.token_ids]
    return [False, *(before == text and text.isalpha() for before, text in pairwise(texts))]


def percent(flags: Sequence[bool]) -> str:
    """The share of true flags as text, in percent."""
    return f"{sum(flags) / max(len(flags), 1):.0%}"


def index() -> str:
    """The gallery's index as JSON, with one card per line."""
    rows = []
    for card in CARDS:
        main, ntp = recorded_lanes(card)
        entry = {
            "name": card.name,
            "group": card.group,
            "title": card.title or " ".join(card.prompt.split()),
            "sentence": card.sentence.format_map(facts(main, ntp)),
            "passes": main.token_passes,
            "task": card.task,
            "case": card.case,
        }
        rows.append(json.dumps(entry, ensure_ascii=False))
    return "[\n" + ",\n".join(rows) + "\n]\n"


def record(model_name: str, names: Sequence[str]) -> None:
    """Decode the named runs of a model and write their traces."""
    model = load(None if model_name == NANO else model_name, device="cpu")
    choose_threads(model.num_parameters)
    for name in names:
        traces = decoded(model, name)
        text = "".join(f"{trace.to_json()}\n" for trace in traces)
        (TRACES / f"{name}.jsonl").write_text(text, encoding="utf-8")
        for trace in traces:
            lane = f"{trace.num_tokens} tokens, {trace.num_forwards} forward passes"
            print(f"{name}, {trace.strategy}: {lane}")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m scripts.record", description=__doc__)
    parser.add_argument("runs", nargs="*", help="files in assets/traces without .jsonl; none: all")
    parser.add_argument("--real", action="store_true", help="the runs of SmolLM2")
    flags = parser.parse_args()
    if unknown := set(flags.runs) - set(RUNS[NANO]) - set(RUNS[REAL_MODEL]):
        parser.error(f"runs: must each be a known run, got {', '.join(unknown)}")
    names = flags.runs or RUNS[REAL_MODEL if flags.real else NANO]
    for model_name, known in RUNS.items():
        wanted = [name for name in names if name in known]
        if wanted:
            record(model_name, wanted)
    if TEXT in names:
        choices = json.loads(LEARN_INDEX.read_text("utf-8")) | {"processor": processor_name()}
        text = json.dumps(choices, indent=1, ensure_ascii=False) + "\n"
        LEARN_INDEX.write_text(text, encoding="utf-8")
    GALLERY_INDEX.write_text(index(), encoding="utf-8")
    write_views.main()


if __name__ == "__main__":
    main()
