"""Wordings so common that keeping them from training would make no fair test: everybody's words."""

from sbd_core.tasks import base

EVERYDAY = frozenset((
    "How much is {}?", "Find {}.", "one third of {m}", "1/4 of {m}",
    "later", "in the morning,", "in the afternoon,",
    "how many are left?", "how many {thing} are left?", "how many {thing} <do> {A} have now?",
    "how many {thing} <do> {A} have?", "how many {thing} <do> {A} have in all?",
    "how many pages are left?", "how many points <do> {A} have now?",
    "how many more <do> {A} have?",
    "what is the area?", "what is the number?", "what do you get?", "how much does each one pay?",
    "{A} <have> {n} {thing}", "{A} <have> {m} {thing}", "{A} <buy> {k} {ware} for {p} {cur} each",
    "{A} <buy> {k} {ware} at {p} {cur} each", "half of them <be:p> sold",
    "half of the {n} {thing} <be:p> {color}", "{C} <have:s> {n} more {thing} than {A}",
    "{C} <have:s> twice as many {thing} as {A}", "{C} <have:s> twice as many as {A}",
    "{C} <have:s> {n} fewer than {A}", "{Q} <have:s> twice as many {thing} as {P}",
    "{Q} <have:s> three times as many as {P}", "{he} <give> {n} {thing} to each of {k} friends",
    "{k} children <share:p> them equally", "{he} <read> {n} pages", "{he} <spend> {n} {thing}",
    "{n} more <get:p> on", "{n} {thing} <get:p> off", "{n} more <come:p>",
    "{B} <give:s> {him} {n} {thing}", "{A} <work> {m} hours for {n} {thing} an hour",
    "the temperature <fall:s> by {n} degrees", "{C} <be:s> {n} years younger",
    "{n} <be:p> sold in the morning and {k} in the afternoon",
))  # fmt: skip


def is_reserved(wording: str) -> bool:
    """Whether a wording or name of a problem is for the test split alone."""
    return wording not in EVERYDAY and base.is_reserved(wording)
