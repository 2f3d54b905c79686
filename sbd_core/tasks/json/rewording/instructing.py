"""Instructions to answer in JSON, to be put together from parts. Data; knows no field.

{fields} and {this} as in `asking`.
"""

import re

# fmt: off
PARTS: dict[str, tuple[str, ...]] = {
    "get": ("extract", "get", "get me", "give", "give me", "give us", "return", "write", "write down", "find",
            "list", "output", "report", "collect", "pull out", "pick out", "read", "read off", "look up", "show",
            "show me", "send", "send me", "send back", "provide", "print", "state", "gather", "fetch", "identify",
            "tell me", "tell us", "present", "deliver", "supply", "hand me", "record", "export", "put down", "work out"),
    "turn": ("turn {this} into", "convert {this} to", "convert {this} into", "transform {this} into", "change {this} into",
             "change {this} to", "translate {this} into", "translate {this} to", "rewrite {this} as", "rewrite {this} into",
             "put {this} into", "parse {this} into", "parse {this} as", "make {this} into", "map {this} to", "bring {this} into",
             "reduce {this} to", "express {this} as", "write {this} as", "give {this} as", "render {this} as", "render {this} in",
             "condense {this} into", "restate {this} as", "give me {this} as", "sum up {this} in", "show {this} as",
             "boil {this} down to"),
    "make": ("make", "build", "create", "write", "return", "give", "give me", "produce", "form", "fill", "output", "prepare",
             "generate", "compose", "send", "send back", "draw up", "print", "write down", "show", "show me", "hand me",
             "put together", "construct", "reply with", "answer with", "respond with", "come up with", "set up", "provide"),
    "object": ("a JSON object", "one JSON object", "JSON", "JSON", "a line of JSON", "one line of JSON", "a JSON record",
               "a single JSON object", "some JSON", "valid JSON", "a small JSON object", "a piece of JSON", "nothing but JSON",
               "an object in JSON", "a JSON line", "plain JSON", "a JSON dictionary"),
    "as": ("as JSON", "as JSON", "in JSON", "as a JSON object", "in JSON format", "in a JSON object", "as one JSON object",
           "as one line of JSON", "as a line of JSON", "as valid JSON", "as JSON only", "in plain JSON", "as plain JSON",
           "as a single JSON object", "as an object in JSON", "as a JSON record", "in one JSON object", "as a JSON line",
           "in the JSON format", "as a JSON dictionary", "in JSON form", "in one line of JSON", "using JSON"),
    "with": ("with", "with", "that has", "that holds", "that contains", "containing", "holding", "with the keys",
             "with the fields", "with the entries", "with only", "with just", "with keys", "with fields", "which has",
             "made of", "made up of", "that gives", "that shows", "that lists", "with exactly", "that tells", "of"),
    "what": ("{fields}", "{fields}", "{fields}", "the fields {fields}", "the values of {fields}", "the values for {fields}",
             "only {fields}", "just {fields}", "the facts {fields}", "these fields ({fields})",
             "the data on {fields}", "the entries for {fields}", "the information on {fields}"),
    "from": ("", "", " from {this}", " out of {this}", " given in {this}", " told in {this}", " found in {this}",
             " using {this}", " based on {this}", " by reading {this}"),
    "source": ("", "", " from {this}", " out of {this}", " for {this}", " using {this}", " based on {this}"),
    "answer": ("answer in JSON", "answer with JSON", "reply in JSON", "reply with JSON", "respond in JSON", "use JSON",
               "respond with JSON", "give JSON", "give me JSON", "write JSON", "answer as a JSON object", "reply as JSON",
               "answer with a JSON object", "reply with a JSON object", "respond with one JSON object", "write it as JSON",
               "answer with one line of JSON", "put it in JSON", "put the answer in JSON", "the answer should be JSON",
               "the answer must be JSON", "return JSON", "send JSON", "JSON please", "JSON only"),
    "polite": ("please", "can you", "could you", "could you please", "would you", "I want you to", "I would like you to",
               "your task is to", "now", "your job is to", "you should", "try to", "kindly", "it is your turn to", "let us",
               "can you please", "would you please", "I need you to", "we need you to", "go ahead and",
               "help me", "help us", "you are to", "next,", "first,"),
    "need": ("I need", "I want", "I would like", "we need", "we want", "I am looking for", "I only need", "I only want",
             "we would like", "what I need is", "what we need is", "what I want is", "all I need is", "we are after",
             "let me have", "let us have", "I have to know", "I should like to have", "may I have", "can I have",
             "could I have", "could we have", "I must have"),
    "names": ("fields", "keys", "needed", "wanted", "needed fields", "wanted fields", "JSON keys", "the keys", "the fields",
              "required", "required fields", "required keys", "entries", "attributes", "properties", "values wanted",
              "information needed", "please find", "to find", "to extract", "schema", "slots to fill"),
    "ask": ("what are {fields}?", "what is told about {fields}?", "what does {this} say about {fields}?",
            "which are {fields}?", "what do we learn about {fields}?", "what do you know about {fields}?",
            "what is known about {fields}?", "what can be said about {fields}?", "what does {this} give for {fields}?",
            "what are the values of {fields}?", "what are the values for {fields}?",
            "can you find {fields}?", "could you find {fields}?", "can you tell {fields}?", "which values do {fields} have?"),
    "look": ("read {this} and", "look at {this} and", "go through {this} and", "take {this} and", "study {this} and",
             "use {this} and", "from {this},", "with {this},", "given {this},", "based on {this},", "look through {this} and",
             "check {this} and", "scan {this} and", "after reading {this},", "having read {this},", "going by {this},"),
}
SHAPES: tuple[str, ...] = (
    "<get> <what><from> <as>", "<get> <what><from> <as>", "<get> <what> <as><source>", "<as>, <get> <what><from>",
    "<turn> <object> <with> {fields}", "<turn> <object> <with> {fields}", "<turn> <object> (keys: {fields})",
    "<make> <object> <with> {fields}<source>", "<make> <object> <with> {fields}", "<make> <object><source> <with> {fields}",
    "<polite> <get> <what><from> <as>", "<polite> <get> <what> <as>", "<polite> <turn> <object> <with> {fields}",
    "<polite> <make> <object> <with> {fields}", "<look> <get> <what> <as>", "<look> <make> <object> <with> {fields}",
    "<need> <what><from> <as>", "<need> <object> <with> {fields}", "<need> <what> <as>",
    "<names>: {fields}. <answer>", "<names>: {fields}; <answer>", "<answer>. <names>: {fields}", "<answer>, <names>: {fields}",
    "<ask> <answer>", "<ask> <answer>", "<answer>: <ask>", "<get> <what>. <answer>", "<get> <what><from>, and <answer>",
    "<get> the following <as>: {fields}", "<get> the following details <as>: {fields}", "{fields} <as>", "{fields}, <as>",
    "<what><from> <as>", "<object> <with> {fields}", "<object> <with> {fields}, please", "<get> <what> <as>, please",
)
# fmt: on
QUESTION = re.compile(r"(?i)(can|could|would|may) (you|I|we|us)\b[^.?]*$")


def is_question(request: str) -> bool:
    """Whether a request that has no mark at its end wants one of a question."""
    return QUESTION.match(request) is not None
