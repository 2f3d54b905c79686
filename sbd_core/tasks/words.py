"""Plain lists of everyday names and things from which the tasks make their texts."""

from sbd_core.tasks.base import read_phrasings

_LISTS = read_phrasings("words")
WOMEN, MEN = tuple(_LISTS["women"]), tuple(_LISTS["men"])
NAMES = WOMEN + MEN
SURNAMES = tuple(_LISTS["surnames"])
CITIES, COUNTRIES = tuple(_LISTS["cities"]), tuple(_LISTS["countries"])
COLORS = tuple(_LISTS["colors"])
DAYS, MONTHS = tuple(_LISTS["days"]), tuple(_LISTS["months"])
JOBS = tuple(_LISTS["jobs"])
FOODS = tuple(_LISTS["foods"])
SPECIES: dict[str, str] = _LISTS["species"]
"""Animals, and the verb for each one's voice."""
PET_NAMES = tuple(_LISTS["pet_names"])
OBJECTS = tuple(_LISTS["objects"])
PLACES: dict[str, str] = _LISTS["places"]
"""Places, and the preposition of each."""
THINGS = tuple(_LISTS["things"])
"""Things to count, as plurals."""
