"""Puzzles about ways, speeds, times, weights, shapes, recipes and unknown numbers. Data only."""

from sbd_core.tasks import words
from sbd_core.tasks.math.puzzles.puzzle import Puzzle

FAR = (
    "how far is that?", "how many {far} is that?", "how far <do> {A} get?", "how many {far} <do> {A} cover?",
    "what is the distance?", "how long is the way?", "find the distance in {far}.", "how far is that in all?",
)  # fmt: skip
SPEED = Puzzle(
    numbers="k=2..12 p=2..90",
    steps=("k * p",),
    facts=(
        ("{A} <ride> {p} {far} an hour", "{A} <walk> {p} {far} every hour", "{A} <drive> at {p} {far} an hour", "a train <go:s> {p} {far} an hour",
         "{A} <run> {p} {far} an hour", "a ship <sail:s> {p} {far} per hour", "{A} <make> {p} {far} an hour"),
        ("the way <take:s> {k} hours", "it <go:s> on like this for {k} hours", "the trip <last:s> {k} hours", "it <take:s> {k} hours to arrive",
         "this <last:s> for {k} hours"),
    ),
    questions=FAR,
    whole=(
        "{A} <ride> for {k} hours at {p} {far} an hour. how far is that?", "a car goes {p} {far} an hour. how far does it go in {k} hours?",
        "how many {far} is {k} hours at {p} {far} an hour?", "{A} <walk> {p} {far} a day for {k} days. how many {far} is that?",
        "how far does a bus get in {k} hours at {p} {far} an hour?", "{A} <run> {k} laps of {p} {far} each. how many {far} is that?",
        "a snail crawls {p} {len} a day. how far does it get in {k} days?", "{A} <swim> {p} {len} a day. how far is that in {k} days?",
        "if {A} <run> {p} {far} each day, how far is that in {k} days?", "a train needs {k} hours and goes {p} {far} an hour. how long is the way?",
    ),
    is_ordered=True,
)  # fmt: skip
DURATION = Puzzle(
    numbers="p=2..20 d=p*2..20",
    steps=("d / p",),
    facts=(
        ("the way <be:s> {d} {far} long", "a trip of {d} {far} <lie:s> ahead", "{A} <have> {d} {far} to go", "it <be:s> {d} {far} to the sea"),
        ("{A} <make> {p} {far} an hour", "{A} <go> {p} {far} an hour", "{A} <drive> {p} {far} every hour", "{A} <cover> {p} {far} an hour"),
    ),
    questions=("how many hours does that take?", "how long does it take?", "how many hours is that?", "how many hours <do> {A} need?",
               "after how many hours <do> {A} arrive?", "find the time in hours."),
    whole=("how long does it take to go {d} {far} at {p} {far} an hour?", "{A} <walk> {d} {far} at {p} {far} an hour. how many hours is that?"),
)  # fmt: skip
REST_OF_WAY = Puzzle(
    numbers="n=2..400 d=n+1..500",
    steps=("d - n",),
    facts=(
        ("the way to school <be:s> {d} {far} long", "a trip <be:s> {d} {far} long", "it <be:s> {d} {far} to town", "{A} <plan> to go {d} {far}",
         "a race <be:s> {d} {far} long", "the road to {As} aunt <be:s> {d} {far} long"),
        ("{A} already <go> {n} {far}", "{A} <stop> after {n} {far}", "{n} {far} <be:p> done", "{A} <rest> after {n} {far}", "{A} <get> tired after {n} {far}",
         "so far {A} <ride> {n} {far}"),
    ),
    questions=("how many {far} are left?", "how far is it still?", "how many {far} remain?", "how many more {far} is it?", "how far <do> {A} still have to go?",
               "what is the rest of the way?"),
)  # fmt: skip
ROUND_TRIP = Puzzle(
    numbers="d=2..200 k=2..9",
    steps=("d * 2", "_ * k"),
    facts=(
        ("the way to work <be:s> {d} {far} long", "{As} school <be:s> {d} {far} from home", "it <be:s> {d} {far} from {As} house to the pool"),
        ("{A} <go> there and back on {k} days", "for {k} days {A} <ride> there and back once a day", "{A} <go> there and back {k} times"),
    ),
    questions=FAR[:2] + FAR[6:],
    is_ordered=True,
    weight=0.7,
)  # fmt: skip
AREA = Puzzle(
    numbers="a=2..20 b=2..20",
    steps=("a * b",),
    facts=(
        ("a garden <be:s> {a} {len} long and {b} {len} wide", "a room <have:s> sides of {a} and {b} {len}", "a rectangle <be:s> {a} by {b} {len}",
         "{As} room <be:s> {a} {len} long and {b} {len} wide", "a field <be:s> {a} {len} by {b} {len}", "{A} <draw> a rectangle of {a} by {b} {len}",
         "a wall <be:s> {b} {len} high and {a} {len} long"),
    ),
    questions=("what is its area?", "what is the area?", "how large is its area?", "how many squares of one by one fit in?", "find the area.",
               "what area is that?", "how big is its area?", "work out the area.",
               "how large is the area?", "what area does it have?", "what area does it cover?",
               "calculate its area.", "tell me the area.",
               "how many square {len} is that?"),
)  # fmt: skip
PERIMETER = Puzzle(
    numbers="a=2..90 b=2..90",
    steps=("a + b", "_ * 2"),
    facts=(AREA.facts[0][:-1],),
    questions=("what is its perimeter?", "what is the perimeter?", "how long is the way around it?", "how long is a fence around it?", "how many {len} is it all around?",
               "work out the perimeter.", "how long are its sides together?", "how long is the perimeter?",
               "how long is it all the way around?", "how far is it once around?", "calculate its perimeter.",
               "how many {len} are its four sides?", "how many {len} of fence go around it?",
               "find the perimeter."),
)  # fmt: skip
RECIPE = Puzzle(
    things=words.SNACKS,
    numbers="n=2..30 k=2..12",
    steps=("n * k",),
    facts=(
        ("one batch of {thing} <need:s> {n} {volume} of flour", "a recipe for {thing} <take:s> {n} {volume} of milk", "for one tray of {thing} {A} <use> {n} {volume} of sugar",
         "each batch of {thing} <take:s> {n} {mass} of butter", "one cake <need:s> {n} {mass} of nuts"),
        ("{A} <make> {k} times as much", "{A} <want> to make it {k} times", "{A} <need> {k} times that much", "{B} <ask:s> for {k} times this amount",
         "{A} <multiply> the recipe by {k}"),
    ),
    questions=("how much is needed?", "how much is that?", "how much <do> {A} need?", "what amount is needed?", "how much of it <do> {A} need in all?",
               "find the amount."),
    is_ordered=True,
)  # fmt: skip
CUT = Puzzle(
    numbers="k=2..20 n=k*2..20",
    steps=("n / k",),
    facts=(
        ("a rope <be:s> {n} {len} long", "{A} <have> {n} {len} of ribbon", "{A} <buy> a board of {n} {len}", "a wire of {n} {len} <be:s> on the roll"),
        ("{A} <cut> it into pieces of {k} {len}", "each piece <have:s> {k} {len}", "pieces of {k} {len} <be:p> cut from it", "every piece must be {k} {len} long"),
    ),
    questions=("how many pieces are there?", "how many pieces is that?", "how many pieces <do> {A} get?", "find the number of pieces.", "how many pieces does that give?"),
    whole=("how many pieces of {k} {len} can be cut from {n} {len}?", "{n} {len} of rope are cut into pieces of {k} {len}. how many pieces?"),
    is_ordered=True,
)  # fmt: skip
LOAD = Puzzle(
    numbers="k=2..20 n=2..20 e=2..300",
    steps=("k * n", "_ + e"),
    facts=(
        ("a cart <carry:s> {k} {box} of {n} {mass} each", "{A} <load> {k} {box} that <weigh:p> {n} {mass} each", "{k} {box} of {n} {mass} each <stand:p> on a truck",
         "each of the {k} {box} on a boat <weigh:s> {n} {mass}"),
        ("the empty cart <weigh:s> {e} {mass}", "{e} {mass} more <be:p> loaded", "{B} <add:s> a stone of {e} {mass}", "there <be:s> also a piano of {e} {mass}",
         "a crate of {e} {mass} <come:s> on top"),
    ),
    questions=("how many {mass} is that in all?", "what is the whole weight?", "how heavy is everything together?", "how many {mass} is the total?", "find the total weight.",
               "how much does it all weigh?"),
    is_ordered=True,
)  # fmt: skip
MINUTES = Puzzle(
    numbers="m=2..120 n=2..120 e=2..60",
    steps=("m + n", "_ + e"),
    facts=(
        ("{A} <read> for {m} minutes", "{A} <cook> for {m} minutes", "{A} <practice> for {m} minutes", "homework <take:s> {m} minutes"),
        ("{A} <play> for {n} minutes", "{A} <clean> for {n} minutes", "the way home <take:s> {n} minutes", "{A} <talk> to {B} for {n} minutes"),
        ("{A} <rest> for {e} minutes", "a break of {e} minutes <follow:s>", "{A} <wait> for {e} minutes", "a walk <take:s> {e} minutes"),
    ),
    questions=("how many minutes is that in all?", "how long is that altogether?", "how many minutes is that?", "how much time is that in total?", "find the total time.",
               "what is the total in minutes?", "how long does all of it take?"),
)  # fmt: skip
PAGES_A_DAY = Puzzle(
    things=("pages", "pages", "words", "songs", "exercises", "letters", "problems", "verses"),
    numbers="p=2..20 n=p*2..20",
    steps=("n / p",),
    facts=(
        ("there <be:p> {n} {thing} in {As} book", "{A} <have> {n} {thing} to do", "a book <have:s> {n} {thing}", "{A} <want> to learn {n} {thing}"),
        ("{A} <do> {p} {thing} a day", "each day {A} <finish> {p} of them", "{A} <manage> {p} {thing} every day", "every day {p} {thing} <get:p> done"),
    ),
    questions=("how many days does it take?", "how many days is that?", "how many days <do> {A} need?", "after how many days is everything done?", "for how many days is that?",
               "in how many days <be> {A} finished?"),
)  # fmt: skip
PAGES_LEFT = Puzzle(
    things=PAGES_A_DAY.things,
    numbers="k=2..9 p=2..30 n=k*p+1..200",
    steps=("k * p", "n - _"),
    facts=(
        PAGES_A_DAY.facts[0],
        ("{A} <do> {p} {thing} a day for {k} days", "for {k} days {A} <finish> {p} of them a day", "on {k} days {A} <manage> {p} {thing} each", "every day {A} <do> {p} {thing}, {k} days long"),
    ),
    questions=("how many {thing} are left?", "how many {thing} are still to do?", "how many {thing} remain?", "how many <do> {A} still have to do?", "what is left to do?",
               "how many are left?"),
    is_ordered=True,
)  # fmt: skip


def _fixed(number: int, step: str, *whole: str) -> Puzzle:
    """Something that everybody knows the number of, such as the days of a week."""
    return Puzzle(
        numbers="k=2..12", steps=(step.format(number),), facts=(), questions=whole, weight=0.35
    )


DOZENS = _fixed(12, "k * {}", "how many eggs are {k} dozen?", "{A} <buy> {k} dozen eggs. how many eggs is that?", "how many are {k} dozens?",
                "{k} dozen rolls are baked. how many rolls is that?", "there <be:p> {k} dozen buns. how many buns <be:p> there?",
                "how many cakes are {k} dozen cakes?", "what number is {k} dozen?", "write {k} dozen as a number.",
                "{A} <need> {k} dozen candles. how many candles is that?", "{k} dozen roses are in a vase. how many roses are that?", "{A} <sell> {k} dozen pens. how many pens is that in all?",
                "how many are {k} times a dozen?", "count the eggs in {k} dozen.", "{k} dozen plates <be:p> washed. how many plates is that?")  # fmt: skip
WEEKDAYS = _fixed(7, "k * {}", "how many days are {k} weeks?", "{A} <stay> for {k} weeks. how many days is that?", "how many days is {k} weeks?",
                  "a trip <last:s> {k} weeks. how many days is that?", "turn {k} weeks into days.",
                  "{k} weeks are how many days?", "how many days do {k} weeks have?", "change {k} weeks to days.",
                  "{A} <be> away for {k} weeks. how many days is that?", "how many days are there in {k} weeks?", "it <rain:s> for {k} weeks. how many days is that?",
                  "{k} weeks: how many days?", "how many days will {k} weeks take?", "school <end:s> in {k} weeks. in how many days is that?",
                  "{A} <work> every day for {k} weeks. how many days is that?")  # fmt: skip
HOURS = _fixed(60, "k * {}", "how many minutes are {k} hours?", "a film <last:s> {k} hours. how many minutes is that?", "how many minutes is {k} hours?",
               "turn {k} hours into minutes.", "{A} <wait> {k} hours. how many minutes is that?",
               "{k} hours are how many minutes?", "how many minutes do {k} hours have?", "change {k} hours to minutes.",
               "how many minutes are there in {k} hours?", "{A} <drive> for {k} hours. how many minutes is that?", "a flight <take:s> {k} hours. how many minutes is that?",
               "{k} hours: how many minutes?", "how long is {k} hours in minutes?", "{A} <rest> {k} hours. how many minutes is that?",
               "a match <last:s> {k} hours. how long is that in minutes?")  # fmt: skip
MONTHS = _fixed(12, "k * {}", "how many months are {k} years?", "{A} <live> there for {k} years. how many months is that?", "turn {k} years into months.",
                "how many months is {k} years?",
                "{k} years are how many months?", "change {k} years to months.", "how many months are there in {k} years?",
                "how many months do {k} years have?", "{A} <work> there for {k} years. how many months is that?", "a course <take:s> {k} years. how many months is that?",
                "{k} years: how many months?", "how long is {k} years in months?", "a tree <be:s> {k} years old. how many months is that?")  # fmt: skip
LEGS = _fixed(4, "k * {}", "how many legs do {k} dogs have?", "{A} <see> {k} cats. how many legs is that?", "how many legs do {k} horses have in all?",
              "how many wheels do {k} cars have?", "{k} chairs with 4 legs each: how many legs is that?",
              "how many legs do {k} cows have?", "how many paws do {k} cats have?", "how many legs are under {k} tables?",
              "{A} <own> {k} sheep. how many legs do they have?", "{k} pigs <be:p> in a barn. how many legs is that?", "how many tires do {k} cars need?",
              "how many corners do {k} squares have?", "how many sides do {k} squares have in all?", "how many legs are there on {k} dogs?",
              "{k} goats <run:p> by. how many legs is that?", "what number of wheels do {k} cars have?", "{A} <count> the legs of {k} rabbits. how many are there?")  # fmt: skip
SIX = _fixed(6, "k * {}", "how many legs do {k} ants have?", "{A} <count> the legs of {k} beetles. how many are there?", "how many sides do {k} dice have?",
             "how many legs do {k} bees have together?",
             "how many legs do {k} flies have?", "how many legs are there on {k} ants?", "{k} beetles <sit:p> on a leaf. how many legs is that?",
             "how many faces do {k} cubes have?", "{k} insects with 6 legs each: how many legs is that?", "how many legs do {k} beetles have in all?",
             "{A} <see> {k} ants. how many legs is that?", "how many corners do {k} hexagons have?", "{k} bees <fly:p> by. how many legs do they have?",
             "what number of legs do {k} ants have?")  # fmt: skip
EIGHT = _fixed(8, "k * {}", "how many legs do {k} spiders have?", "{k} spiders <sit:p> in a net. how many legs is that?", "how many arms do {k} octopuses have?",
               "how many legs are there on {k} spiders?",
               "{A} <find> {k} spiders. how many legs do they have?", "{k} spiders <crawl:p> up a wall. how many legs is that?", "how many legs do {k} spiders have together?",
               "how many corners do {k} cubes have?", "how many legs do {k} spiders have in all?", "{A} <count> the legs of {k} spiders. how many are there?",
               "what number of legs do {k} spiders have?", "how many arms are there on {k} octopuses?", "{k} octopuses <swim:p> by. how many arms is that?")  # fmt: skip
BIKES = _fixed(2, "k * {}", "how many wheels do {k} bikes have?", "how many shoes are {k} pairs?", "{A} <buy> {k} pairs of socks. how many socks is that?",
               "how many legs do {k} birds have?", "how many wings do {k} birds have?")  # fmt: skip
TRIKES = _fixed(
    3,
    "k * {}",
    "how many wheels do {k} tricycles have?",
    "how many corners do {k} triangles have?",
    "how many sides do {k} triangles have in all?",
    "how many wheels are there on {k} tricycles?",
    "{A} <see> {k} tricycles. how many wheels is that?",
    "how many corners are there in {k} triangles?",
    "{A} <draw> {k} triangles. how many sides is that?",
    "how many legs do {k} stools with 3 legs have?",
    "{k} tricycles with 3 wheels each: how many wheels is that?",
    "how many wheels do {k} tricycles need?",
    "what number of sides do {k} triangles have?",
    "{A} <count> the corners of {k} triangles. how many are there?",
)
UNKNOWN_PLUS = Puzzle(
    numbers="n=2..400 m=n+1..500",
    steps=("m - n",),
    facts=(("{A} <think> of a number and <add> {n}. the result <be:s> {m}", "a number plus {n} <be:s> {m}", "{n} more than a number <be:s> {m}",
            "{A} <add> {n} to a number and <get> {m}"),),
    questions=("what is the number?", "which number is it?", "find the number.", "what number is that?", "what was the number?"),
    whole=("what must be added to {n} to get {m}?", "{n} plus what makes {m}?", "{n} + ? = {m}", "which number plus {n} is {m}?", "how much is missing from {n} to {m}?",
           "how far is it from {n} to {m}?"),
)  # fmt: skip
UNKNOWN_MINUS = Puzzle(
    numbers="m=2..400 n=2..400",
    steps=("m + n",),
    facts=(("{A} <think> of a number and <take> away {n}. the result <be:s> {m}", "a number minus {n} <be:s> {m}", "{n} less than a number <be:s> {m}",
            "{A} <subtract> {n} from a number and <get> {m}"),),
    questions=UNKNOWN_PLUS.questions,
    whole=("from which number must {n} be taken to get {m}?", "? - {n} = {m}", "what minus {n} is {m}?", "which number minus {n} is {m}?"),
)  # fmt: skip
UNKNOWN_TIMES = Puzzle(
    numbers="n=2..12 m=n*2..20",
    steps=("m / n",),
    facts=(("{A} <think> of a number and <multiply> it by {n}. the result <be:s> {m}", "a number times {n} <be:s> {m}", "{n} times a number <be:s> {m}",
            "{A} <take> a number {n} times and <get> {m}"),),
    questions=UNKNOWN_PLUS.questions,
    whole=("what times {n} is {m}?", "{n} * ? = {m}", "how many times does {n} go into {m}?", "how often does {n} fit into {m}?", "{n} times what makes {m}?"),
)  # fmt: skip
