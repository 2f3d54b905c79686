"""Ways to ask for a story. Data only.

{cast} is what the story is about, as in "Mia, her dog Rex and a kite"; {at} is empty or a place.
"""

ASKS: tuple[str, ...] = (
    "Write a story about {cast}{at}.",
    "Write a short story about {cast}{at}.",
    "Tell a story about {cast}{at}.",
    "Tell me a story about {cast}{at}.",
    "Tell me a short story about {cast}{at}.",
    "Please write a little story about {cast}{at}.",
    "Please tell me a story with {cast}{at}.",
    "Make up a story about {cast}{at}.",
    "Make up a short tale about {cast}{at}.",
    "I would like a story about {cast}{at}.",
    "I want to hear a story about {cast}{at}.",
    "Can you tell me a story about {cast}{at}?",
    "Could you write a story with {cast}{at}?",
    "Write a tale with {cast}{at}.",
    "Write something about {cast}{at}.",
    "Give me a story about {cast}{at}.",
    "A story about {cast}{at}, please.",
    "A bedtime story about {cast}{at}.",
    "Write a few sentences about {cast}{at}.",
    "What happened to {cast}{at}? Tell me.",
    "Story about {cast}{at}",
    "Story: {cast}{at}",
    "story with {cast}{at}",
)
ASKS_AFTER_PET: tuple[str, ...] = (
    "{A} has a {S} called {N}. Write a story about them{rest}{at}.",
    "{A} has a {S} named {N}. Tell me what they did{at}{rest}.",
    "{A} has a {S}. Its name is {N}. Tell a story about them{rest}{at}.",
    "{N} is the {S} of {A}. Write a story about the two{rest}{at}.",
    "This is {A} with {his} {S} {N}. Tell me a story about them{rest}{at}.",
    "Let {A} and {N} the {S} be the heroes of a story{rest}{at}.",
)
PEOPLE_FORMS: tuple[str, ...] = ("{A}", "{A}", "{A}", "{A}", "a {girl} named {A}", "little {A}")
PET_FORMS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("species", "animal"): (
        "{his} {S} {N}",
        "{his} {S} {N}",
        "{N} the {S}",
        "a {S} named {N}",
        "a {S} called {N}",
    ),
    ("species",): ("{his} {S}", "a {S}"),
    ("animal",): ("{his} pet {N}", "an animal called {N}"),
    (): (),
}
PAIRS_FORMS: tuple[str, ...] = (
    "{A} and {his} {S} {N}, {B} and {her} {T} {M}",
    "{A} with {his} {S} {N}, {B} with {her} {T} {M}",
    "{A}'s {S} {N}, {B}'s {T} {M}",
    "{A}, {N} the {S}, {B}, {M} the {T}",
    "{A} who has a {S} called {N}, {B} who has a {T} called {M}",
)
AT_FORMS: tuple[str, ...] = (" {at}", " {at}", " set {at}", ", {at}")
