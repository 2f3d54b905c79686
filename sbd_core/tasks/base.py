"""What an example and a task of examples are. Knows no task.

Two things keep the splits apart. `split_of` maps a composition key (the numbers of a problem,
the fields of a record) to the one split it belongs to. `is_reserved` keeps some wordings,
names and descriptions for the test split. Both are hashes no process or version changes.

How a task uses the second:

    INSTRUCTIONS = Pool(("Give {fields} as JSON.", "Read {fields} off: {text}", ...))

    def generate(random, split):
        wording = draw_wording(random, split)          # train: "seen"; test: half and half
        prompt = INSTRUCTIONS.draw(random, wording)    # "unseen" draws only reserved ones
        person = words.NAME_POOL.draw(random, wording) # the same for names from a list
        other = made_up_name(random, wording)          # "Zorvin", "Malika": copied, not recalled
        return Example(NAME, prompt, answer, case, wording=wording)

A pool without a reserved entry gives seen ones for "unseen" too, so take care that each
example draws from at least one pool that `has_reserved`. Never pick from a list of names or
wordings by `random.choice`: that trains on what is reserved. Lists that are plain facts (days,
colors) and pieces too short to be a wording may stay lists.
"""

import hashlib
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Generic, Literal, TypeVar

Split = Literal["train", "test"]
SPLITS: tuple[Split, ...] = ("train", "test")
Wording = Literal["seen", "unseen"]
WORDINGS: tuple[Wording, ...] = ("seen", "unseen")

TEST_PERCENT = 8
RESERVED_PERCENT = 15
UNSEEN_RATE = 0.5
SLOT = re.compile(r"\\\{\w+\\\}")
OPEN_SLOT = re.compile(r"\{\w+\}")
PART = re.compile(r"<(\w+)>")
SENTENCE = re.compile(r"(^|[.?:] )([a-z])")

T = TypeVar("T")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ONSETS = _words("b d f g h j k l m n p r s t v w y z br dr gr kr tr fl gl kl sl sh th st")
VOWELS = _words("a e i o u a e i o ai ea")
JOINTS = _words("l r n m s d k t v b p nd rv ll pp lk rt mb st rn nn zz")
ENDINGS = _words("a ia in o or an ek i en us is ar el o a e il on ina")
WOMANLY = ("a", "e", "i", "is", "el")


@dataclass(frozen=True, slots=True)
class Example:
    """One task in plain ASCII; `answer` is the only canonical answer to `prompt`."""

    task: str
    """Key of `TASKS`."""
    prompt: str
    answer: str
    case: str
    """What the task's checker needs beyond the text to score."""
    wording: Wording = "seen"
    """Whether the prompt is told in words and names that training draws from too."""
    kind: str = ""
    """What sort of exercise it is, for tasks of several sorts that can be weighted."""


@dataclass(frozen=True, slots=True)
class Task:
    """A kind of task: how to make an example and how to score any text as its answer."""

    name: str
    generate: Callable[[Random, Split], Example]
    """Draws from the given generator only; two splits never share a composition or prompt."""
    check: Callable[[Example, str], bool]
    """True when the text answers the example; never raises, whatever the text."""
    is_suite: bool = True
    """Whether it is measured and shown; else it is only trained on."""
    kinds: Mapping[str, float] = field(default_factory=dict)
    """How often each kind is drawn, of a task whose kinds training weighs apart."""
    generate_kind: Callable[[Random, Split, str], Example] | None = None
    """An example of one of `kinds`; None where there are none."""


class Pool(Generic[T]):
    """Wordings, names or other entries to draw from, some of them reserved for test.

    `key` gives the text an entry is known by; by default the entry as text. `everyday` lists
    texts so common that they are never reserved: a model that lacks them is of no use to anyone.
    """

    __slots__ = ("reserved", "seen")

    def __init__(
        self,
        entries: Iterable[T],
        key: Callable[[T], str] = str,
        everyday: Container[str] = (),
    ) -> None:
        seen: list[T] = []
        reserved: list[T] = []
        for entry in entries:
            text = key(entry)
            (reserved if text not in everyday and is_reserved(text) else seen).append(entry)
        self.seen = tuple(seen)
        """Entries either split draws."""
        self.reserved = tuple(reserved)
        """Entries only an unseen wording draws."""
        assert seen, f"every entry is reserved for test: {reserved}"

    @property
    def has_reserved(self) -> bool:
        """Whether an unseen wording differs from a seen one here."""
        return bool(self.reserved)

    def of(self, wording: Wording) -> tuple[T, ...]:
        """The entries that `wording` draws from."""
        return self.reserved if wording == "unseen" and self.reserved else self.seen

    def draw(self, random: Random, wording: Wording) -> T:
        """One entry, uniformly."""
        return random.choice(self.of(wording))

    def sample(self, random: Random, wording: Wording, count: int) -> list[T]:
        """`count` different entries; filled up with seen ones when too few are reserved."""
        chosen = self.of(wording)
        found = random.sample(chosen, min(count, len(chosen)))
        if len(found) < count:
            found += random.sample(self.seen, count - len(found))
        return found


class Grammar:
    """Requests put together from parts, for seen words alone.

    A shape has parts as <name>, each to be drawn; the slots in braces stay. A request that has
    the words of a reserved one in it is drawn again.
    """

    __slots__ = ("_held_out", "_shapes")

    def __init__(
        self, shapes: Sequence[str], parts: Mapping[str, Sequence[str]], reserved: Iterable[str]
    ) -> None:
        # What a split by PART gives: words that stay at even places, names of parts at odd ones.
        self._shapes = tuple(
            tuple(
                tuple(parts[piece]) if place % 2 else (piece,)
                for place, piece in enumerate(PART.split(shape))
            )
            for shape in shapes
        )
        # A search costs much more than to see that the longest piece of it is not there.
        self._held_out = tuple(
            (max(OPEN_SLOT.split(text.rstrip(".:?").lower()), key=len), _wherever(text))
            for text in reserved
        )

    def is_held_out(self, text: str) -> bool:
        """Whether the words of a reserved request stand in `text`, whose slots are open."""
        lowered = text.lower()
        for piece, pattern in self._held_out:
            if piece in lowered and pattern.search(lowered):
                return True
        return False

    def draw(self, random: Random) -> str:
        """A request, every sentence with a capital; no mark at its end but one of the shape's."""
        draw = random.random
        while True:
            shape = self._shapes[int(draw() * len(self._shapes))]
            text = "".join(
                [part[int(draw() * len(part))] if len(part) > 1 else part[0] for part in shape]
            )
            if not self.is_held_out(text):
                return SENTENCE.sub(_with_capital, text)


def _with_capital(found: re.Match[str]) -> str:
    return found[1] + found[2].upper()


def _wherever(reserved: str) -> re.Pattern[str]:
    """What finds a reserved request in another; one of a single word only as a whole."""
    words = SLOT.sub(lambda slot: f"{slot[0]}.*?", re.escape(reserved.rstrip(".:?").lower()))
    return re.compile(rf"\b{words}(?!\w)" if " " in words else f"^{words}$")


def split_of(composition: str, test_percent: int = TEST_PERCENT) -> Split:
    """The split that owns `composition`: about `test_percent` % of all keys are test."""
    digest = hashlib.blake2b(composition.encode(), digest_size=8).digest()
    return "test" if int.from_bytes(digest, "big") % 100 < test_percent else "train"


def is_reserved(text: str) -> bool:
    """Whether a wording or name is for the test split alone, whatever task or case it is in."""
    return split_of(f"wording {text.lower()}", RESERVED_PERCENT) == "test"


def draw_wording(random: Random, split: Split) -> Wording:
    """ "seen" when training, either of the two when testing."""
    return "unseen" if split == "test" and random.random() < UNSEEN_RATE else "seen"


def made_up_word(random: Random, wording: Wording) -> str:
    """A pronounceable word of no language, in small letters: "zorvin", "teppo"."""
    while True:
        word = random.choice(ONSETS) + random.choice(VOWELS) + random.choice(JOINTS)
        if random.random() < 0.25:
            word += random.choice(VOWELS) + random.choice(JOINTS[:11])
        word += random.choice(ENDINGS)
        if is_reserved(word) == (wording == "unseen"):
            return word


def made_up_name(random: Random, wording: Wording) -> str:
    """A pronounceable name of nobody: "Zorvin", "Malika", "Teppo"."""
    return made_up_word(random, wording).capitalize()


def is_womanly(made_up: str) -> bool:
    """Whether a made-up name is told as a woman's, by its ending."""
    return made_up.endswith(WOMANLY)
