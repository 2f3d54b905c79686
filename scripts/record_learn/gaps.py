"""Words to be guessed: the leftmost mask of a forward pass, surely known or not."""

from collections.abc import Iterator
from dataclasses import dataclass

from sbd_core.events import MaskedPosition
from sbd_core.models.protocol import SetBlockModel
from sbd_core.trace import Trace
from scripts.record_learn.examples import drawn, from_presets, of_any_task
from scripts.record_learn.runs import NothingSuitable, generated, is_right
from ui.learn.recorded import Place

NUM_OPTIONS = 3
MIN_CONTEXT = 8  # tokens before a word to be guessed
NUM_DRAWN = 40
NUM_LETTERS = 80  # before a gap, as the scene shows them
SURE, UNSURE = 0.1, (1.0, 3.0)  # nats


@dataclass(frozen=True, slots=True)
class Gap:
    """A word to be guessed: the leftmost mask of a forward pass, so that all before it is there."""

    trace: Trace
    place: Place
    item: MaskedPosition

    @property
    def words(self) -> list[str]:
        """The model's best guesses that are whole words, best first."""
        texts = [self.trace.tokens[token_id] for token_id in self.item.top_token_ids]
        return [text for text in texts if text.startswith(" ") and text.strip().isalpha()]

    @property
    def is_said_before(self) -> bool:
        """Whether the best guess stands a little before: a reader is sure of it too then."""
        before = "".join(
            self.trace.tokens[token_id] for token_id in self.trace.token_ids[: self.place.position]
        )
        return self.words[0] in before[-NUM_LETTERS:]

    @property
    def is_word(self) -> bool:
        """Whether the best guess is a word worth guessing, and there are others to choose from."""
        best = self.trace.tokens[self.item.top_token_ids[0]]
        return (
            best.startswith(" ")
            and best.strip().isalpha()
            and len(best) > NUM_OPTIONS
            and len(self.words) >= NUM_OPTIONS
        )


def gaps(trace: Trace) -> Iterator[Gap]:
    """Every gap of a run that can be guessed."""
    for event in trace.events:
        if event.masked and event.masked[0].position >= MIN_CONTEXT:
            gap = Gap(trace, Place(event.index, event.masked[0].position), event.masked[0])
            if gap.is_word:
                yield gap


def guess_run(model: SetBlockModel) -> tuple[Gap, Gap]:
    """A sure and an unsure gap of one story, a right one if any has both; else of another text."""
    found: list[tuple[bool, float, Gap, Gap]] = []
    for examples in (from_presets("story"), drawn("story", NUM_DRAWN), of_any_task(NUM_DRAWN)):
        for example in examples:
            trace = generated(model, example.prompt)
            known = list(gaps(trace))
            sure = [gap for gap in known if gap.item.entropy < SURE]
            unsure = [gap for gap in known if UNSURE[0] < gap.item.entropy < UNSURE[1]]
            if sure and unsure:
                longest = max(sure, key=lambda gap: (gap.is_said_before, len(gap.words[0])))
                other = max(unsure, key=lambda gap: gap.item.entropy)
                found.append((is_right(example, trace.text), other.item.entropy, longest, other))
        if any(right for right, *_ in found):
            break
    if not found:
        raise NothingSuitable("no text has both a sure and an unsure word")
    _, _, sure_gap, unsure_gap = max(found, key=lambda row: row[:2])
    return sure_gap, unsure_gap
