"""Puzzles about prices, wages, saving and change. Data only."""

from sbd_core.tasks.math.puzzles.puzzle import Puzzle

HAS_MONEY = (
    "{A} <have> {m} {cur}", "{A} <bring> {m} {cur}", "there <be:p> {m} {cur} in {As} wallet",
    "{A} <go> to the shop with {m} {cur}", "{A} <get> {m} {cur} from {B}",
    "{A} <start> with {m} {cur}", "{B} <give:s> {him} {m} {cur}", "{A} <take> {m} {cur} along",
    "{As} pocket money <be:s> {m} {cur}", "{A} <save> up {m} {cur}",
)  # fmt: skip
LEFT = (
    "how much <do> {A} have left?", "how much money <do> {A} have left?",
    "how many {cur} are left?", "how much is left over?", "how many {cur} <do> {A} still have?",
    "what is left of the money?", "how much money remains?", "find how much is left.",
    "how much money is left after that?", "tell me how many {cur} {A} <have> now.",
    "how many {cur} <do> {A} have afterwards?", "what <do> {A} have left?",
)  # fmt: skip
TOTAL = (
    "how much is that in total?", "how much is that altogether?", "what is the total?",
    "how much <do> {A} pay?", "how much <do> {A} pay in all?", "what does it cost altogether?",
    "how many {cur} is that?", "how much money is that?", "find the total cost.",
    "what is the bill?", "how much <do> {A} spend?", "how many {cur} <do> {A} spend?",
    "what <do> {A} have to pay?",
)  # fmt: skip
BUYS_AT = (
    "{A} <buy> {k} {ware} for {p} {cur} each", "{A} <buy> {k} {ware} at {p} {cur} each",
    "{A} <buy> {k} {ware} that <cost:p> {p} {cur} each", "{A} <get> {k} {ware} at {p} {cur} apiece",
    "{A} <buy> {k} {ware}. each one <cost:s> {p} {cur}", "{A} <pay> for {k} {ware} of {p} {cur} each",
    "{A} <take> {k} {ware}. a {one_ware} <be:s> {p} {cur}", "{k} {ware} for {p} {cur} each <be:p> bought",
    "{A} <pick> {k} {ware}, and every {one_ware} <cost:s> {p} {cur}",
    "{A} <order> {k} {ware} for {p} {cur} a piece", "{A} <spend> {p} {cur} on each of {k} {ware}",
)  # fmt: skip

SPEND = Puzzle(
    numbers="k=2..9 p=2..40 m=k*p+1..90",
    steps=("k * p", "m - _"),
    facts=(HAS_MONEY, BUYS_AT),
    questions=LEFT,
    whole=(
        "{A} <have> {m} {cur} and <buy> {k} {ware} at {p} {cur} each. how much is left?",
        "out of {m} {cur}, {A} <spend> {p} {cur} on each of {k} {ware}. what is left?",
        "{A} <pay> for {k} {ware}, {p} {cur} each, with {m} {cur}. how much change <do> {A} get?",
        "how much is left of {m} {cur} after buying {k} {ware} for {p} {cur} each?",
        "what change comes back from {m} {cur} for {k} {ware} at {p} {cur} each?",
        "{k} {ware} at {p} {cur} each are paid with {m} {cur}. what is the change?",
    ),
    weight=3,
)  # fmt: skip
SPEND_TWICE = Puzzle(
    numbers="p=2..90 q=2..90 m=p+1..400",
    steps=("p + q", "m - _"),
    facts=(
        HAS_MONEY,
        ("{A} <buy> a {one_ware} for {p} {cur} and a {one_ware2} for {q} {cur}",
         "a {one_ware} <cost:s> {p} {cur}, a {one_ware2} <cost:s> {q} {cur}, and {A} <buy> both",
         "{A} <spend> {p} {cur} on {ware} and {q} {cur} on {ware2}",
         "{A} <pay> {p} {cur} for a {one_ware} and {q} for a {one_ware2}",
         "{A} <give> {B} {p} {cur} and <pay> {q} {cur} for a {one_ware}",
         "{A} <pick> a {one_ware} at {p} {cur} and a {one_ware2} at {q} {cur}",
         "first {A} <pay> {p} {cur} for {ware}, then {q} {cur} for {ware2}"),
    ),
    questions=LEFT,
    whole=(
        "{A} <have> {m} {cur}, <spend> {p} on {ware} and {q} on {ware2}. how much is left?",
        "{ware} for {p} {cur} and {ware2} for {q} {cur} are paid with {m} {cur}. what change comes back?",
    ),
    weight=2,
)  # fmt: skip
COST = Puzzle(
    numbers="k=2..20 p=2..20",
    steps=("k * p",),
    facts=(
        ("one {one_ware} <cost:s> {p} {cur}", "a {one_ware} <be:s> {p} {cur}", "{ware} <cost:p> {p} {cur} each",
         "the price of a {one_ware} <be:s> {p} {cur}", "each {one_ware} <cost:s> {p} {cur}",
         "a shop <sell:s> {ware} for {p} {cur} each", "every {one_ware} in the shop <cost:s> {p} {cur}"),
        ("{A} <buy> {k} {ware}", "{A} <want> {k} of the {ware}", "{A} <need> {k} {ware}", "{A} <take> {k} {ware}",
         "{A} <order> {k} {ware}", "{k} {ware} <be:p> in {As} basket", "{A} <choose> {k} {ware}"),
    ),
    questions=TOTAL,
    whole=(
        "what do {k} {ware} cost at {p} {cur} each?", "how much are {k} {ware} for {p} {cur} each?",
        "{k} {ware}, {p} {cur} each: how much is that?", "find the price of {k} {ware} at {p} {cur} apiece.",
        "if one {one_ware} costs {p} {cur}, what do {k} {ware} cost?", "a {one_ware} is {p} {cur}. and {k} of them?",
        "{A} <pay> {p} {cur} for each of {k} {ware}. what is the total?",
        "how much <do> {A} pay for {k} {ware} if each one is {p} {cur}?",
    ),
    weight=2,
)  # fmt: skip
BASKET = Puzzle(
    numbers="k=2..9 p=2..20 l=2..9 q=2..20",
    steps=("k * p", "l * q", "_1 + _2"),
    facts=(
        BUYS_AT,
        ("{A} <buy> {l} {ware2} for {q} {cur} each", "{A} <get> {l} {ware2} at {q} {cur} each",
         "{A} also <want> {l} {ware2} at {q} {cur} each", "{l} {ware2} for {q} {cur} each <come:p> on top",
         "{A} <take> {l} {ware2} that <cost:p> {q} {cur} each", "{A} <add> {l} {ware2} of {q} {cur} each"),
    ),
    questions=TOTAL,
    whole=(
        "what do {k} {ware} at {p} {cur} and {l} {ware2} at {q} {cur} cost together?",
        "{A} <buy> {k} {ware} for {p} {cur} each and {l} {ware2} for {q} {cur} each. what is the bill?",
        "{k} {ware} cost {p} {cur} each and {l} {ware2} cost {q} {cur} each. what do they cost in all?",
    ),
    is_ordered=True,
)  # fmt: skip
UNIT_PRICE = Puzzle(
    numbers="k=2..12 t=k*2..30",
    steps=("t / k",),
    facts=(
        ("{k} {ware} <cost:p> {t} {cur}", "{A} <pay> {t} {cur} for {k} {ware}", "{A} <buy> {k} {ware} for {t} {cur} in all",
         "for {k} {ware} the bill <be:s> {t} {cur}", "a box of {k} {ware} <cost:s> {t} {cur}",
         "the price of {k} {ware} <be:s> {t} {cur}", "{A} <spend> {t} {cur} on {k} {ware}",
         "{A} <sell> {k} {ware} for {t} {cur} in total"),
    ),
    questions=(
        "how much is one {one_ware}?", "what does one {one_ware} cost?", "what is the price of one {one_ware}?",
        "what is the price of a single {one_ware}?", "how many {cur} is one of them?", "how much does each one cost?",
        "how much is each {one_ware}?", "what does each {one_ware} cost?", "find the price of one.",
    ),
    whole=(
        "if {k} {ware} cost {t} {cur}, what does one cost?", "{k} {ware} for {t} {cur}: how much is one of them?",
        "how much is one {one_ware} when {k} of them cost {t} {cur}?", "{t} {cur} for {k} {ware}. what is the price of one?",
    ),
)  # fmt: skip
WAGE = Puzzle(
    numbers="h=2..12 p=2..25 e=5..90",
    steps=("h * p", "_ + e"),
    facts=(
        ("{A} <work> {h} hours for {p} {cur} an hour", "{A} <earn> {p} {cur} an hour and <work> {h} hours",
         "{A} <get> {p} {cur} an hour for {h} hours of work", "for {h} days {A} <earn> {p} {cur} a day",
         "{A} <sell> {h} {ware} for {p} {cur} each", "{A} <wash> {h} cars for {p} {cur} each",
         "{A} <save> {p} {cur} a week for {h} weeks", "every week {A} <save> {p} {cur}, for {h} weeks"),
        ("{B} <give:s> {him} {e} {cur}", "{A} <get> a tip of {e} {cur}", "{A} <find> {e} {cur}",
         "{A} <have> {e} {cur} already", "there <be:s> a bonus of {e} {cur} for {him}",
         "{A} <get> {e} {cur} for a birthday", "{As} savings <be:p> {e} {cur}"),
    ),
    questions=(
        "how much money is that in all?", "how many {cur} <do> {A} have in total?", "how much <do> {A} have altogether?",
        "how much is that in total?", "what is the sum?", "how much money <do> {A} have in the end?",
        "how many {cur} is that together?", "find how much {A} <have> in all.",
    ),
)  # fmt: skip
GOAL = Puzzle(
    numbers="m=2..300 g=m+2..300",
    steps=("g - m",),
    facts=(
        ("a {one_ware} <cost:s> {g} {cur}", "{A} <want> a {one_ware} for {g} {cur}", "{A} <need> {g} {cur} for a trip",
         "{A} <dream> of a bike for {g} {cur}", "the price of the {one_ware} <be:s> {g} {cur}",
         "{A} <save> for a camera that <cost:s> {g} {cur}"),
        ("{A} <have> {m} {cur}", "{A} <have> {m} {cur} so far", "{A} already <have> {m} {cur}",
         "there <be:p> {m} {cur} in {As} piggy bank", "{A} only <have> {m} {cur}", "{As} savings <be:p> {m} {cur}"),
    ),
    questions=(
        "how much more <do> {A} need?", "how much is missing?", "how many {cur} are missing?",
        "how much money <do> {A} still need?", "how many more {cur} <do> {A} need?", "how much more must {A} save?",
        "what is still missing?", "find what is missing.",
    ),
    whole=(
        "{A} <have> {m} {cur} but <need> {g}. how many more <do> {A} need?",
        "how much must be added to {m} {cur} to pay for a {one_ware} of {g} {cur}?",
    ),
)  # fmt: skip
WEEKS = Puzzle(
    numbers="p=2..20 g=p*2..20",
    steps=("g / p",),
    facts=(
        ("{A} <save> {p} {cur} a week", "every week {A} <save> {p} {cur}", "{A} <put> aside {p} {cur} each week",
         "{A} <get> {p} {cur} of pocket money a week and <keep> it all"),
        ("a {one_ware} <cost:s> {g} {cur}", "{A} <want> to have {g} {cur}", "the goal <be:s> {g} {cur}",
         "{A} <need> {g} {cur} for a new bike"),
    ),
    questions=(
        "how many weeks does it take?", "after how many weeks is it enough?", "how many weeks <do> {A} have to save?",
        "how long does that take in weeks?", "for how many weeks must {A} save?", "in how many weeks is that done?",
    ),
)  # fmt: skip
HALF_PRICE = Puzzle(
    numbers="p=2..250 m=p*2..2",
    steps=("m / 2",),
    facts=(
        ("a {one_ware} <cost:s> {m} {cur}", "the price of a {one_ware} <be:s> {m} {cur}", "{ware} usually <cost:p> {m} {cur}",
         "a {one_ware} at {m} {cur} <be:s> in the window", "{A} <see> a {one_ware} for {m} {cur}"),
        ("today everything <be:s> half price", "in the sale it <cost:s> half", "{A} only <pay> half of the price",
         "{A} and {B} each <pay> half of it", "now it <be:s> sold for half the price"),
    ),
    questions=(
        "how much <do> {A} pay?", "how much is that now?", "what is the new price?", "how many {cur} is that?",
        "what <do> {A} pay?", "what is the price now?", "how much is it then?",
    ),
    is_ordered=True,
)  # fmt: skip
REDUCED = Puzzle(
    numbers="d=2..90 p=d+2..300",
    steps=("p - d",),
    facts=(
        ("a {one_ware} <cost:s> {p} {cur}", "the price of a {one_ware} <be:s> {p} {cur}", "a {one_ware} <be:s> {p} {cur}"),
        ("it <become:s> {d} {cur} cheaper", "the price <drop:s> by {d} {cur}", "{A} <get> {d} {cur} off",
         "the shop <take:s> {d} {cur} off", "{A} <have> a voucher of {d} {cur}", "it <be:s> reduced by {d} {cur}"),
    ),
    questions=(
        "what is the new price?", "how much is it now?", "what does it cost now?", "how much <do> {A} pay?",
        "how many {cur} is that now?", "what is the price after that?", "find the new price.",
    ),
    is_ordered=True,
)  # fmt: skip
