"""Ways to ask for a story. Data only.

{cast} is what the story is about, as in "Mia, her dog Rex and a kite"; {at} is empty or a place.
"""

from sbd_core.tasks.base import Pool


def _pool(salt: str, *entries: str) -> Pool[str]:
    """`salt` decides which are reserved for test; the plainest, at the beginning, are not."""
    return Pool(entries, key=lambda entry: f"{salt} {entry}")


# fmt: off
ASKS = _pool("au",
    "Write a story about {cast}{at}.", "Write a short story about {cast}{at}.",
    "Tell a story about {cast}{at}.", "Tell me a story about {cast}{at}.",
    "Tell me a short story about {cast}{at}.", "Please write a little story about {cast}{at}.",
    "Please tell me a story with {cast}{at}.", "Make up a story about {cast}{at}.",
    "Make up a short tale about {cast}{at}.", "I would like a story about {cast}{at}.",
    "I want to hear a story about {cast}{at}.", "Can you tell me a story about {cast}{at}?",
    "Could you write a story with {cast}{at}?", "Write a tale with {cast}{at}.",
    "Write something about {cast}{at}.", "Give me a story about {cast}{at}.",
    "A story about {cast}{at}, please.", "A bedtime story about {cast}{at}.",
    "Write a few sentences about {cast}{at}.", "What happened to {cast}{at}? Tell me.",
    "Story about {cast}{at}", "Story: {cast}{at}", "story with {cast}{at}",
    "Write a children's story about {cast}{at}.", "Tell us a tale about {cast}{at}.",
    "My son wants a story about {cast}{at}.", "Can I have a story about {cast}{at}?",
    "I need a bedtime story with {cast}{at}.", "Invent a story about {cast}{at}.",
    "Once upon a time there were {cast}{at}. Go on.", "Let us have a story about {cast}{at}.",
    "Create a short story with {cast}{at}.", "Do you know a story about {cast}{at}?",
    "Please make up something about {cast}{at}.", "Tell the kids about {cast}{at}.",
    "Write me a tiny story about {cast}{at}.", "Would you tell a story about {cast}{at}?",
    "A tale of {cast}{at}", "A fairy tale about {cast}{at}, please.", "Write about {cast}{at}.",
    "Think of a story about {cast}{at}.", "Describe a day with {cast}{at}.",
)
# Without the cast, which then comes in sentences of its own, in any order.
LEADS = _pool("f",
    "Write a story.", "Tell me a story.", "Write a short story.", "I would like a story.",
    "Please tell a story.", "Make up a story.", "Can you write a story?", "I need a story.",
    "Let me hear a tale.", "Write a bedtime story.", "Please invent a story.", "Story time!",
)
ABOUT = _pool("p",
    "It is about {cast}.", "It should be about {cast}.", "Tell of {cast}.", "The heroes are {cast}.",
    "In it are {cast}.", "It must have {cast} in it.", "There should be {cast} in it.",
    "The story is about {cast}.",
)
THERE = _pool("d",
    "It happens {at}.", "It takes place {at}.", "It should be set {at}.", "Everything happens {at}.",
    "The place: {at}.", "Let it begin {at}.",
)
ALSO = _pool("c",
    "There is {thing} in it.", "It has {thing} in it.", "Do not forget {thing}.",
    "There should be {thing}, too.", "Something with {thing}.", "Put {thing} in it.",
    "{thing} must be in it.",
)
AFTER_PET = _pool("d",
    "{A} has a {S} called {N}. Write a story about them{rest}{at}.",
    "{A} has a {S} named {N}. Tell me what they did{at}{rest}.",
    "{A} has a {S}. Its name is {N}. Tell a story about them{rest}{at}.",
    "{N} is the {S} of {A}. Write a story about the two{rest}{at}.",
    "This is {A} with {his} {S} {N}. Tell me a story about them{rest}{at}.",
    "Let {A} and {N} the {S} be the heroes of a story{rest}{at}.",
    "{A} lives with a {S} called {N}. What happens{at}{rest}?",
    "My friend {A} has a {S} named {N}. I want a story about both{rest}{at}.",
    "{N} is a {S} and belongs to {A}. Tell us about a day{at}{rest}.",
    "Here are {A} and a {S} named {N}. Make up their story{rest}{at}.",
)
PERSON = _pool("a", "{A}", "a {girl} named {A}", "a {girl} called {A}", "the {girl} {A}",
               "a little {girl}, {A}", "a {girl} with the name {A}")
# By which of its species and its name are told. {his} tells what the person is.
PETS: dict[tuple[str, ...], Pool[str]] = {
    ("species", "animal"): _pool("ah",
        "{his} {S} {N}", "{N} the {S}", "a {S} named {N}", "a {S} called {N}", "the {S} {N}",
        "{his} {S}, {N}", "a {S} whose name is {N}", "{his} beloved {S} {N}"),
    ("species",): _pool("d", "{his} {S}", "a {S}", "a nice {S}", "{his} dear {S}", "one {S}"),
    ("animal",): _pool("a", "{his} pet {N}", "an animal called {N}", "a pet named {N}",
                       "an animal by the name of {N}"),
}
PAIRS = _pool("q",
    "{A} and {his} {S} {N}, {B} and {her} {T} {M}", "{A} with {his} {S} {N}, {B} with {her} {T} {M}",
    "{A}'s {S} {N}, {B}'s {T} {M}", "{A}, {N} the {S}, {B}, {M} the {T}",
    "{A} who has a {S} called {N}, {B} who has a {T} called {M}",
    "{A} with a {S} named {N}, {B} with a {T} named {M}", "{A} with {N} the {S}, {B} with {M} the {T}",
    "the {S} {N} of {A}, the {T} {M} of {B}",
)
AT = _pool("b", " {at}", " set {at}", ", {at}", " that happens {at}", ", all {at}", " somewhere {at}")
# fmt: on
