"""Sentences whose words follow from one another, and from the forms of others. Data only.

Patterns and slots as in `sbd_core.tasks.infill.told` and `grammar`.
"""

# fmt: off
TOLD = """
{A} owns the {k}. Whose {k} is it? It is the {k} of «{A}».
This {k} is mine, said {A}. That {l} is mine, said {B}. So «{A}» owns the {k} and «{B}» the {l}.
{A} brought {food}, and {B} brought {meal}. The one who brought {meal} is «{B}».
The {k} is for {A}. The {l} is for {B}. «{B}» opens the {l}. «{A}» opens the {k}.
{A} carries a {k} and {B} carries a {l}. Who carries the «{l}»? {B}. Who carries the «{k}»? {A}.
{A} found a {k} and a {l}. {He} kept the {k} and gave away the «{l}».
There were a {k} and a {l}. {A} took the {l}. The «{k}» was left.
Of the two, {A} likes the {k} and {B} likes the {l}. Give the «{k}» to {A} and the «{l}» to {B}.
«1={A}» has a new {k}. Everyone wants to see the {k} of «1={A}».
The bag of «1={A}» is {color}. If you find a {color} bag, bring it to «1={A}».
«1={N}» is a {S}. The best friend of «1={N}» is {A}.
The {S} of {A} is «1={N}». When {he} calls "«1={N}»!", it comes.
{A} has two animals, the {S} {N} and the {T} {M}. The {T} «{M}» is older than the {S} «{N}».
{N} the {S} and {M} the {T} play. The {S} hides, so {M} looks for «{N}».
Here is «1={N}», our {S}. Say hello to «1={N}»!
{A} calls {his} {S} {N} and {his} {T} {M}. «{M}» is the name of the {T}.
What is the name of the {S}? {A} says: "It is «1={N}». Yes, «1={N}»!"
{A} feeds the {S} {N}, {B} feeds the {T} {M}. «{A}» feeds {N}, and «{B}» feeds {M}.
A {k} can be {color} or {hue}. This one is not {hue}, so it is «{color}».
{A} paints the {k} {color} and the {l} {hue}. Now the {l} is «{hue}» and the {k} is «{color}».
Is the {k} {color}? Yes, the {k} is «{color}».
Is the {k} {color}? No, it is not {color} but «1={hue}», as «1={hue}» as can be.
My {k} is «1={color}», and so is the {l}. Both are «1={color}».
{A} says: "I like {color}." {B} says: "I like {hue}." «{B}» likes {hue}, and «{A}» likes {color}.
We need a «1={color}» {k}. Not any {k}, a «1={color}» one!
All {ks} in this shop are «1={color}». {A} bought one. It is «1={color}», too.
The first {k} is {color}, the second is {hue}. The second one is «{hue}», the first one «{color}».
{A} passed the {k} on to {B}. Then {B} had the «{k}», and «{A}» did not.
{A} paid {B} for the {k}. Now the {k} is with «{A}», and the money is with «{B}».
{A} wanted the {k} of {B}. {B} said yes and gave «{A}» the «{k}».
The {k} went from {A} to {B} to {C}. It was with {A} first, with «{B}» next and with «{C}» last.
{A} sent {B} a letter. «{B}» read it and wrote back to «{A}».
{A} told {B} a secret. «{B}» did not tell the secret of «{A}» to {C}.
{B} borrowed the {k} of {A}. On {day} «{B}» brought it back to «{A}».
{A} traded a {k} for the {l} of {B}. Now {A} has the «{l}», and {B} has the «{k}».
{A} comes from {town}. {B} comes from {other}. «{A}» grew up in {town}, and «{B}» grew up in {other}.
The people of {town} know «1={A}» well, for «1={A}» lives there.
{A} flew from {town} to {other}. The trip began in «{town}» and ended in «{other}».
«1={A}» is the best cook in «2={town}». If you are in «2={town}», visit «1={A}».
Do you know {town}? {A} was born in «{town}» and lives there still.
{A} was in {town} on {day} and in {other} on {date}. On {date} {he} was in «{other}», on {day} in «{town}».
From {town} the road leads to {other}. Whoever leaves «{town}» comes to «{other}».
{A} moved away from {town}. Now «1={other}» is where {he} lives, and «1={other}» is very nice.
They met at the «1={place}». Since then the «1={place}» is where they go on {day}.
First they saw the {place}, then the {site}. The {site} came after the «{place}».
{A} waits in the {place}, {B} in the {site}. To find {A}, go to the «{place}». To find {B}, go to the «{site}».
The {S} is in the {place}. {A} looks in the {site} and finds nothing. Then {he} looks in the «{place}».
Where is the {S}? In the «1={place}». What is in the «1={place}»? The {S}.
The {k} is in front of the {l}. So the «{l}» is behind the «{k}».
The {l} is under the {k}. So the «{k}» is over the «{l}».
The {k} is on the left, and the {l} is on the right. On the right is the «{l}», on the left the «{k}».
Put the {k} into the box. What is in the box? The «{k}».
{A} hid the {k} in the «1=cupboard». Nobody looked in the «1=cupboard».
On the wall hangs a {k}, on the floor lies a {l}. The «{l}» lies on the floor, the «{k}» hangs on the wall.
In the garden stand {A} and {B}. {B} goes away. Only «{A}» is in the garden.
{A} came after {B}. So «{B}» came before «{A}».
{A} stands in front of {B}. Behind «{A}» stands «{B}».
{A}, {B} and {C} wait in line. {A} is next, then comes «{B}», and after that «{C}».
Of {A}, {B} and {C}, {C} was the first. {A} was second, and so the third was «{B}».
The order is {A}, {B}, {C}. In front of {C} is «{B}», and in front of {B} is «{A}».
{A} is younger than {B}. The older of the two is «{B}».
{A} is stronger than {B}, and {C} is stronger than {A}. The strongest is «{C}», the weakest is «{B}».
{B} is slower than {A}. So «{A}» is faster than «{B}».
{A} is {a} and {B} is {c} years old. The older one is «{B}», the younger one «{A}».
The {k} is heavier than the {l}. The heavy one is the «{k}», the light one is the «{l}».
{A} has more {ks} than {B}. So «{B}» has fewer {ks} than «{A}».
The {S} is bigger than the {T}. So the «{T}» is smaller than the «{S}».
"What is your name?" asked {A}. "My name is {B}," said «{B}» to «{A}».
"I am «1={A}»." "Pardon?" "«1={A}»! My name is «1={A}»."
Dear «1={A}», thank you for the {k}. You are the best, «1={A}»!
Dear {A}, thank you for the «1={k}». It is a lovely «1={k}»! Yours, {B}
{A} calls and {B} comes. «{B}» heard the call of {A}.
{A} knocks. {B} opens the door and says: "Hello, «{A}»!" "Hello, «{B}»!" says {A}.
{A} shouts: "{B}, where are you?" "Here I am, {A}!" says «{B}».
"This {k} is for you, {A}," said {B}. "Thank you for the «{k}», «{B}»," said {A}.
{A} and {B} have a race. {A} is faster. The winner is «{A}», and «{B}» comes second.
{A} and {B} play cards. The one who wins is {A}, so the one who loses is «{B}».
{A}, {B} and {C} were here. {A} and {C} went home. Only «{B}» stayed.
{A}, {B} and {C} go to school. {C} is ill, so only {A} and «{B}» are there.
Everyone but {A} came. {B} came, {C} came, but «{A}» did not.
{A} can drive and {B} cannot. So «{A}» drives, and «{B}» sits beside {him}.
It was not {A} who rang, it was {B}. The one who rang was «{B}».
{A} did not break the {k}. {B} did. So «{B}» has to say sorry.
Who ate the {food}, {A} or {B}? Not {A}. So it was «{B}».
The {job} is {A}. The {work} is {B}. Ask «{A}» what a {job} does, and «{B}» what a {work} does.
{A} learned to be a {job}. Now «1={A}» is a «2={job}», and a good «2={job}» too.
We need a {job}. {A} is a {work}, and {B} is a {job}. Let us call «{B}».
«1={A}» the «2={job}» is at work. What is the work of «1={A}»? {He} is a «2={job}».
{A} cooked {food}. {B} ate it. So «{B}» ate the «{food}» that «{A}» had cooked.
There is {food} or {meal}. {A} does not like {food}, so {he} takes the «{meal}».
{A} wants {food}. {B} wants {meal}. The waiter brings {A} the «{food}» and {B} the «{meal}».
Today is «1={day}». On «1={day}» {A} goes to the {place}.
The shop is open on {day} but closed on {date}. So {A} goes there on «{day}», not on «{date}».
{A} has time on {day}, {B} has time on {date}. I meet «{B}» on {date} and «{A}» on {day}.
{A} was born on a {day}, {B} on a {date}. The {day} child is «{A}», the {date} child is «{B}».
The {k} costs {a}, the {l} costs {c}. The «{l}» costs more, the «{k}» costs less.
{A} paid {a} dollars for a {k}. The price of the {k} was «{a}» dollars.
A {k} for {a} dollars: {A} gives «{a}» dollars and takes the «{k}» home.
House {a} belongs to {A} and house {c} to {B}. In house {c} lives «{B}», in house {a} «{A}».
Page {a}: the {k}. Page {c}: the {l}. To read about the {l}, open page «{c}».
The number of {A} is {m}-{n}-{a}. Write it down: «{m}»-«{n}»-{a}.
If it rains, {A} stays at home. It rains. So «{A}» stays at home.
All {Ss} can sleep. {N} is a {S}. So «{N}» can sleep.
Only {A} has a key. The door is open, so «{A}» was here.
{A} has either a {S} or a {T}. It is not a {T}, so it is a «{S}».
"{w}" is another word for {k}. If {A} asks for a {w}, give {him} a «{k}».
A {w} is a small {k}. {A} has a {w}, so {he} has a small «{k}».
The word "{w}" means "{v}". So "a big {w}" means "a big «{v}»".
The {S} looked for the {T}. At last the {S} found the «{T}».
The {S} took the {k} from {A}. {A} ran after the «{S}» to get the «{k}» back.
A {S} and a {T} met. "I am a «{S}»," said the {S}. "And I am a «{T}»," said the {T}.
The {T} is afraid of the {S}. When the «{S}» comes, the «{T}» hides.
"""
GRAMMAR = """
The {k} «is» {color}, but the {ls} are {hue}.
These {ks} «are» {color}, and that {l} is {hue}.
Those {ls} «are» old, this {k} «is» new.
Where «is» the {k}? Where «are» the {ls}?
{A} «is» at home, and {B} and {C} «are» at work.
You «are» late, and I «am» late, too.
I «am» from {town}, and {A} «is» from {other}.
We «are» tired. {A} «is» tired, too.
My {k} «is» new. My {ls} «are» old.
{A} «was» late yesterday, and we «were» late, too.
The {ks} «were» here, and the {l} «was» there.
Last {day} I «was» ill. Last {date} you «were» ill.
There «was» one {k}. There «were» two {ls}.
{A} «has» {m} {ks}. I «have» none.
I «have» a {S}, you «have» a {T}, and {A} «has» both.
They «have» {ks}. {A} «has» {ls}.
At first I had one {k}, now I have {m} «{ks}».
One {k} is here. {m} more «{ks}» are there.
{A} wants one {k}. {B} wants two «{ks}».
I see {m} {ks}. One of the «{ks}» is {color}.
Not one {k} but many «{ks}»!
If one {k} is good, two «{ks}» are better.
How many {ks}? Only one «{k}».
A single {one} is nothing. Many «{many}» are a lot.
First one {one} came, then ten «{many}» came.
We have {m} {many}. Yesterday we had one «{one}».
No {one} is like another: all «{many}» differ.
{A} has one {one}. {B} has more «{many}» than {A}.
I {do} more than {B}, but {A} «{does}» most.
We all {do}. {A} «{does}», {B} «{does}», and you «{do}».
{A} «1={does}» well, and they «1={do}» well, too.
Every {day} {A} «1={does}», and on {date} {B} «1={does}».
Look! {A} is «1={doing}», and the others are «1={doing}», too.
{A} likes «1={doing}». For {him} «1={doing}» is the best of all.
They were «1={doing}» all day, and we were «1={doing}», too.
Yesterday I «{did}» a lot. Today I {do} a little.
Last year {A} «1={did}» here. Next year {he} will «1={do}» here again.
{A} «1={did}» yesterday, and today {he} «1={does}» again.
Can you «1={do}»? {A} can «1={do}» very well.
Let us «1={do}»! {A} «1={does}» already.
{A} «does» not know, and we «do» not know.
You do not {do}. «Does» {A}? No, {A} «does» not.
{A} did not «1={do}» yesterday, but I «1={did}».
My {k} is as {color} «as» yours.
{A} is taller «than» {B} and as old «as» {C}.
I would rather {do} «than» sleep.
{A} loves {his} {S}, and the {S} loves «{him}».
This {k} belongs to {A}. It is «{his}» {k}.
{A} hurt «{his}|the» foot, so {B} helped «{him}».
I love my {S}, and {A} loves «{his}|the|my» {S}.
We like our {k}. You like «your|the|our» {l}.
Are they from {town}? Yes, they «are».
Is {A} a {job}? No, {he} «is» not.
Have you a {k}? Yes, I «have».
Did you {do}? Yes, I «did».
Were you in {town}? Yes, we «were».
Can {A} {do}? No, {he} «cannot».
"""
KNOWLEDGE = (
    """
What is the opposite of {w}? «{v}».
If it is not {w}, it is «{v}».
{A} thinks it is {w}. {B} thinks just the opposite: it is «{v}».
Opposites: {w} and «{v}».
Opposites: {v} and «{w}».
Is it {w}? No, quite the opposite: «{v}».
From {w} to «{v}».
Either {w} or «{v}».
""",
    """
{w}, then «{v}»: every year {A} gets more so.
This one is {w}, but that one is «{v}».
I am {w}, you are «{v}» than I am.
""",
    """
It is not just {w}, it is the «{v}» of them all.
{A} and {B} are {w}, but who is the «{v}»?
No other {k} is so {w}: it is the «{v}».
""",
    """
A little {w} is called a «{v}».
A {v} is a very young «{w}».
First it is a {v}, later it is a «{w}».
The child of a {w} is a «{v}».
The {w} and its baby, the «{v}», are here.
""",
    """
Where does a {w} live? In a «{v}».
{A} built a «{v}» for the {w}.
Every {w} needs a «{v}».
""",
    """
"«{v}»," said the {w}.
Hear the {w}: «{v}», «{v}»!
A {w} goes «{v}».
""",
    """
What is the capital of {w}? «{v}».
{A} lives in {v}, the capital of «{w}».
{w} has a famous capital: «{v}».
The train to {w} goes to its capital, «{v}».
The city of {v} is in «{w}».
""",
    """
{A} was born in {w}. Of course {he} speaks «{v}».
To live in {w} you should learn «{v}».
What do people speak in {w}? «{v}».
""",
    """
Think of {w}. What color do you see? «{v}».
As «{v}» as {w}.
{A} says that {w} is «{v}», and that is right.
""",
    """
Where does a {w} work? In a «{v}».
Every morning the {w} goes to the «{v}».
A «{v}» is where a {w} works.
""",
    """
A {w} walks on «{v}» legs.
Count the legs of a {w}: «{v}».
""",
    """
Count the sides of {w}: «{v}».
All in all {w} has «{v}» sides.
""",
    """
How long or how much is {w}? «{v}».
{w} is made up of «{v}».
""",
    """
The {w} is one kind of «{v}».
Do you know what a {w} is? Yes, a «{v}».
Like any «{v}», a {w} has a name.
Every {w} is a «{v}».
""",
    """
First comes {v}, then comes «{w}».
When {v} is over, «{w}» begins.
""",
    """
What does the {w} do? It «{v}».
Now the {w} «{v}».
""",
    """
Of course a {w} can «{v}».
Can a {w} «{v}»? Yes, it can.
A {w} is good at this: it can «{v}».
""",
    """
How does it go? {w} «{v}».
{A} knows the saying: {w} «{v}».
Remember: {w} «{v}».
""",
    """
What are your «{v}» for? To {w}.
I {w} with my «{v}».
""",
    """
With a «{v}» you can {w}.
If you want to {w}, get a «{v}».
""",
    """
I know that {w} «{v}».
{A} learned at school that {w} «{v}».
It is true: {w} «{v}».
Do you know that {w} «{v}»?
""",
    """
{w} is the word for «{v}».
The word for {v} is «{w}».
Write {w} as a number: «{v}».
Write {v} as a word: «{w}».
""",
)
"""Lines for each of the topics of the task, in their order."""
# fmt: on
