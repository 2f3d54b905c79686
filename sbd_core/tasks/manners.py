"""How visitors word a request: greetings, thanks, no capital, no full stop. Knows no task."""

from dataclasses import replace
from random import Random

from sbd_core.tasks.base import Example, Task, read_phrasings
from sbd_core.tasks.words import CITIES, COUNTRIES, DAYS, MONTHS, NAMES, PET_NAMES

MANNERS = read_phrasings("manners")
PROPER = {*NAMES, *CITIES, *COUNTRIES, *DAYS, *MONTHS, *PET_NAMES}
OPENER_RATE, CLOSER_RATE, LOWER_RATE, BARE_RATE = 0.3, 0.2, 0.2, 0.15


def training_example(random: Random, task: Task) -> Example:
    """Make an example for training, whose prompt is worded as loosely as visitors word theirs."""
    example = task.generate(random, "train")
    return replace(example, prompt=loosened(random, example))


def loosened(random: Random, example: Example) -> str:
    """Reword a prompt: a greeting, thanks, a small letter at the start, no sign at the end.

    Only what surrounds the request changes, as its words may be part of the answer. An infill
    prompt ends with the line to fill in, so nothing follows it.
    """
    prompt, is_line = example.prompt, example.task == "infill"
    opener = random.choice(MANNERS["openers"]) + " " if random.random() < OPENER_RATE else ""
    first = prompt.split(maxsplit=1)[0]
    goes_on = opener.endswith(", ") or random.random() < LOWER_RATE
    if goes_on and first.isalpha() and first not in PROPER:
        prompt = prompt[0].lower() + prompt[1:]
    if not is_line and random.random() < BARE_RATE:
        prompt = prompt.rstrip(".?!")
    if not is_line and random.random() < CLOSER_RATE:
        prompt += " " + random.choice(MANNERS["closers"])
    return opener + prompt
