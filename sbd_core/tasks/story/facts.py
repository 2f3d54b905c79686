"""The facts of a story, and whether a text keeps to them. Knows word lists, no prompts.

A fact is a word or phrase of a slot (person, animal, species, object, color, place). The case of
an example is JSON: for each slot that the prompt tells, its phrases, listed or not; for animals
told with it, "owns": lists of person, species and name that belong together (null where not
told); "pronouns": for people told as a woman or man, "she" or "he". For instance
{"person": ["Mia"], "species": ["dog"], "animal": ["Rex"], "owns": [["Mia", "dog", "Rex"]],
"object": ["paper boat"], "pronouns": {"Mia": "she"}}.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from sbd_core.tasks.story.plots import STARTS
from sbd_core.tasks.story.vocabulary import is_of, unheard_of, vocabulary
from sbd_core.tasks.story.words import LISTS
from sbd_core.tasks.words import DAYS, MEN, WOMEN

MIN_WORDS, MAX_WORDS, MAX_CHARACTERS = 15, 150, 2000
NAMES = ("person", "animal")
LISTED_NAMES = LISTS["person"] | LISTS["animal"]
FEMALE, MALE = frozenset(("she", "her", "hers")), frozenset(("he", "him", "his"))
WORD = re.compile(r"[A-Za-z]+|[.!?,]")
SENTENCE_END = re.compile(r"[.!?]+[\"' ]*")
# "Puff!" may stand alone, "Coco." may not.
ONE_WORD = re.compile(r"(?:^|[.!?])[\"'\s]*(\w+)[.?]")
# A word with a capital inside a sentence: a name, if it is not one of these.
INNER_CAPITAL = re.compile(r"(?<=[A-Za-z,] )[A-Z][a-z]*")
NO_NAMES = frozenset((*DAYS, "I", "Grandma", "Grandpa", "Mom", "Dad", "Christmas"))
SENTENCE_START = re.compile(r"(?:^|[.!?\"'] ?)([A-Z][a-z]{2,})")
ALIKE, ALIKE_AT_START = 0.6, 0.75
UNHEARD_OF = "is a word of no prompt or story"

Owner = tuple[str | None, str | None, str | None]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a story has to keep to."""

    told: Mapping[str, Sequence[str]]
    """For each slot told, its phrases; a slot that is not here is the writer's choice."""
    owns: Sequence[Owner]
    """(person, species, animal name) that belong together; None where not told."""
    pronouns: Mapping[str, str] = field(default_factory=dict)
    """ "she" or "he" for people whom the prompt tells as such."""

    def to_case(self) -> str:
        """The `case` of an example."""
        return json.dumps({**self.told, "owns": self.owns, "pronouns": self.pronouns})


def read_case(case: str) -> Facts:
    """The facts that to_case wrote."""
    told = json.loads(case)
    owns = [tuple(owner) for owner in told.pop("owns", [])]
    return Facts(told, owns, told.pop("pronouns", {}))


def is_consistent(facts: Facts, text: str) -> bool:
    """True when `text` is a story, ended and without repeats, that keeps to `facts`. No sentence
    is of one word, but for an exclamation.

    Each told phrase occurs and no other word of its list does; of a slot not told at most one
    word occurs, and no name that nobody told or that is a told one misspelt. Animals keep their
    species and owner, people their pronouns. Every word is one of stories or told, but for a new
    name where the prompt leaves one open. The plot that a prompt hints at is not checked.
    """
    return not fault_of(facts, text)


def fault_of(facts: Facts, text: str) -> str:
    """The first thing found that keeps `text` from being consistent, as a clause; "" if none."""
    if len(text) > MAX_CHARACTERS:
        return f"it has more than {MAX_CHARACTERS} characters"
    return next(_faults(facts, text, WORD.findall(text)), "")


def _faults(facts: Facts, text: str, words: Sequence[str]) -> Iterator[str]:
    if not MIN_WORDS <= sum(word.isalpha() for word in words) <= MAX_WORDS:
        yield f"it has not {MIN_WORDS} to {MAX_WORDS} words"
    if re.search(r"[.!?][\"']?$", text) is None:
        yield "its last sentence does not end"
    yield from _repeats(text)
    for slot in LISTS:
        yield from _slot_faults(facts, slot, text, words)
    yield from _name_faults(facts, text)
    if not _keeps_owners(facts, words):
        yield "an animal has another name, kind or owner than in the prompt"
    if not _keeps_pronouns(facts, words):
        yield "“he” and “she” are mixed up"
    yield from (f"“{word}” {UNHEARD_OF}" for word in _unheard_of(facts, text))


def _repeats(text: str) -> Iterator[str]:
    sentences = [part for part in SENTENCE_END.split(text) if part]
    if len(set(sentences)) < len(sentences):
        yield "it has a sentence twice"
    if (alone := ONE_WORD.search(text)) is not None:
        yield f"it has a sentence of one word, “{alone[1]}”"
    if (twice := re.search(r"\b(\w+) \1\b", text)) is not None:
        yield f"it has a word twice in a row, “{twice[0]}”"


def _told_words(facts: Facts) -> set[str]:
    """Every word of every told phrase, as told and in small letters."""
    phrases = (phrase for told in facts.told.values() for phrase in told)
    words = {word for phrase in phrases for word in WORD.findall(phrase)}
    return words | {word.lower() for word in words}


def _occurs(phrase: str, text: str) -> bool:
    """Whether `phrase` is in `text`, also in the plural; a name only with its capital."""
    flags = re.IGNORECASE if phrase[:1].islower() else re.RegexFlag(0)
    return re.search(rf"\b{re.escape(phrase)}(?:e?s)?\b", text, flags) is not None


def _listed(slot: str, words: Sequence[str]) -> frozenset[str]:
    """The words of the slot's list in the text, plurals folded."""
    if slot in NAMES:
        return LISTS[slot] & set(words)
    forms = {word.lower() for word in words}
    return LISTS[slot] & (forms | {form[:-1] for form in forms if form.endswith("s")})


def _slot_faults(facts: Facts, slot: str, text: str, words: Sequence[str]) -> Iterator[str]:
    others = sorted(_listed(slot, words) - _told_words(facts))
    if slot in facts.told and others:
        yield f"“{others[0]}” is not in the prompt"
    if slot not in facts.told and len(others) > 1:
        yield f"“{others[0]}” and “{others[1]}” are not in the prompt"
    missing = (phrase for phrase in facts.told.get(slot, ()) if not _occurs(phrase, text))
    yield from (f"“{phrase}” of the prompt is missing" for phrase in missing)


def _name_faults(facts: Facts, text: str) -> Iterator[str]:
    """A told name misspelt, or inside sentences more new names than the prompt leaves open."""
    known = _told_words(facts) | LISTED_NAMES | NO_NAMES
    found = [word for word in dict.fromkeys(INNER_CAPITAL.findall(text)) if word not in known]
    names = [name for slot in NAMES for name in facts.told.get(slot, ()) if name[:1].isupper()]
    yield from _misspelt(names, found, ALIKE)
    starts = [word for word in SENTENCE_START.findall(text) if word not in known | STARTS]
    made_up = [name for name in names if name not in LISTED_NAMES]
    yield from _misspelt(made_up, starts, ALIKE_AT_START)
    num_open = sum(slot not in facts.told for slot in (*NAMES, "place"))
    if len(found) > num_open:
        yield f"“{found[num_open]}” is a name too many, not in the prompt"


def _unheard_of(facts: Facts, text: str) -> Iterator[str]:
    """Words that are neither told nor of any story.

    One that begins a sentence may be a new name, as many times as the prompt leaves one open.
    """
    phrases = [phrase for told in facts.told.values() for phrase in told]
    yield from (found[0] for found in unheard_of(text, phrases))
    told = _told_words(facts)
    names = told.union(LISTED_NAMES, NO_NAMES, STARTS, INNER_CAPITAL.findall(text))
    known = vocabulary() | told
    starts = dict.fromkeys(SENTENCE_START.findall(text))
    new = [word for word in starts if word not in names and not is_of(known, word.lower())]
    yield from new[sum(slot not in facts.told for slot in NAMES) :]


def _misspelt(names: Sequence[str], words: Sequence[str], least: float) -> Iterator[str]:
    alike = ((name, word) for name in names for word in words if _likeness(name, word) >= least)
    yield from (f"“{word}” looks like “{name}” of the prompt, misspelt" for name, word in alike)


def _likeness(name: str, word: str) -> float:
    return SequenceMatcher(None, name, word).ratio()


def _keeps_owners(facts: Facts, words: Sequence[str]) -> bool:
    """No "cat Rex" or "Rex the cat" or "Tom s cat" against the facts."""
    names, people, kinds = (_heads(facts, slot, words) for slot in ("animal", "person", "species"))
    owns = [[_head(part) if part else None for part in owner] for owner in facts.owns]
    species_of = {name: species for _, species, name in owns if name and species}
    owner_of = {species: person for person, species, _ in owns if person and species}
    is_right = True
    for first, second, third in zip(words, words[1:], words[2:], strict=False):
        if first in kinds and second in names:
            is_right &= species_of.setdefault(second, first) == first
        elif first in names and second in ("the", "a") and third in kinds:
            is_right &= species_of.setdefault(first, third) == third
        elif first in people and second == "s" and third in kinds:
            is_right &= owner_of.setdefault(third, first) == first
    return is_right


def _heads(facts: Facts, slot: str, words: Sequence[str]) -> frozenset[str]:
    """Words that stand for something of the slot: listed ones, and the last of told phrases."""
    return _listed(slot, words) | {_head(phrase) for phrase in facts.told.get(slot, ())}


def _head(phrase: str) -> str:
    return phrase.split(" ")[-1]


def _keeps_pronouns(facts: Facts, words: Sequence[str]) -> bool:
    """No "he" when all people are women, no "she" when all are men, not both for one person."""
    people = _heads(facts, "person", words)
    said = {word.lower() for word in words}
    known = {_head(person): pronoun for person, pronoun in facts.pronouns.items()}
    kinds = {known.get(name) or _listed_pronoun(name) for name in people}
    if kinds == {"she"}:
        return not said & MALE
    if kinds == {"he"}:
        return not said & FEMALE
    return len(people) > 1 or not (said & MALE and said & FEMALE)


def _listed_pronoun(name: str) -> str | None:
    return "she" if name in WOMEN else "he" if name in MEN else None
