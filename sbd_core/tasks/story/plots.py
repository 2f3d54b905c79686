"""The plots of stories, and the ways to begin and end one. Data only.

Slots of a wording: {A} the person, {he} {him} {his} {He} {girl} to match, {S} {N} species and name
of the animal, {o} the thing with its color and {k} without, {place} as "the park" and {at} as
"in the park", {time} {glad} {sad} free choices, {cry} what the species does with its voice.
In a plot of two, {B} is the other person, {T} {M} that one's animal.
Every beat, opening and ending has wordings without a pronoun, for people who may be of either
kind. A wording holds no word of the lists, so that a list word in a story is always a fact.
"""

import re

from sbd_core.tasks.story.plot import Plot
from sbd_core.tasks.story.plots_adventures import ADVENTURES
from sbd_core.tasks.story.plots_everyday import EVERYDAY, OF_TWO

TIMES: tuple[str, ...] = (
    "One day", "One morning", "One sunny day", "One afternoon", "On a windy day", "Last summer",
    "On Sunday", "Early in the morning", "After lunch", "One warm evening", "In spring",
    "On a cold day",
)  # fmt: skip
GLAD: tuple[str, ...] = ("happy", "glad", "proud", "pleased", "cheerful")
SAD: tuple[str, ...] = ("sad", "worried", "upset", "scared")

OPENINGS: tuple[str, ...] = (
    "{time}, {A} took {his} {S} {N} to {place}.",
    "{time}, {A} and {his} {S} {N} went to {place}.",
    "{time}, {A} was {at} with {his} {S} {N}.",
    "There was a {girl} named {A} who had a {S} called {N}. They were often {at}.",
    "{A} was a {girl} with a {S} named {N}. {time}, they were {at}.",
    "{A} had a {S} called {N}. {time}, they went to {place}.",
    "{A} had a {S} named {N}, and they were often {at}.",
    "{A} and {N} the {S} liked to play {at}.",
    "{N} the {S} and {A} were best friends. {time}, they met {at}.",
    "{A} lived {at} with a {S} named {N}.",
    "{time}, {A} and {N} the {S} were {at}.",
    "This is the story of {A} and the {S} {N}, who met {at}.",
    "{time}, {A} went to {place}, and {N} the {S} came along.",
    "Once {A} and a {S} called {N} were {at}.",
    "{N} was the {S} of {A}. {time}, they came to {place}.",
    "Everyone {at} knew {A} and {N} the {S}.",
)
OPENINGS_OF_TWO: tuple[str, ...] = (
    "{time}, {A} and {his} {S} {N} met {B} and a {T} called {M} {at}.",
    "{A} had a {S} called {N}, and {B} had a {T} called {M}. {time}, they met {at}.",
    "{A} came to {place} with {N} the {S}. {B} came with {M} the {T}.",
    "{time}, {A} took the {S} {N} to {place}. {B} was there with the {T} {M}.",
    "{time}, {A} was {at} with {N} the {S}. {B} was there too, with {M} the {T}.",
    "{N} was the {S} of {A}, and {M} was the {T} of {B}. {time}, they met {at}.",
    "{A} had a {S} named {N}. {B} had a {T} named {M}. They all met {at}.",
)
OPENINGS_WITH_FRIEND: tuple[str, ...] = (
    "{time}, {A} and {B} went to {place} with {N} the {S}.",
    "{time}, {A} met {B} {at}. {N} the {S} was there, too.",
    "{A} and {B} were good friends. {time}, they took the {S} {N} to {place}.",
    "{A} had a {S} called {N}. {time}, {B} came along to {place}.",
    "{time}, {A}, {B} and a {S} named {N} were {at}.",
    "{A} and {his} {S} {N} were often {at}, and {B} was their friend.",
)
ENDINGS: tuple[str, ...] = (
    "They walked home together, tired but {glad}.",
    "{A} hugged {N}, and both were {glad}.",
    "That night {A} and {N} slept very well.",
    "From then on, {A} never went anywhere without {N}.",
    "{A} was very {glad} to have a friend like {N}.",
    "It was the best day of the year for {A} and {N}.",
    '"Good work, {N}!" said {A} with a smile.',
    "{A} gave {N} a big kiss, and {he} laughed all the way home.",
    "And so the day ended well for {A} and {his} {S}.",
    "{A} and {N} would never forget that day.",
    '"You are the best {S} in the world," said {A}.',
    "What a day it had been for {A} and {N}!",
    "On the way home {A} told {N} how it all began.",
    "{N} {cry}, and {A} was {glad}.",
    "{A} smiled, for {N} was already asleep.",
    "They still talk about it {at}.",
)
ENDINGS_WITH_FRIEND: tuple[str, ...] = (
    "{A} and {B} would never forget that day.",
    "{B} laughed, and {A} hugged {N}.",
    "They all went home, {A}, {B} and {N} the {S}.",
    "{B} told everyone about {A} and {N}.",
    "From then on, {A} and {B} met every day.",
    '"That was fun," said {B}, and {A} was {glad}.',
)
ENDINGS_OF_TWO: tuple[str, ...] = (
    "From then on, {A} and {B} were good friends.",
    "They all went home {glad}, and {N} and {M} slept well.",
    "{A} and {B} promised to meet again {at}.",
    "{N} the {S} and {M} the {T} played until it was dark.",
    "It was a fine day for {A}, {B} and their animals.",
    "That night {A} and {B} were tired but {glad}.",
    "{N} and {M} were friends for ever.",
    "{A} said goodbye to {B}, and {N} said goodbye to {M}.",
)

CLASSIC_PLOTS: tuple[Plot, ...] = (
    Plot("lost", "lost", (
        ("{A} had a {o}, but suddenly it was gone.",
         "On the way {A} lost a {o}.",
         "There {he} dropped a {o} and could not find it.",
         "{He} wanted to play with the {o}, but it was lost."),
        ("{A} looked everywhere and was very {sad}.",
         "{A} and {N} searched under every bush, but it was not there.",
         "{A} was so {sad} that {he} almost cried.",
         "They looked and looked until {he} was {sad}."),
        ("Then {N} {cry} and ran behind a big stone. There was the {k}!",
         "Then {N} found the {k} in the tall grass.",
         "At last the clever {S} came back with the {k}.",
         "But {N} had a good nose and soon found the {k} under a bench."),
    )),
    Plot("present", "new", (
        ("It was the birthday of {A}, and a big box stood there.",
         "Someone had left a small box for {A}.",
         "Grandma had sent a box for {A}.",
         "{A} got a present with a long note."),
        ("Inside was a {o}.",
         "{A} opened it and found a {o}.",
         "{N} {cry} and pulled it open. It was a {o}!",
         "What was in it? It was a {o}!"),
        ("{A} showed the {k} to {N}, who {cry}.",
         "{He} was so {glad} that {he} danced with the {S}.",
         "They played with the {k} all day.",
         "{A} had wanted a {k} for a long time."),
    )),
    Plot("rescue", "", (
        ("Suddenly {N} fell into a deep hole and {cry}.",
         "Then {N} got stuck under a fence and {cry}.",
         "{N} slipped into cold water and could not get out.",
         "Then {N} climbed too high and could not come down."),
        ("{A} was {sad}, but {he} had a {o}.",
         "There was only a {o} to help.",
         "{A} looked around and saw a {o}.",
         "A kind old man gave {A} a {o}."),
        ("With the {k} {A} pulled the {S} out.",
         "{A} held out the {k}, and {N} was saved.",
         "{A} used the {k} to reach {N}, and it worked.",
         "Slowly {he} got {N} out with the {k}."),
    )),
    Plot("race", "", (
        ("There was a big race, and the prize was a {o}.",
         "A race began, and the winner would get a {o}.",
         "They saw a sign for a race. The prize was a {o}.",
         "{A} and {N} joined a race to win a {o}."),
        ("{N} was slow at first, but {A} ran beside it.",
         "{N} {cry} and ran as fast as the wind.",
         "They ran through mud and over stones.",
         "Halfway {A} fell, but {N} waited for {him}."),
        ("They came in first and won the {k}!",
         "In the end the {S} was first, and {A} got the {k}.",
         "They were not first, but the winner gave them the {k}.",
         "{A} held up the {k}, and everyone clapped."),
    )),
    Plot("storm", "", (
        ("Dark clouds came, and a storm began.",
         "Suddenly it started to rain very hard.",
         "Then there was thunder, and {N} {cry}.",
         "The wind grew strong, and {N} was {sad}."),
        ("{A} held the {o} tight and looked for a dry spot.",
         "The wind took a {o} from {A}, who ran after it.",
         "{A} hid with {N} and a {o} under a tree.",
         "{He} put the {o} over {N} to keep it dry."),
        ("When the sun came out, the {k} was wet, but they were safe.",
         "After the rain the {S} found the {k} in the mud.",
         "Soon the storm was over, and the {k} was still there.",
         "Later they dried the {k} and {N} by the fire."),
    )),
    Plot("cake", "", (
        ("{A} wanted to bake a cake that looked like a {o}.",
         "{A} made a big cake with a {o} on top.",
         "They had a picnic with cake, and a {o} lay beside it.",
         "{A} put a cake and a {o} on the table."),
        ("But {N} was hungry and ate half of it.",
         "{N} {cry}, because it smelled so good.",
         "While {he} looked away, the {S} took a big bite.",
         "{N} jumped up, and the cake fell down."),
        ("{A} laughed and shared the rest with {N}.",
         "Only the {k} was left, but {A} was not angry.",
         "They made another cake and kept the {k}.",
         "{He} wiped the {k} clean, and they ate the rest."),
    )),
    Plot("visit", "", (
        ("They wanted to visit grandma and bring a {o}.",
         "Grandma was ill, so {A} got a {o} as a gift.",
         "It was time to see grandma. {A} packed a {o}.",
         "{A} had made a {o} for grandma."),
        ("The way was long, and {N} {cry}.",
         "{N} carried it the whole way.",
         "They got lost, but the {S} knew the way.",
         "On the way they crossed a little stream."),
        ("Grandma loved the {k} and made hot soup.",
         "Grandma saw the {k} and was very {glad}.",
         'Grandma put the {k} by the window and said, "Thank you!"',
         "Grandma thanked them for the {k} and fed {N}."),
    )),
    Plot("broken", "broken", (
        ("{N} jumped on a {o}, and it broke.",
         "{A} dropped a {o}, and it broke in two.",
         "{He} had an old {o}, but it was broken.",
         "They found a {o} that was broken."),
        ("{A} was {sad}, and {N} hid in a corner.",
         "{A} did not know what to do.",
         "{N} {cry} softly and looked {sad}.",
         "{He} tried to fix it, but it was hard."),
        ("With glue and time {A} mended the {k}.",
         "A kind neighbor helped, and soon the {k} was like new.",
         "{N} brought a nail, and {he} fixed the {k}.",
         "In the end the {k} looked better than before."),
    )),
    Plot("mystery", "missing", (
        ("In the night someone took the {o} of {A}.",
         "The {o} that {A} loved was missing.",
         "{A} woke up, and the {o} was not there.",
         "A {o} was missing, and nobody knew why."),
        ("{A} saw small tracks and followed them.",
         "{He} asked everyone, but nobody had seen it.",
         "{A} looked for clues with a big glass.",
         "{He} wrote down all the clues."),
        ("The thief was {N}, asleep on the {k}!",
         "The tracks led to {N}, who had the {k} all the time.",
         "Then the {S} {cry}. It sat on the {k}!",
         "Under the bed was {N} with the {k}."),
    )),
    Plot("treasure", "hidden", (
        ("{N} began to dig in the ground.",
         "{N} {cry} and dug a deep hole.",
         "They had heard of a treasure and began to look for it.",
         "{A} saw a cross on the ground and began to dig."),
        ("There was an old box with a {o} inside.",
         "Under the sand lay a {o}.",
         "After an hour they found a {o}.",
         "Something shone. It was a {o}!"),
        ("{A} cleaned the {k} and showed it to everyone.",
         "{He} kept the {k}, and {N} got a treat.",
         "The {k} was very old and worth a lot.",
         "They hid the {k} again, as only {N} should know."),
    )),
    Plot("trick", "", (
        ("{A} wanted to teach {N} a new trick.",
         "There was a show, and {N} needed a trick.",
         "{He} had seen a fine trick in a show.",
         "{N} could do a trick, but nobody believed it."),
        ("First {N} only {cry} and looked at a {o}.",
         "{A} held up a {o}, and {N} sat still.",
         "They worked with a {o} every day.",
         "Again and again {he} showed a {o} to the {S}."),
        ("Then {N} jumped right over the {k}!",
         "At last {N} carried the {k} on its head.",
         "In the end {N} brought the {k}, and all clapped.",
         "Soon the {S} could turn around with the {k}."),
    )),
    Plot("night", "", (
        ("It was late, and {A} could not sleep.",
         "At night {A} heard a strange noise.",
         "It grew dark, and {A} was a little {sad}.",
         "The moon was up, but {N} was still awake."),
        ("Something moved. Was it a {o}?",
         "{N} {cry} and pushed a {o} to {him}.",
         "{He} held a {o} and called {N}.",
         "{A} took a {o} and looked outside."),
        ("It was only {N}, who played with the {k}.",
         "With the {k} and the {S} beside {him}, {he} felt safe.",
         "{A} put down the {k} and laughed.",
         "Then {he} fell asleep with {N} and the {k}."),
    )),
)  # fmt: skip
PLOTS: tuple[Plot, ...] = CLASSIC_PLOTS + ADVENTURES + EVERYDAY + OF_TWO
WORDINGS: tuple[str, ...] = (
    *OPENINGS, *OPENINGS_OF_TWO, *OPENINGS_WITH_FRIEND,
    *ENDINGS, *ENDINGS_OF_TWO, *ENDINGS_WITH_FRIEND, *TIMES,
    *(wording for plot in PLOTS for beat in plot.beats for wording in beat),
)  # fmt: skip
STARTS: frozenset[str] = frozenset(
    word for wording in WORDINGS for word in re.findall(r"(?:^|[.!?\"] ?)([A-Z][a-z]+)", wording)
)
"""Words that sentences begin with here, so that none of them is taken for a name."""
