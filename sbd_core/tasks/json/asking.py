"""What a request says: the names of the fields in some style, and the instruction around them.

An instruction has the slots {fields} and {this}, the text it is about; it stands before or
after that text.
"""

import re
from collections.abc import Sequence
from random import Random

from sbd_core.tasks.base import Grammar, Pool, Wording
from sbd_core.tasks.json.rewording.instructing import PARTS, SHAPES, is_question
from sbd_core.tasks.json.telling import is_noun
from sbd_core.tasks.json.values import listed

STYLES = ("plain", "snake", "camel", "capital")
STYLE_WEIGHTS = (50, 22, 20, 8)
AFTER_RATE, QUOTE_RATE, ARTICLE_RATE, NULL_RATE = 0.35, 0.14, 0.12, 0.08
COMPOSED_RATE, SMALL_RATE = 0.6, 0.06
QUOTES = ('"', '"', '"', "'", "`")
LISTED = re.compile(r"(?i)(fields|keys|entries|:|of|what are) ?\{fields")
HUMP = re.compile(r"(?<!^)(?=[A-Z])|_| ")

INSTRUCTIONS = Pool((
    "Extract {fields} as JSON", "Extract {fields} from {this} as JSON",
    "Extract the following fields as JSON: {fields}", "Extract the fields {fields} as JSON",
    "Extract the following fields: {fields}", "Please extract {fields} as JSON",
    "Give {fields} as JSON", "Give me {fields} as JSON", "Give the JSON with {fields}",
    "Give {fields} of {this} in JSON", "Return {fields} as JSON", "Return JSON with {fields}",
    "Return a JSON object with {fields}", "Return a JSON object with keys {fields}",
    "Return a JSON object with the keys {fields}", "Return only JSON with the fields {fields}",
    "Write {fields} as JSON", "Write JSON with {fields} from {this}", "Write a JSON object with {fields}",
    "Write one line of JSON with {fields}", "Write {this} as JSON with {fields}",
    "Turn {this} into JSON with {fields}", "Turn {this} into JSON with the keys {fields}",
    "Convert {this} to JSON with the fields {fields}", "Convert to JSON with {fields}",
    "Convert {this} to a JSON object with {fields}", "Convert to JSON (keys: {fields})",
    "Find {fields} and answer in JSON", "Find {fields} in {this} and give them as JSON",
    "Put {fields} into JSON", "Put {this} into JSON with the keys {fields}",
    "Make a JSON object with {fields}", "Make JSON from {this}, with the keys {fields}",
    "Create a JSON object with {fields}", "Create JSON with the fields {fields}",
    "Build a JSON record with {fields} from {this}", "Read {this} and return {fields} as JSON",
    "Read {this} and fill a JSON object with {fields}", "Get {fields} from {this} as JSON",
    "Get the JSON for {fields}", "Pull out {fields} as JSON", "Pick {fields} out of {this}, in JSON",
    "List {fields} as JSON", "Output JSON with {fields}", "Output {fields} in JSON format",
    "Answer in JSON with {fields}", "Answer only with JSON that has {fields}",
    "What are {fields}? Answer in JSON", "I need {fields} as JSON", "I want a JSON object with {fields}",
    "Can you give me {fields} as JSON", "Could you turn {this} into JSON with {fields}",
    "Show {fields} as JSON", "Tell me {fields} in JSON", "Store {fields} as JSON",
    "Represent {this} as JSON with {fields}", "Summarize {this} as JSON with {fields}",
    "Format {fields} as JSON", "Parse {this} into JSON with the fields {fields}",
    "Parse {fields} out of {this} as JSON", "Fill in the JSON keys {fields} from {this}",
    "Collect {fields} in a JSON object", "Report {fields} as JSON", "Note {fields} as JSON",
    "Use {this} to make JSON with {fields}", "From {this}, give {fields} in JSON",
    "From {this}, extract {fields} as a JSON object", "As JSON, with {fields}", "JSON with {fields}",
    "JSON fields: {fields}", "Keys: {fields}. Give JSON", "Fields: {fields}. Answer as JSON",
    "Transform {this} into a JSON object with keys {fields}", "Encode {fields} as JSON",
    "Take {fields} from {this} and write JSON", "Do this as JSON with the keys {fields}",
))  # fmt: skip
COMPOSED = Grammar(SHAPES, PARTS, INSTRUCTIONS.reserved)
BEFORE = ("{ask}: {text}", "{ask}: {text}", "{ask}.\n{text}", "{ask}:\n{text}", '{ask}: "{text}"',
          "{ask}. {text}", "{ask}. Text: {text}", "{ask}.\n\nText: {text}", "{ask}:\n\n{text}",
          "{ask}: {text}\nJSON:", "{ask}.\n{text}\nJSON:", "{ask}. Input: {text}",
          '{ask}:\n"{text}"', "{ask} - {text}", "{ask}. Here it is: {text}", "{ask}. Here is the text: {text}",
          "{ask}.\nInput: {text}\nOutput:", "{ask}.\nText: {text}\nJSON:", "{ask}.\n---\n{text}", "{ask}.\n\n{text}",
          "{ask}.\nText: {text}", "{ask}. The text: {text}", '{ask}. "{text}"', "{ask}.\n\nInput:\n{text}",
          "{ask}. Note: {text}", "{ask}. Message: {text}", "{ask}.\nText:\n{text}", "{ask}\n{text}")  # fmt: skip
AFTER = ("{text} {ask}.", "{text}\n{ask}.", "{text}\n\n{ask}.", "Text: {text}\n{ask}.",
         "Text: {text} {ask}.", '"{text}" {ask}.', "{text}\n{ask}:", "{text} {ask}:",
         '"{text}"\n{ask}.', "Input: {text}\n{ask}.", "Here is a text: {text} {ask}.", "Message: {text}\n{ask}.",
         "Text:\n{text}\n\n{ask}.", "Note: {text}\n{ask}.", "{text}\n---\n{ask}.", "{text}\n{ask}", "{text}\n\n{ask}:",
         "Read this: {text} {ask}.")  # fmt: skip
THIS_BEFORE = (
    "this", "this", "this text", "this text", "the text", "the text below", "the following", "the following text",
    "this message", "the message", "this note", "the note below", "this passage", "the passage below", "the description",
    "the lines below", "the sentences below", "the facts below", "these facts", "these sentences", "the message below",
    "this piece of text", "the input", "the text that follows", "the information below", "this description",
)  # fmt: skip
THIS_AFTER = (
    "this", "this", "this text", "this text", "the text", "the text above", "that", "the message", "the note above",
    "the passage above", "the lines above", "the sentences above", "the facts above", "these facts", "this message",
    "that text", "the above", "the input", "the information above", "that note",
)  # fmt: skip
BRACES_RATE, LINES_RATE = 0.025, 0.12
HOLES = ("...", "...", "?", '""')
BEFORE_LINES = ("{ask}\n\n{text}", "{ask}\n\nText: {text}", "{ask}\nText: {text}")
AFTER_LINES = ("{text}\n\n{ask}", "Text: {text}\n\n{ask}", "{text}\n{ask}")
NULL_RULES = (
    "Use null for what is not told.", "Use null if something is missing.", "Missing values are null.",
    "Put null where the text does not say.", "If a value is not given, use null.",
    "Use null for missing values.", "Write null for anything missing.", "Unknown values are null.", "Leave what is unknown as null.",
    "If the text does not tell a value, put null.", "What is not in the text is null.", "Set missing fields to null.",
    "Where nothing is said, write null.", "Use null when you cannot tell.", "If something is unknown, put null.",
)  # fmt: skip


def named(name: str, style: str) -> str:
    """A field's name in a style: "phone number", "phone_number", "phoneNumber", "Phone number"."""
    if style == "snake":
        return name.replace(" ", "_")
    if style == "camel":
        first, *rest = name.split(" ")
        return first + "".join(map(str.capitalize, rest))
    return name[0].upper() + name[1:] if style == "capital" else name


def plain(key: str) -> str:
    """The name that `named` was given, whatever the style."""
    return HUMP.sub(" ", key).lower()


def ask(random: Random, wording: Wording, keys: Sequence[str], style: str, text: str) -> str:
    """The request for `keys` with the text it is about."""
    is_composed = wording == "seen" and random.random() < COMPOSED_RATE
    form = COMPOSED.draw(random) if is_composed else INSTRUCTIONS.draw(random, wording)
    if wording == "seen" and random.random() < SMALL_RATE and form[1].islower():
        form = form[0].lower() + form[1:]
    is_after = random.random() < AFTER_RATE
    arounds: Sequence[str] = AFTER if is_after else BEFORE
    this = random.choice(THIS_AFTER if is_after else THIS_BEFORE)
    fields = _fields(random, keys, form, may_have_article=style == "plain")
    if form.endswith("{fields}") and random.random() < LINES_RATE:
        fields, form = "".join(f"\n- {key}" for key in keys), form.replace(" {fields}", "{fields}")
        arounds = AFTER_LINES if is_after else BEFORE_LINES
    request = form.format(fields=fields, this=this)
    if "JSON" not in request:
        request = random.choice(("Answer in JSON. ", "Use JSON. ", "Write JSON. ")) + request
    if random.random() < NULL_RATE and not fields.startswith("\n"):
        request += ". " + random.choice(NULL_RULES)[:-1]
    around = random.choice(arounds)
    if is_question(request):
        around = around.replace("{ask}.", "{ask}?")
    elif request.endswith("?"):
        around = around.replace("{ask}.", "{ask}").replace("{ask}:", "{ask}")
    return around.format(ask=request, text=text)


def _fields(random: Random, keys: Sequence[str], form: str, *, may_have_article: bool) -> str:
    """The keys as a list in a sentence, at times quoted, or as the object to be filled."""
    chance = random.random()
    if chance < BRACES_RATE:
        return "{" + ", ".join(keys) + "}"
    if chance < 2 * BRACES_RATE:
        hole = random.choice(HOLES)
        return "{" + ", ".join(f'"{key}": {hole}' for key in keys) + "}"
    shown = list(keys)
    if random.random() < QUOTE_RATE:
        mark = random.choice(QUOTES)
        shown = [f"{mark}{key}{mark}" for key in keys]
    elif (
        may_have_article
        and random.random() < ARTICLE_RATE
        and all(map(is_noun, keys))
        and not LISTED.search(form)
    ):
        shown = [f"the {key}" for key in keys]
    return listed(shown, random.choice((" and ", " and ", " and ", ", ", ", ", " plus ", " & ")))
