"""Sentences whose blanks follow from the forms of other words. Data only; slots as in told.

{ks} {ls} are the plurals of {k} and {l}; {one} {many} a noun and its plural, both from
a closed list; {do} {does} {doing} {did} the forms of a verb.
"""

from sbd_core.tasks.infill.patterns import groups

GRAMMAR = groups("""
I have a {k} and {A} «has» a {l}.
{A} has a {k}, and you «have» a {l}.
You have a {k}, and {A} «has» one too.
{A} has a {k}. {B} «has» a {l}. They both «have» something.
We have {a} {ks}, and {B} «has» {b} {ls}.

{A} «1=is» in {town}, and {B} «1=is» in {other}.
{A} is in {town}, and we «are» in {other}.
I am at home, {A} «is» not.
{A} and {B} «are» friends, and {A} «is» from {town}.
The {k} «is» {color}, and the {ls} «are» {hue}.
There «is» one {k}, and there «are» two {ls}.
One {k} is {color}, two {ls} «are» {hue}.
The {ks} are {color}, and the {l} «is» {hue}.

{A} was happy, and the others «were» happy too.
They were in {town}, and {A} «was» in {other}.
I was at home, and my friends «were» at home too.
Yesterday {A} «was» in {town}, and {B} and {C} «were» there too.

One {k}, two «{ks}».
One {k}, {m} «{ks}».
I have one {k}. {A} has {m} «{ks}».
{A} has many {ks}, but I have only one «{k}».
This {k} is mine and those «{ks}» are yours.
A {k} costs {m} dollars, two «{ks}» cost more.
There are {m} {ks} here, and one «{k}» there.
First there was one {k}. Then there were {m} «{ks}».

One {one}, two «{many}».
One {one}, {m} «{many}».
{A} saw one {one}, and {B} saw many «{many}».
{m} {many}, one «{one}».
I see one {one} here and two «{many}» there.
{B} has two {many}, but {A} has only one «{one}».

This {k} is {color}, and these {ls} «are» {hue}.
«This|That|The» {k} is {color}. «These|Those|The» {ls} are {hue}.
These {ks} are old, but this «{k}» is new.
That {k} is here, and those «{ks}» are there.

I {do} and {A} «{does}».
I {do} every day, and {A} «{does}» every day too.
{A} {does}, and {B} and {C} «{do}» too.
You «{do}» well, and {A} {does} even better.
{A} «1={does}» well, and {B} «1={does}» better.
We {do} in the {place}. {A} «{does}» in the {site}.

I {do} now. I am «{doing}».
{A} likes to {do}. {He} is «{doing}» now.
{A} {does} every day. Look, {he} is «{doing}» again!
They are {doing}. They «{do}» every {day}.
Who is {doing}? {A} is «{doing}».

{A} will {do} tomorrow, as {he} «{did}» yesterday.
Today I {do}. Yesterday I «{did}».
Today we {do}, and yesterday we «{did}» too.
Yesterday {A} {did}. Today {he} «{does}» again.
"Do you {do}?" "No, but yesterday I «{did}»."
Every {day} they {do}, and last {day} they «{did}» too.

I do not know {A}, and {he} «does» not know me.
I do not {do}, and {A} «does» not {do} either.
{A} does not have a {k}, and we «do» not have one.
«Does» {A} have a {color} {k}? Yes, {he} «does».
«Do» you know {A}? Yes, I «do».
Did {A} see the {k}? No, {he} «did» not.

{A} can sing, and {he} can dance «as» well as {B}.
The {k} is «as» {color} as the {l}.
{A} is older «than» {B}, but not older «than» {C}.
{A} would rather have a {k} «than» a {l}.
Neither {A} «nor» {B} has a {k}.
Either {A} «or» {B} has the {k}.
«Both» {A} and {B} have a {color} {k}.

{A} saw {B}, and {B} saw {A}: they saw each «other».
{A} washed {his} hands, then «{he}» washed {his} {k}.
{A} took {his} {k} and put it in «{his}|the|a» bag.
{A} said that {he} was tired, so {B} carried «{him}», and {he} slept.
When {A} came home, {he} saw that «{his}|the» {k} was gone, and {he} called {his} friend.
I took my {k}, you took «your|the» {l}, and {A} took {his} {S}.
I like my {k}, and you like «your|the» {l}.
We took our {ks}, and they took «their|the» {ls}.

{A} is from {town}, is «{he}» not? Yes, {he} is.
Is {A} from {town}? Yes, {he} «is».
Are you {A}? No, I «am» not.
Can {A} swim? Yes, {he} «can».
Has {A} a {k}? Yes, {he} «has».
Was {A} in {town}? No, {he} «was» not.
Will you come, {A}? Yes, I «will».
""")

PLURALS = {
    "mouse": "mice", "foot": "feet", "tooth": "teeth", "child": "children", "man": "men",
    "woman": "women", "goose": "geese", "leaf": "leaves", "knife": "knives", "wolf": "wolves",
    "city": "cities", "baby": "babies", "box": "boxes", "bus": "buses", "sheep": "sheep",
    "fish": "fish", "wife": "wives", "life": "lives", "shelf": "shelves", "half": "halves",
    "lady": "ladies", "story": "stories", "party": "parties", "country": "countries",
    "family": "families", "cherry": "cherries", "dish": "dishes", "watch": "watches",
    "glass": "glasses", "fox": "foxes", "potato": "potatoes", "tomato": "tomatoes",
    "hero": "heroes", "person": "people", "ox": "oxen", "puppy": "puppies", "pony": "ponies", "lily": "lilies",
}  # fmt: skip
VERBS = tuple(
    tuple(line.split())
    for line in """
go goes going went, eat eats eating ate, run runs running ran, sing sings singing sang
swim swims swimming swam, write writes writing wrote, sleep sleeps sleeping slept
drink drinks drinking drank, fly flies flying flew, play plays playing played
dance dances dancing danced, win wins winning won, speak speaks speaking spoke
drive drives driving drove, fall falls falling fell, laugh laughs laughing laughed
work works working worked, read reads reading read, cook cooks cooking cooked
draw draws drawing drew, paint paints painting painted, jump jumps jumping jumped
walk walks walking walked, talk talks talking talked, cry cries crying cried
smile smiles smiling smiled, sit sits sitting sat, stand stands standing stood
wait waits waiting waited, help helps helping helped, learn learns learning learned
teach teaches teaching taught, think thinks thinking thought, ride rides riding rode
climb climbs climbing climbed, listen listens listening listened, stop stops stopping stopped
try tries trying tried, travel travels traveling traveled, shout shouts shouting shouted
leave leaves leaving left, wake wakes waking woke, rest rests resting rested
clean cleans cleaning cleaned, study studies studying studied, dream dreams dreaming dreamed
""".strip()
    .replace("\n", ", ")
    .split(", ")
)
