"""Sentences whose words follow from one another, with the words that may be blanked. Data only.

«red» may become a blank; «red|crimson» accepts either, the first is the answer. Of the words
marked with one group number, as in «1=Mia» and «1=Mia», at most one is blanked, as the others
tell it. Slots: {A} {B} people, {he} {him} {his} {He} for {A}, {S} {N} an animal, {T} another
species, {k} {l} things, {ks} {ls} their plurals, {color} {hue} colors, {place}, {town} {other}
cities; numbers {a} + {b} = {c} and {m} * {n} = {p}; {w} {v} a pair of words.
"""

ASKS: tuple[str, ...] = (
    "Fill in the blanks:", "Fill in the blank:", "Fill the gaps:", "Fill in the missing words:",
    "Complete the line:", "Complete this:", "Complete:", "Please fill in the blanks:",
    "Write the line with the blanks filled:", "What is missing?", "What goes in the blanks?",
    "Put the right words in the blanks:", "Finish this line:", "Which words are missing?",
    "Replace the blanks:", "Add the missing parts:", "Fill in:", "Can you fill the gaps?",
)  # fmt: skip
ASKS_AFTER: tuple[str, ...] = (
    "Fill in the blanks.", "Fill the gaps.", "What is missing?", "Complete the line.",
)  # fmt: skip

FACTS: tuple[str, ...] = (
    "«1={A}» has a {S} called {N}. «1={A}» loves «{N}|it».",
    "{A} and «{his}» {S} «2={N}» saw the «1={place}». At the «1={place}» {he} and «2={N}» played.",
    "The «1={k}» is «2={color}». What a nice «2={color}» «1={k}»!",
    "{A} has a «1={color}» {k}, and {B} has a «2={hue}» {l}. The {k} is «1={color}». The {l} is "
    "«2={hue}».",
    "{A} likes {color} and {B} likes {hue}, so {A} takes the «{color}» {k} and {B} takes the "
    "«{hue}» one.",
    "«1={A}» lost «{his}» {k}. {B} found the «{k}» and gave it to «1={A}».",
    "{A} said that «{he}» was tired, so {B} carried «{him}».",
    "{A} washed «{his}» hands before «{he}» ate.",
    "«1={N}» is a {S}. {A} feeds «1={N}» every day, and the «{S}» is happy.",
    "{A} has a {S} and {B} has a {T}. The «{S}» of {A} is called {N}.",
    "{A} has a {S} and {B} has a {T}. The «{T}» of {B} is called {N}.",
    "{A} went from {town} to {other}. First {he} was in «{town}», then in «{other}».",
    "{A} lives in {town}, and {B} lives in {other}. To see {B}, {A} must go to «{other}».",
    "{A} gave {B} a {k}. Now «{B}» has the «{k}».",
    "{A} sold the {k} to {B}. {B} bought the «{k}» from «{A}».",
    "If {A} is older than {B}, then {B} is younger than «{A}».",
    "{A} is taller than {B}, so {B} is «shorter|smaller» than «{A}».",
    "There is a {k} on the table and a {l} under it. Under the table is the «{l}».",
    "There is a {k} on the table and a {l} under it. On the table is the «{k}».",
    "{A} put the {k} in the box. The «{k}» is in the «box».",
    "{A} has a {k}, {B} has a {l}. Who has the {l}? «{B}». Who has the {k}? «{A}».",
    "Q: What color is the {color} {k}? A: It is «{color}».",
    "My name is {A}. People call me «{A}».",
    "My {S} is called {N}. «{N}» is a good «{S}».",
    "{A}, {B} and {N} the {S} are in the {place}. The only animal is «{N}».",
    "{He} is called {A}. «{A}» has a {k}, and {he} plays with «{his}» «{k}».",
)

GRAMMAR: tuple[str, ...] = (
    "I have a {k} and {A} «has» a {l}.",
    "{A} has a {k}, and you «have» a {l}.",
    "I am at home, {A} «is» not.",
    "{A} is in {town}, and we «are» in {other}.",
    "{A} was happy, and the others «were» happy too.",
    "One {k}, two «{ks}».",
    "There «is» one {k}, and there «are» two {ls}.",
    "{A} likes {ks}, and I «like» {ks} too.",
    "I do not know {A}, and {he} «does» not know me.",
    "This {k} is mine and those «{ks}» are yours.",
    "{A} has many {ks}, but I have only one «{k}».",
    "{A} and {B} «are» friends, and {A} «is» from {town}.",
    "A {k} costs {m} dollars, two «{ks}» cost more.",
    "{A} can sing, and {he} can dance «as» well as {B}.",
)
WORD_PAIRS: dict[str, tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = {
    "opposite": (
        (
            "The opposite of {w} is «{v}».",
            "The opposite of {v} is «{w}».",
            "Something that is not {w} is «{v}».",
            "{A} says {w}, but {B} says the opposite: «{v}».",
            "This {k} is {w} and that {l} is the opposite, «{v}».",
        ),
        (
            ("hot", "cold"), ("big", "small"), ("fast", "slow"), ("old", "young"), ("up", "down"),
            ("day", "night"), ("open", "closed"), ("full", "empty"), ("wet", "dry"),
            ("light", "dark"), ("long", "short"), ("left", "right"), ("early", "late"),
            ("rich", "poor"), ("hard", "soft"), ("high", "low"), ("clean", "dirty"),
            ("strong", "weak"), ("loud", "quiet"), ("good", "bad"), ("true", "false"),
            ("inside", "outside"), ("happy", "sad"), ("near", "far"), ("first", "last"),
        ),
    ),
    "plural": (
        ("One {w}, two «{v}».", "{A} saw one {w}, and {B} saw many «{v}».", "{m} {v}, one «{w}»."),
        (
            ("mouse", "mice"), ("foot", "feet"), ("tooth", "teeth"), ("child", "children"),
            ("man", "men"), ("woman", "women"), ("goose", "geese"), ("leaf", "leaves"),
            ("knife", "knives"), ("wolf", "wolves"), ("city", "cities"), ("baby", "babies"),
            ("box", "boxes"), ("bus", "buses"), ("sheep", "sheep"), ("fish", "fish"),
        ),
    ),
    "past": (
        (
            "Today we {w}, yesterday we «{v}».",
            "Today I {w} with {A}. Yesterday I «{v}» with {B}.",
            "Yesterday they {v}, and today they «{w}».",
        ),
        (
            ("go", "went"), ("eat", "ate"), ("run", "ran"), ("sing", "sang"), ("swim", "swam"),
            ("write", "wrote"), ("sleep", "slept"), ("drink", "drank"), ("fly", "flew"),
            ("play", "played"), ("dance", "danced"), ("win", "won"), ("speak", "spoke"),
            ("drive", "drove"), ("fall", "fell"), ("laugh", "laughed"), ("work", "worked"),
        ),
    ),
    "more": (
        (
            "{A} is {w}, but {B} is even «{v}».",
            "The {k} is {v} than the {l}, which is not so «{w}».",
            "If the {S} is {w}, the {T} is «{v}».",
        ),
        (
            ("big", "bigger"), ("fast", "faster"), ("tall", "taller"), ("old", "older"),
            ("small", "smaller"), ("strong", "stronger"), ("happy", "happier"), ("good", "better"),
            ("bad", "worse"), ("heavy", "heavier"), ("long", "longer"), ("cold", "colder"),
        ),
    ),
    "young": (
        (
            "A young {w} is a «{v}».",
            "The {w} of {A} has a little one, a «{v}».",
            "A {v} grows up to be a «{w}».",
        ),
        (
            ("dog", "puppy"), ("cat", "kitten"), ("cow", "calf"), ("sheep", "lamb"),
            ("hen", "chick"), ("horse", "foal"), ("duck", "duckling"), ("pig", "piglet"),
        ),
    ),
}  # fmt: skip
NUMBERS: tuple[str, ...] = (
    "«1={a}» + «1={b}» = «1={c}»",
    "«1={c}» - «1={b}» = «1={a}»",
    "«1={m}» * «1={n}» = «1={p}»",
    "«1={p}» / «1={m}» = «1={n}»",
    "{a} + {b} = «{c}» and {m} * {n} = «{p}»",
    "{m} + {n} = {n} + «{m}»",
    "«1={a}» plus «1={b}» is «1={c}».",
    "«1={c}» minus «1={b}» is «1={a}».",
    "«1={m}» times «1={n}» is «1={p}».",
    "{A} has «1={a}» {ks} and gets «1={b}» more. Now {he} has «1={c}» «{ks}».",
    "{A} had «1={c}» {ks} and gave «1={b}» to {B}. Now {he} has «1={a}».",
    "There are «1={m}» boxes with «1={n}» {ks} each, so «1={p}» {ks} in all.",
    "{A} is «1={a}» years old. In «1={b}» years {he} will be «1={c}».",
    "One {k} costs «1={m}» dollars, so «1={n}» {ks} cost «1={p}» dollars.",
    "{A} has {a} {ks} and {B} has {b} {ls}. {B} has «{b}» {ls}, and {A} has «{a}» {ks}.",
    "After {a} comes «{next_a}».",
    "Before {a} comes «{before_a}».",
    "Half of {double} is «{n}», and two times {n} is «{double}».",
)
