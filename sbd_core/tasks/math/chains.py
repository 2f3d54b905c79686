"""Word problems about one count that events change, one after another."""

import re
from dataclasses import dataclass
from random import Random

from sbd_core.tasks.base import WORDINGS, Pool, Wording
from sbd_core.tasks.math.arithmetic import Calculation, amount, calculate, operands
from sbd_core.tasks.math.events import measures, places, settings
from sbd_core.tasks.math.events.settings import Event, Setting
from sbd_core.tasks.math.telling import Teller

STEP_WEIGHTS = (4, 4, 2.5, 0.8, 0.3)
OPENING_RATE = 0.3
QUESTION_FIRST_RATE, IF_RATE, DETAIL_RATE = 0.08, 0.12, 0.12

SETTINGS: tuple[Setting, ...] = tuple(
    value
    for module in (settings, places, measures)
    for value in vars(module).values()
    if isinstance(value, Setting)
)
TOLD = {wording: tuple(item.told_in(wording) for item in SETTINGS) for wording in WORDINGS}
WEIGHTS = tuple(setting.weight for setting in SETTINGS)
# One of a thing reads well where its phrase ends a clause.
TAKES_ONE = re.compile(
    r"\{n\}(?: of them| more| new)?(?: \{thing\}| points| pages| floors| degrees)?"
    r"(?:$|[.,]| (?:to|from|in|on|at) )"
)
DETAILS = Pool((
    "it <be:s> a sunny day", "the weather <be:s> nice", "{B} <watch:s>", "the sky <be:s> gray",
    "{B} <like:s> music", "{B} <be:s> happy", "it <be:s> cold outside",
    "{B} <wear:s> a {color} hat", "{B} <sing:s> a song", "it <be:s> raining",
    "the day <be:s> long", "{B} <be:s> at home", "{B} <be:s> {n} years old",
    "it <be:s> {n} o'clock", "the house <have:s> number {n}", "{B} <come:s> by for {n} minutes",
    "{B} <have:s> {n} cats", "lunch <be:s> at {n} o'clock", "the bag <be:s> {color}",
    "{B} <live:s> {n} streets away", "{B} <tell:s> a joke",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """What one wording tells: its numbers by slot and the calculations it asks for."""

    wording: str
    numbers: dict[str, int]
    chain: tuple[Calculation, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """A problem before it is told."""

    setting: Setting
    parts: list[Part]

    @property
    def chain(self) -> list[Calculation]:
        """Its calculations in order."""
        return [calculation for part in self.parts for calculation in part.chain]


def plan(random: Random, wording: Wording) -> Plan | None:
    """A problem of as many calculations as drawn; None if a drawn event does not fit."""
    setting = random.choices(TOLD[wording], WEIGHTS)[0]
    num_steps = random.choices(range(1, 6), STEP_WEIGHTS)[0]
    if setting.openings and (not setting.starts or random.random() < OPENING_RATE):
        part = _opening(random, setting, random.choice(setting.openings))
        if part is None:
            return None
    else:
        start = max(2, amount(random, setting.most), amount(random, setting.most))
        part = Part(random.choice(setting.starts), {"n": start})
    parts, used = [part], set[Event]()
    value = part.chain[-1].result if part.chain else part.numbers["n"]
    while (left := num_steps - sum(len(part.chain) for part in parts)) > 0:
        fresh = [e for e in setting.events if e not in used and 1 + e.is_group <= left]
        event = random.choice(fresh) if fresh else None
        part = _happening(random, setting, event, value) if event else None
        if event is None or part is None:
            return None
        used.add(event)
        parts.append(part)
        value = part.chain[-1].result
    return Plan(setting, parts)


def tell(random: Random, plan: Plan, teller: Teller) -> str:
    """The problem in English."""
    setting, parts = plan.setting, plan.parts
    if not setting.questions:
        clauses = [teller.clause(part.wording, part.numbers) for part in parts]
        return teller.finish(" ".join(clauses) + "?")
    question = random.choice(setting.questions)
    is_past = teller.is_past and random.random() < 0.5
    draw = random.random()
    if draw < QUESTION_FIRST_RATE and "{P}" not in question:
        asked = teller.clause(question, {}, is_past=is_past)
        return teller.finish(f"{asked} {_story(teller, setting, parts)}.")
    can_be_condition = all("<" in p.wording and "." not in p.wording for p in parts)
    if draw > 1 - IF_RATE and 2 <= len(parts) <= 3 and can_be_condition:
        clauses = [teller.clause(part.wording, part.numbers) for part in parts]
        asked = teller.clause(question, {}, is_past=is_past)
        return teller.finish(f"if {', '.join(clauses[:-1])} and {clauses[-1]}, {asked}")
    story = _story(teller, setting, parts)
    return teller.finish(f"{story}. {teller.clause(question, {}, is_past=is_past)}")


def _opening(random: Random, setting: Setting, event: Event) -> Part | None:
    left, right = operands(random, event.operation, setting.most)
    if event.number:
        right = event.number
        left = amount(random, setting.most // right)
        left = left * right if event.operation == "/" else left
    calculation = calculate(left, event.operation, right, setting.most)
    if calculation is None or left < 2 or right < 2:
        return None
    return Part(random.choice(event.wordings), {"m": left, "n": right}, (calculation,))


def _happening(random: Random, setting: Setting, event: Event, value: int) -> Part | None:
    """`event` befalling `value` with numbers that keep the limits; None if there are none."""
    wording, most = random.choice(event.wordings), setting.most
    if event.is_group:
        num_groups, size = random.randint(2, 9), random.randint(2, random.choice((9, 20)))
        product = calculate(num_groups, "*", size, most)
        whole = calculate(value, event.operation, num_groups * size, most)
        if product is None or whole is None:
            return None
        return Part(wording, {"k": num_groups, "n": size}, (product, whole))
    if event.number:
        number = event.number
    elif event.operation in "+-":
        number = amount(random, most - value if event.operation == "+" else value)
    else:
        fits = [n for n in range(2, 11) if calculate(value, event.operation, n, most)]
        number = random.choice(fits) if fits else 0
    if number < (1 if event.number or TAKES_ONE.search(wording) else 2):
        return None
    calculation = calculate(value, event.operation, number, most)
    return Part(wording, {"n": number}, (calculation,)) if calculation else None


def _story(teller: Teller, setting: Setting, parts: list[Part]) -> str:
    """What happens, without the last full stop."""
    random = teller.random
    clauses = [(part.wording, teller.clause(part.wording, part.numbers)) for part in parts]
    sentences = teller.sentences(clauses, has_times=setting.has_times)
    if setting.has_times and random.random() < DETAIL_RATE:
        detail = DETAILS.draw(random, teller.wording)
        detail = teller.clause(detail, {"n": random.randint(2, 12)})
        sentences.insert(random.randint(1, len(sentences)), detail)
    return ". ".join(sentences)
