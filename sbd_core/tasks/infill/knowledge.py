"""Things one has to know, in closed lists: every one of them is trained on. Data only.

A topic is a table of pairs and the lines that tell them: {w} the first of a pair, {v} the second,
where v|u accepts either and shows the first. What a line blanks has one right answer, or lists
all of them.
"""

from sbd_core.tasks.infill.patterns import Groups
from sbd_core.tasks.infill.patterns import groups as _groups


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    parts = (item.split("=") for item in text.replace("\n", ", ").split(", ") if item)
    return tuple((left.strip(), right.strip()) for left, right in parts)


def groups(text: str) -> Groups:
    """Patterns whose blanks accept all that the pair accepts."""
    return _groups(text.replace("«{w}»", "«{all_w}»").replace("«{v}»", "«{all_v}»"))


TOPICS: tuple[tuple[Groups, tuple[tuple[str, str], ...]], ...] = (
    (groups("""
The opposite of {w} is «{v}».
The opposite of {v} is «{w}».
{w} is the opposite of «{v}».
Something that is not {w} is «{v}».
{A} says {w}, but {B} says the opposite: «{v}».
{A} says {v}, but {B} says the opposite: «{w}».
This {k} is {w} and that {l} is the opposite, «{v}».
Not {w} but «{v}».
The {S} is {w}, the {T} is not {w} but «{v}».
"""), _pairs("""hot=cold, big=small|little, fast=slow, old=young|new, up=down, day=night, open=closed|shut, full=empty, wet=dry, light=dark|heavy
long=short, left=right, early=late, rich=poor, hard=soft|easy, high=low, clean=dirty, strong=weak, loud=quiet, good=bad, true=false, inside=outside
happy=sad, near=far, first=last, in=out, on=off, above=below, over=under, before=after, more=less|fewer, always=never, yes=no, black=white, hello=goodbye
sweet=sour|bitter, thick=thin, wide=narrow, deep=shallow, sharp=blunt|dull, safe=dangerous, brave=afraid, friend=enemy, love=hate, winter=summer, north=south, east=west
win=lose, start=stop|end|finish, buy=sell, give=take, push=pull, come=go, laugh=cry, remember=forget, ask=answer, boy=girl, man=woman, king=queen, front=back, top=bottom""")),
    (groups("""
{A} is {w}, but {B} is even «{v}».
The {k} is {w}. The {l} is «{v}» than the {k}.
{A} is {w}, and {B} is «{v}» than {A}.
The {k} is {v} than the {l}, which is not so «{w}».
If the {S} is {w}, the {T} is «{v}».
"""), _pairs("""big=bigger, fast=faster, tall=taller, old=older, small=smaller, strong=stronger, happy=happier, good=better, bad=worse, heavy=heavier
long=longer, cold=colder, warm=warmer, young=younger, slow=slower, rich=richer, nice=nicer, funny=funnier, thin=thinner, clean=cleaner, short=shorter, deep=deeper, brave=braver""")),
    (groups("""
{A} is {w}, but {B} is the «{v}» of all.
Of all things the {k} is the «{v}»; it is very {w}.
All of them are {w}, but {A} is the «{v}».
Many {ks} are {w}, and this one is the «{v}».
"""), _pairs("""big=biggest, fast=fastest, tall=tallest, old=oldest, small=smallest, strong=strongest, happy=happiest, good=best, bad=worst, heavy=heaviest, long=longest
cold=coldest, warm=warmest, young=youngest, slow=slowest, rich=richest, nice=nicest, funny=funniest, short=shortest, deep=deepest""")),
    (groups("""
A young {w} is a «{v}».
The {w} of {A} has a little one, a «{v}».
A {v} grows up to be a «{w}».
A baby {w} is called a «{v}».
When it is big, a {v} is a «{w}».
"""), _pairs("dog=puppy, cat=kitten, cow=calf, sheep=lamb, hen|bird|chicken=chick, horse=foal, duck=duckling, pig=piglet, bear|lion|fox=cub, deer=fawn, goose=gosling, frog=tadpole, butterfly=caterpillar, goat=kid")),
    (groups("""
A {w} lives in a «{v}».
The {w} sleeps in its «{v}».
The home of a {w} is a «{v}».
A «{v}» is the home of a {w}.
The {w} went back to its «{v}».
"""), _pairs("bird=nest, bee=hive, dog=kennel|house|doghouse, horse=stable|barn, pig=sty|pen, spider=web, rabbit=burrow|hole, bear=cave|den, lion=den, snail=shell, fox=den, cow=barn|stable, fish=tank|pond|bowl, hen=coop, mouse=hole")),
    (groups("""
A {w} says «{v}».
The {w} of {A} says "«{v}»".
What does the {w} say? «{v}».
{A} heard a {w}. It went «{v}», «{v}».
"""), _pairs("cow=moo, cat=meow|miaow, dog=woof|bow wow, duck=quack, pig=oink, sheep=baa, hen=cluck, mouse=squeak, lion=roar, bee=buzz, owl=hoot, frog=croak|ribbit, snake=hiss, horse=neigh, crow=caw, wolf=howl")),
    (groups("""
The capital of {w} is «{v}».
The capital of «{w}» is {v}.
{v} is the capital of «{w}».
{A} lives in the capital of {w}, in «{v}».
The main city of {w} is called «{v}».
{A} flew to {w} and saw the capital, «{v}».
If you are in {v}, you are in the country of «{w}».
"""), _pairs("""France=Paris, Spain=Madrid, Italy=Rome, Germany=Berlin, Norway=Oslo, Sweden=Stockholm, Poland=Warsaw, Greece=Athens, Egypt=Cairo, Kenya=Nairobi, China=Beijing
Japan=Tokyo, Peru=Lima, Ireland=Dublin, Portugal=Lisbon, Austria=Vienna, England=London, Russia=Moscow, Hungary=Budapest, Denmark=Copenhagen, Finland=Helsinki, Cuba=Havana, Canada=Ottawa
Belgium=Brussels, Thailand=Bangkok, Switzerland=Bern, Iceland=Reykjavik, Ukraine=Kiev|Kyiv, Turkey=Ankara, India=Delhi|New Delhi, Mexico=Mexico City, Argentina=Buenos Aires""")),
    (groups("""
People in {w} speak «{v}».
{A} comes from {w} and speaks «{v}».
In {w} they speak «{v}».
The language of {w} is «{v}».
"""), _pairs("France=French, Spain=Spanish, Italy=Italian, Germany=German, Norway=Norwegian, Sweden=Swedish, Poland=Polish, Greece=Greek, Egypt=Arabic, China=Chinese, Japan=Japanese, Portugal=Portuguese, Russia=Russian, Denmark=Danish, England=English, Turkey=Turkish, Brazil=Portuguese, Mexico=Spanish, Austria=German, Hungary=Hungarian")),
    (groups("""
{w} is «{v}».
The color of {w} is «{v}».
What color is {w}? It is «{v}».
{A} paints {w}: the color must be «{v}».
Everyone knows that {w} is «{v}».
"""), _pairs("the sky=blue, grass=green, snow=white, blood=red, coal=black, milk=white, the sun=yellow, a banana=yellow, a strawberry=red, a frog=green, chocolate=brown, the night=black|dark, a lemon=yellow, a carrot=orange, a cucumber=green, the sea=blue, a ripe tomato=red, an elephant=gray|grey, a flamingo=pink, a polar bear=white")),
    (groups("""
A {w} works in a «{v}».
{A} is a {w} and goes to work in a «{v}».
You find the {w} in the «{v}».
The {w} is on the way to the «{v}».
"""), _pairs("teacher=school, nurse=hospital, doctor=hospital, cook=kitchen|restaurant, farmer=field|farm, baker=bakery, librarian=library, judge=court, waiter=restaurant|cafe, actor=theater, pilot=plane|cockpit, sailor=ship|boat, miner=mine, gardener=garden, scientist=lab, student=school")),
    (groups("""
A {w} has «{v}» legs.
How many legs does a {w} have? «{v}».
The {w} of {A} has «{v}» legs.
{A} draws a {w} with «{v}» legs.
"""), _pairs("dog=four|4, cat=four|4, horse=four|4, cow=four|4, bird=two|2, hen=two|2, spider=eight|8, bee=six|6, ant=six|6, snake=no, fish=no, person=two|2, table=four|4, duck=two|2, beetle=six|6, octopus=eight|8")),
    (groups("""
{w} has «{v}» sides.
How many sides has {w}? «{v}».
{A} draws {w}. It has «{v}» sides.
"""), _pairs("a triangle=three|3, a square=four|4, a rectangle=four|4, a pentagon=five|5, a hexagon=six|6, an octagon=eight|8")),
    (groups("""
{w} has «{v}».
There are «{v}» in {w}.
Every child knows that {w} has «{v}».
"""), _pairs("a week=seven days|7 days, a year=twelve months|12 months, an hour=sixty minutes|60 minutes, a minute=sixty seconds|60 seconds, a day=24 hours|twenty-four hours, a century=100 years, a decade=ten years|10 years, a dozen=twelve pieces|12 pieces, a meter=100 centimeters, a kilometer=1000 meters|1,000 meters, a kilo=1000 grams|1,000 grams, a dollar=100 cents")),
    (groups("""
A {w} is a «{v}».
{A} has a {w}. A {w} is a kind of «{v}».
What is a {w}? It is a «{v}».
The {w} is the «{v}» that {A} likes most.
"""), _pairs("""rose=flower|plant, tulip=flower|plant, daisy=flower|plant, oak=tree|plant, pine=tree|plant, apple=fruit, pear=fruit, banana=fruit, cherry=fruit, carrot=vegetable, potato=vegetable, cabbage=vegetable, onion=vegetable, dog=animal|pet|mammal, lion=animal|mammal|cat, cow=animal|mammal, eagle=bird|animal, owl=bird|animal, crow=bird|animal
shark=fish|animal, salmon=fish|animal, ant=insect|animal, bee=insect|animal, hammer=tool, saw=tool, piano=instrument, violin=instrument, flute=instrument, chair=piece of furniture, table=piece of furniture, shirt=piece of clothing, coat=piece of clothing, car=vehicle, bus=vehicle, square=shape, circle=shape""")),
    (groups("""
{w} comes after «{v}».
Of the seasons, {w} comes after «{v}».
After {v} comes «{w}».
Before {w} comes «{v}».
"""), _pairs("spring=winter, summer=spring, autumn=summer, winter=autumn|fall")),
    (groups("""
The {w} «{v}».
Look, the {w} «{v}»!
A {w} often «{v}».
"""), _pairs("sun=shines, dog=barks, rain=falls, baby=cries|sleeps, wind=blows, cat=meows|purrs, river=flows, clock=ticks, bell=rings, fire=burns, cow=moos, horse=neighs, lion=roars, duck=quacks, owl=hoots, bee=buzzes")),
    (groups("""
A {w} can «{v}».
{A} has a {w} that can «{v}».
What can a {w} do? It can «{v}».
Everyone knows that a {w} can «{v}».
"""), _pairs("bird=fly, fish=swim, frog=jump|swim|croak, dog=bark, horse=run|gallop, snake=hiss|bite, bee=sting|fly, parrot=talk|speak|fly, monkey=climb, duck=swim|quack|fly, kangaroo=jump, cat=climb|meow, dolphin=swim, plane=fly, boat=sail|float, knife=cut, pen=write, singer=sing, dancer=dance, swimmer=swim, writer=write, painter=paint, teacher=teach, cook=cook, runner=run, driver=drive")),
    (groups("""
{w} «{v}».
{A} likes to say: {w} «{v}».
As they say: {w} «{v}».
"{w} «{v}»," said {A}.
"""), _pairs("""once upon a=time, better late than=never, roses are red and violets are=blue, happy birthday to=you, an apple a day keeps the doctor=away, practice makes=perfect, time is=money, time flies like an=arrow, the early bird catches the=worm, all is well that ends=well, no pain no=gain, home sweet=home, good morning and good=night, easy come easy=go, seeing is=believing, two heads are better than=one, first come first=served, actions speak louder than=words
as white as=snow, as busy as a=bee, as black as=coal|night, as cold as=ice, as light as a=feather, as sweet as=honey|sugar, as slow as a=snail, as hungry as a=wolf|bear, as strong as an=ox, as blind as a=bat, as sly as a=fox, as brave as a=lion, as quiet as a=mouse, as free as a=bird, as hard as=stone|rock, merry=Christmas, ladies and=gentlemen, bread and=butter, salt and=pepper, sooner or=later, day and=night, thunder and=lightning, knife and=fork""")),
    (groups("""
You {w} with your «{v}».
{A} uses {his} «{v}» to {w}.
What do you need to {w}? Your «{v}».
"""), _pairs("see=eyes, hear=ears, smell=nose, walk=legs|feet, chew=teeth, taste=tongue, think=head|brain, wave=hand|hands, kick=foot|feet, smile=mouth|lips")),
    (groups("""
You {w} with a «{v}».
{A} needs a «{v}» to {w}.
To {w}, take a «{v}».
"""), _pairs("cut paper=pair of scissors, drive in nails=hammer, open the lock=key, eat soup=spoon, dig a hole=shovel|spade, sweep the floor=broom, cut bread=knife, write on paper=pen|pencil, comb hair=comb, take photos=camera, tell the time=clock|watch, light the dark=lamp|torch|candle, call a friend=phone, cut wood=saw|axe, catch fish=net|rod, sew a shirt=needle")),
    (groups("""
{w} «{v}».
They say that {w} «{v}».
{A} told {B} that {w} «{v}».
Is it true that {w} «{v}»? Yes.
"""), _pairs("""the sun rises in the=east, the sun sets in the=west, water turns to ice when it is=cold|frozen, fish live in the=water|sea, birds fly in the=sky|air, the moon shines at=night, honey is made by=bees, milk comes from=cows, wool comes from=sheep, eggs are laid by=hens|birds, wood comes from=trees, bread is made of=flour, paper is made from=wood|trees, wine is made of=grapes, cheese is made of=milk
you wear shoes on your=feet, you wear a hat on your=head, you wear gloves on your=hands, you sleep in a=bed, the earth goes round the=sun, the moon goes round the=earth, ice is frozen=water, plants need light and=water, fire is=hot, ice is=cold, sugar is=sweet, lemons are=sour, stones are=hard, feathers are=light|soft, rain comes from the=clouds|sky, bees make=honey, hens lay=eggs, cows give=milk, spiders spin=webs
the alphabet begins with the letter=A, water boils at one hundred=degrees, there are seven days in a=week, there are twelve months in a=year, there are four=seasons, there are seven=continents, the largest planet is=Jupiter, we live on the planet=Earth, the largest ocean is the=Pacific, the fastest animal on land is the=cheetah, the tallest animal is the=giraffe, the largest animal is the blue=whale, the king of the animals is the=lion, a week begins on=Monday|Sunday, after the night comes the=day|morning, leaves fall in=autumn|fall, it is hot in=summer, it is cold in=winter, the heart pumps=blood, we breathe=air, we see with our=eyes, we hear with our=ears, cows eat=grass, cats catch=mice, a triangle has three=sides|corners|angles, a bicycle has two=wheels, a car has four=wheels, a hand has five=fingers, a foot has five=toes
the first month is=January, the last month is=December, the day after today is=tomorrow, the day before today is=yesterday, half of a pair is=one|1, a zebra is black and=white, red and white make=pink, blue and yellow make=green, red and yellow make=orange, black and white make=gray|grey""")),
    (groups("""
{w} is written «{v}».
The number {w} in figures: «{v}».
{v} in words is «{w}».
{A} says {w} and writes «{v}».
"""), _pairs("one=1, two=2, three=3, four=4, five=5, six=6, seven=7, eight=8, nine=9, ten=10, eleven=11, twelve=12, thirteen=13, fourteen=14, fifteen=15, sixteen=16, seventeen=17, eighteen=18, nineteen=19, twenty=20, thirty=30, forty=40, fifty=50, sixty=60, seventy=70, eighty=80, ninety=90, one hundred=100")),
)  # fmt: skip

FACTS: tuple[tuple[Groups, str, str], ...] = tuple(
    (tables, left, right) for tables, pairs in TOPICS for left, right in pairs
)
"""Every pair with the lines that tell it, so that all are drawn as often."""
