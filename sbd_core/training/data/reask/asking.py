"""Asks for functions in words composed anew, for training: "Hi! tak, a tidy helper that ...".

Of the requests that the task draws a share is drawn again: the function and its parameters
have odder names, what it does is said in more words, and where and how each of these is told is
put together freely. A request that has words in it which the test keeps for itself is not asked.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from random import Random

from sbd_core.tasks.base import Example, Pool, Wording, made_up_name, made_up_word
from sbd_core.tasks.code import asks, task, wordings
from sbd_core.tasks.code.asks import Names, Phrase
from sbd_core.tasks.code.classics import CLASSICS
from sbd_core.tasks.code.composed import Assignment
from sbd_core.tasks.code.rewording.reword import shape
from sbd_core.training.data.reask import words
from sbd_core.training.data.reask.descriptions import DESCRIPTIONS

REASK_RATE, FREE_RATE = 0.45, 0.75
NAME_RATE, ODD_RATE = 0.5, 0.7
CALL_RATE, BESIDE_RATE, TAKING_RATE = 0.3, 0.7, 0.3
WHOLE_RATE, OWN_RATE, GREETING_RATE = 0.6, 0.7, 0.15
DESCRIPTION_RATE, VERB_RATE, SYNONYM_RATE = 0.35, 0.4, 0.4
MAX_TRIES = 6
MIN_FRAGMENT, MIN_DESCRIPTION = 8, 12
TAKING = re.compile(r"take (\{\w\}(?: and \{\w\})*) and ([a-z].*)")
COMMA = re.compile(r",(?=[.,:?!])")
"""A comma that another mark follows."""
NOUN = re.compile(r"(?:the|an?|all|each|every|what|how) |\{")


def reasked(random: Random, example: Example) -> Example:
    """`example`, or now and then another of its kind that is asked for more freely."""
    if example.task != task.NAME or random.random() >= REASK_RATE:
        return example
    for _ in range(MAX_TRIES):
        drawn = task.DRAW[example.kind](random, "seen")
        if drawn is None or not task.is_of(drawn.composition, "train", "seen"):
            continue
        if example.kind == "classic":
            drawn = replace(drawn, phrase=said_anew(random, _described(random, drawn)))
        ask = freely if random.random() < FREE_RATE else asks.ask
        names = odd_names(random, drawn)
        found = task.asked(random, "seen", example.kind, drawn, names, ask)
        if found is not None and not is_held_out(found.prompt):
            return found
    return example


def is_held_out(prompt: str) -> bool:
    """Whether a request has words in it that only the test split has."""
    lowered = prompt.lower()
    return any(fragment in lowered for fragment in fragments())


@cache
def fragments() -> tuple[str, ...]:
    """The longer pieces of reserved wordings that no seen wording has."""
    pools = [pool for pool in vars(wordings).values() if isinstance(pool, Pool)]
    pools += [*wordings.SLOTS.values(), *wordings.HINTS_BY_FORM.values()]
    told = {wording: [text for item in CLASSICS for _, text in task.classic_wordings(item, wording)]
            for wording in ("seen", "unseen")}  # fmt: skip
    seen = "\n".join([*told["seen"], *(text for pool in pools for text in pool.seen)]).lower()
    pieces = _pieces([text for pool in pools for text in pool.reserved], MIN_FRAGMENT)
    pieces |= _pieces(told["unseen"], MIN_DESCRIPTION)
    return tuple(sorted(piece for piece in pieces if piece not in seen))


def _pieces(texts: Sequence[str], least: int) -> set[str]:
    found = {piece.strip().lower() for text in texts for piece in re.split(r"\{\w+\}", text)}
    return {piece for piece in found if len(piece) >= least}


def odd_names(random: Random, drawn: Assignment) -> Names:
    """Names as the task draws them, told more often and most of them odd."""
    names = task.draw_names(random, "seen", drawn)
    used = set(re.findall(r"\w+", f"{drawn.code} {drawn.signature} {drawn.name}"))
    used |= {names.function, *names.parameters}

    def odd() -> str:
        name = asks.new_name(random, "seen", used, odd_name)
        used.add(name)
        return name

    own = asks.parameters_of(drawn.signature)
    if names.is_function_told or random.random() < NAME_RATE:
        is_odd = not names.is_function_told or random.random() < ODD_RATE
        names = replace(names, function=odd() if is_odd else names.function, is_function_told=True)
    if list(names.parameters) != own:
        parameters = (odd() if random.random() < ODD_RATE else name for name in names.parameters)
        names = replace(names, parameters=tuple(parameters))
    return names


def odd_name(random: Random, wording: Wording) -> str:
    """Made-up words, long ones, in pairs, with a word of every day or with a digit."""
    word, other = made_up_word(random, wording), made_up_word(random, wording)
    everyday = random.choice(wordings.NAME_VERBS + wordings.NAME_NOUNS)
    match random.randrange(10):
        case 0:
            return f"{word}_{other}"
        case 1:
            return f"{everyday}_{word}"
        case 2:
            return f"{word}_{everyday}"
        case 3:
            return word + other.capitalize()
        case 4:
            return word + other[:3]
        case 5:
            return f"{word}{random.randint(1, 9)}"
        case 6:
            return f"{word}_{random.choice('abcxyz')}"
        case _:
            return word


def _described(random: Random, drawn: Assignment) -> Phrase:
    """What a well-known function does, now and then as only training says it."""
    told = DESCRIPTIONS.get(drawn.composition[1])
    if told is None or random.random() >= DESCRIPTION_RATE:
        return drawn.phrase
    text = random.choice(told.split("|"))
    if text[0] == "!":
        return Phrase.of_command(text[1:])
    if text[0] == "?":
        return asks.test_phrase(random, "seen", text[1:])
    return asks.noun_phrase(random, "seen", text)


def said_anew(random: Random, phrase: Phrase) -> Phrase:
    """What a well-known function does with another verb or other words, if the test lacks them."""
    do = _with_verb(random, phrase.do)
    drawn = synonym_places().sub(lambda found: _synonym(random, found), do)
    if drawn == phrase.do or _is_description_of_test(drawn):
        return phrase
    taking = TAKING.fullmatch(drawn)
    if taking is None:
        return Phrase.of_command(drawn)
    return Phrase(drawn, f"takes {taking[1]} and {asks.third_person(taking[2])}")


def _is_description_of_test(do: str) -> bool:
    """Whether a command, or the end of it behind its verb, is one that only the test split has."""
    parts = do.split(" ")
    return any(shape(" ".join(parts[start:])) in reserved_shapes() for start in range(len(parts)))


@cache
def reserved_shapes() -> frozenset[str]:
    """The descriptions that only the test split has, without what their slots are filled with."""
    every = {text for item in CLASSICS for text in item.wordings}
    seen = {text for item in CLASSICS for _, text in task.classic_wordings(item, "seen")}
    return frozenset(map(shape, every - seen)) - frozenset(map(shape, seen))


def _with_verb(random: Random, do: str) -> str:
    """`do` with another verb before what is returned or tested, now and then."""
    if random.random() >= VERB_RATE:
        return do
    for verb in sorted(wordings.TEST_VERBS.seen, key=len, reverse=True):
        if do.startswith(f"{verb} "):
            return random.choice(words.TEST_VERBS) + do.removeprefix(verb)
    for verb in sorted(wordings.NOUN_VERBS.seen, key=len, reverse=True):
        rest = do.removeprefix(f"{verb} ")
        if rest != do and NOUN.match(rest):
            return f"{random.choice(words.NOUN_VERBS)} {rest}"
    return do


@cache
def synonyms() -> dict[str, list[str]]:
    """What may stand for a word; "^" is the beginning of a description."""
    return {first: others for first, *others in (line.split("|") for line in words.SYNONYMS)}


@cache
def synonym_places() -> re.Pattern[str]:
    """What finds a word with synonyms."""
    longest_first = sorted(synonyms(), key=len, reverse=True)
    return re.compile("|".join(map(_place, longest_first)))


def _place(word: str) -> str:
    if word.startswith("^"):
        return f"^{re.escape(word[1:])}"
    return rf"(?<![\w\"{{]){re.escape(word)}(?![\w\"}}])"


def _synonym(random: Random, found: re.Match[str]) -> str:
    others = synonyms().get(found[0]) or synonyms()[f"^{found[0]}"]
    return random.choice(others).lstrip("^") if random.random() < SYNONYM_RATE else found[0]


def freely(random: Random, wording: Wording, phrase: Phrase, names: Names, after: str = "") -> str:
    """A request for a function in sentences put together of any parts."""
    function, asides = _function(random, wording, names)
    sentences = _main(random, wording, function)
    if after:
        sentences.append(after)
    for aside in asides:
        sentences.insert(random.randint(0, len(sentences)), aside)
    if random.random() < GREETING_RATE:
        sentences.insert(0, random.choice(words.STARTS))
    if random.random() < GREETING_RATE:
        sentences.append(random.choice(words.ENDS))
    told = [_sentence(random, text, phrase) for text in sentences]
    *first, last = told
    text = " ".join([*(one if one[-1] in ".,:?!" else f"{one}." for one in first), last])
    text = text.replace("{call}", f"{names.function}({', '.join(names.parameters)})")
    text = text.replace("{name}", names.function)
    text = text.replace("{parameters}", asks.listed(names.parameters))
    return asks.fill_parameters(COMMA.sub("", text), names.parameters)


def _function(random: Random, wording: Wording, names: Names) -> tuple[str, list[str]]:
    """The function as the request speaks of it, and sentences that tell the other names."""
    function = f"{random.choice(words.SIZES)} {random.choice(words.NOUNS)}"
    is_named, are_told = names.is_function_told, names.are_parameters_told
    if is_named and are_told and random.random() < CALL_RATE:
        return random.choice(words.CALLED).replace("{fn}", function), []
    are_many = len(names.parameters) > 1
    asides = []
    if is_named and random.random() < BESIDE_RATE:
        function = random.choice(words.NAMED).replace("{fn}", function)
    elif is_named:
        asides.append(random.choice(words.NAMES + wordings.NAME_AFTER.of(wording)))
    if are_told and random.random() < TAKING_RATE:
        takes = words.TAKES_MORE if are_many else words.TAKES_ONE
        function = random.choice(takes).replace("{fn}", function)
    elif are_told:
        own, pool = (
            (words.INPUTS, wordings.MORE_PARAMETERS)
            if are_many
            else (words.INPUT, wordings.ONE_PARAMETER)
        )
        asides.append(random.choice(own + pool.of(wording)))
    return function, asides


def _main(random: Random, wording: Wording, function: str) -> list[str]:
    """Sentences that ask for the function and tell what it does: one, or two in either order."""
    if random.random() < WHOLE_RATE:
        asked = random.choice(words.ASKS if random.random() < OWN_RATE else wordings.LEADS.seen)
        clause = wordings.CLAUSES.draw(random, wording)
        return [asked.replace("{clause}", clause).replace("{fn}", function)]
    wanted = random.choice(words.WANTS).replace("{fn}", function)
    return [wanted, random.choice(words.DOES)]


def _sentence(random: Random, text: str, phrase: Phrase) -> str:
    """`text` with what the function does, and with a capital unless a name comes first."""
    text = text.replace("{does}", phrase.does).replace("{do}", phrase.do)
    while "{odd}" in text:
        text = text.replace("{odd}", made_up_name(random, "seen"), 1)
    return text[0].upper() + text[1:]
