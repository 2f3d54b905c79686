"""Sentences whose words follow from one another: who, what, where, as told. Data only.

Slots: {A} {B} {C} people, with {he} {him} {his} {He} for {A}; {S} {T} species, {N} {M} names of
animals; {k} {l} things, {color} {hue} {tint} colors, {place} {site} places, {town} {other}
cities, {day} {date} days, {job} {work} jobs, {food} {meal} dishes, {a} {b} {m} {n} numbers.
"""

from sbd_core.tasks.infill.patterns import groups

TOLD = groups("""
{A} has a {k} and {B} has a {l}. The {k} belongs to «{A}».
{A} has a {k} and {B} has a {l}. The {l} belongs to «{B}».
{A} has a {k}, {B} has a {l}. Who has the {l}? «{B}». Who has the {k}? «{A}».
{A} owns a {k}. {B} owns a {l}. «{B}» owns the {l}, and «{A}» owns the «{k}».
The {k} is from {A} and the {l} is from {B}. So «{B}» gave us the «{l}».
{A} brought a {k}, and {B} brought a {l}. The one with the {k} is «{A}».

«1={A}» has a {S} called {N}. «1={A}» loves «{N}|it».
«1={A}» has a {S}. The {S} of «1={A}» is called {N}.
{A} has a {S} called «1={N}». Every day {he} plays with «1={N}».
«1={N}» is the {S} of {A}. {A} feeds «1={N}» every day.
My {S} is called «1={N}». Come here, «1={N}»!
The {S} «1={N}» belongs to «2={A}». «2={A}» and «1={N}» are friends.
«1={A}» got a {S} and named it {N}. Now «{N}» lives with «1={A}».

{A} has a {S} and {B} has a {T}. The «{S}» of {A} is called {N}.
{A} has a {S} and {B} has a {T}. The «{T}» of {B} is called {N}.
{A} has the {S} {N}, and {B} has the {T} {M}. «{N}» is a {S}, and «{M}» is a {T}.
{N} is a {S} and {M} is a {T}. The {T} is called «{M}». The {S} is called «{N}».
There are two animals, the {S} {N} and the {T} {M}. {M} is the «{T}», {N} the «{S}».
The {S} of {A} is called {N}, the {T} of {B} is called {M}. {N} belongs to «{A}».

The «1={k}» is «2={color}». What a nice «2={color}» «1={k}»!
{A} has a «1={color}» «2={k}». {He} likes the «2={k}» because it is «1={color}».
The {k} that {A} has is «1={color}». A «1={color}» {k} is what {he} wanted.
«1={A}» wants a «2={color}» {k}. So {B} gives «1={A}» a {k} that is «2={color}».
Q: What color is the {color} {k}? A: It is «{color}».
Look at that «1={color}» «2={k}»! I like a «2={k}» that is «1={color}».

{A} has a «1={color}» {k}, and {B} has a «2={hue}» {l}. The {k} is «1={color}». The {l} is «2={hue}».
The {k} is {color} and the {l} is {hue}. The {hue} thing is the «{l}», the {color} one the «{k}».
There is a {color} {k} and a {hue} {l}. The {l} is «{hue}», and the {k} is «{color}».
{A} likes {color} and {B} likes {hue}, so {A} takes the «{color}» {k} and {B} takes the «{hue}» one.
The {k} is {color}, the {l} is {hue}. Which one is {hue}? The «{l}».
{A} wears {color} and {B} wears {hue}. The one in {hue} is «{B}», the one in {color} is «{A}».

{A} gave {B} a {k}. Now «{B}» has the «{k}».
{A} had a {k}. {He} gave it to {B}. Now the «{k}» belongs to «{B}».
{A} sold the {k} to {B}. {B} bought the «{k}» from «{A}».
{B} got a {k} from {A}. It was «{A}» who gave the «{k}» to «{B}».
{A} lent {B} a {k}. Later «{B}» gave the «{k}» back to «{A}».
{A} threw the {k} to {B}, and {B} threw it to {C}. Now «{C}» has the «{k}».
First {A} had the {k}, then {B}, then {C}. The last one with the «{k}» was «{C}».

«1={A}» lost «2={his}» {k}. {B} found the «{k}» and gave it to «1={A}», so {A} had «2={his}» {k} again.
{A} lost a {k} in the «1={place}». {B} went to the «1={place}» and found the «{k}».
{A} forgot the {k} at the «1={place}». At the «1={place}», {B} saw the «{k}».
«1={A}» was looking for a {k}. {B} had seen the «{k}» and told «1={A}» where it was.

{A} went from {town} to {other}. First {he} was in «{town}», then in «{other}».
{A} lives in {town}, and {B} lives in {other}. To see {B}, {A} must go to «{other}».
{A} is in {town}. {B} is in {other}. In {other} you can meet «{B}», in {town} «{A}».
The train goes from {town} to {other}. It leaves «{town}» and arrives in «{other}».
{A} lives in {town}. One day {he} left «{town}» and moved to {other}. Now {he} lives in «{other}».
«1={A}» comes from «2={town}». Of all people in «2={town}», everyone knows «1={A}».
{A} was born in {town} but works in {other}. {His} work is in «{other}».

{A}, {B} and {N} the {S} are in the {place}. The only animal is «{N}».
{A} and {his} {S} «2={N}» saw the «3={place}». At the «3={place}» {he} and {his} «2={N}» played.
{A} and the {S} {N} are in the {place}. {B} comes to the «{place}» too and says hello to «{A}» and «{N}».
One day «1={A}» was in the «2={place}». In the «2={place}», «1={A}» saw a {S}.
{A} is in the {place} and {B} is in the {site}. «{B}» is in the {site}, «{A}» is in the {place}.
{A} went to the {place} first and to the {site} after that. Last {he} was at the «{site}».

There is a {k} on the table and a {l} under it. Under the table is the «{l}».
There is a {k} on the table and a {l} under it. On the table is the «{k}».
The {k} is in the box and the {l} is in the bag. In the bag is the «{l}», in the box the «{k}».
The {k} is left of the {l}. So the «{l}» is right of the «{k}».
The {k} is above the {l}. So the «{l}» is below the «{k}».
{A} put the {k} in the «1=box». The «{k}» is in the «1=box».
{A} put the {k} in the «1=drawer». Later {B} opened the «1=drawer» and took out the «{k}».

{A} sits between {B} and {C}. Next to {A} are «{B}» and {C}.
In the row stand {A}, {B} and {C}. The first is «{A}», the last is «{C}».
In the row stand {A}, {B} and {C}. In the middle is «{B}».
{A} came first, {B} second and {C} third. The winner is «{A}», and third is «{C}».
{A} won the race. {B} came after {A}, and {C} came last. Second was «{B}».
{A} runs before {B}, and {B} runs before {C}. The last one is «{C}».

If {A} is older than {B}, then {B} is younger than «{A}».
{A} is older than {B}. So «{B}» is younger than «{A}».
{A} is taller than {B}, so {B} is «shorter|smaller» than «{A}».
{A} is taller than {B}. The tall one is «{A}», the small one is «{B}».
{A} is faster than {B}, and {B} is faster than {C}. The fastest is «{A}», the slowest is «{C}».
{A} runs faster than {B}. The slower of the two is «{B}».

My name is {A}. People call me «{A}».
Hello, I am «1={A}». Nice to meet you, «1={A}»!
"Hi, I am {A}." "Hi, «{A}», I am {B}." "Nice to meet you, «{B}»."
{A} met {B}. "Hello, «{B}»!" said «{A}».
{A} asked {B}: "Where is the {k}?" «{B}» said: "The «{k}» is in the {place}, {A}."
"Where is {A}?" asked {B}. "«{A}» is in the {place}," said {C}.
"Who are you?" asked {A}. "I am {B}," said «{B}».
The teacher asks {A} a question. «{A}» knows the answer and tells the teacher.

Here come {A}, {B} and {C}: first {B}, then {C}, then «{A}».
{A}, {B} and {C} are friends. {B} and {C} play, and the third one, «{A}», watches.
There are three of them: {A}, {B} and {C}. {A} and {B} came by bus, «{C}» walked.
{A} and {B} play chess. {B} wins, so «{A}» loses.
{A} and {B} play chess. {A} loses, so «{B}» wins.
{A} calls {B}. {B} answers the call of «{A}».

{A} is a {job} and {B} is a {work}. The {work} is «{B}», and the {job} is «{A}».
{A} works as a {job}, {B} as a {work}. If you need a {work}, ask «{B}».
«1={A}» is a «2={job}». If you look for a «2={job}», ask «1={A}».
{A} wants to be a {job}. {B} wants to be a {work}. One day «{A}» will be a {job}.
The {job} is called {A} and the {work} is called {B}. «{A}» is the {job}.

{A} eats {food} and {B} eats {meal}. The {food} is for «{A}», the {meal} for «{B}».
{A} likes {food}, but {B} likes {meal}. So we cook «{food}» for {A} and «{meal}» for {B}.
«1={A}» cooks «2={food}». The «2={food}» that «1={A}» makes is very good.
For lunch there was {food}, for dinner {meal}. At dinner we ate «{meal}», at lunch «{food}».
{A} ordered {food}. The cook made the «{food}» and brought it to «{A}».

{A} comes on {day}, and {B} comes on {date}. On {date} I will see «{B}», on {day} «{A}».
The class is on «1={day}». See you on «1={day}»!
{A} was ill on {day}. On «{day}» the others worked without «{A}».
We meet on {day} in {town}. Do not forget: «{day}», «{town}»!
The party was on {day}, but now it is on {date}. So come on «{date}», not on «{day}».

The {k} costs {a} dollars and the {l} costs {b} dollars. For {b} dollars you get the «{l}».
The {k} costs {a} dollars. {A} pays «{a}» dollars and gets the «{k}».
{A} is {a} years old and {B} is {b}. The one who is {b} is «{B}», and «{A}» is {a}.
{A} has {a} coins. How many coins does {A} have? «{a}».
Room {a} is for {A} and room {b} is for {B}. «{B}» goes to room {b}, «{A}» to room «{a}».
The code is {a}-{m}-{b}. I repeat: {a}-«{m}»-«{b}».
Bus {a} goes to {town} and bus {b} goes to {other}. To get to {other}, take bus «{b}».

{A} asked for a {k}, not for a {l}. So {B} brought the «{k}» and left the «{l}» at home.
Not {A} but {B} took the {k}. It was «{B}» who took the «{k}».
{A} cannot swim, but {B} can. So «{B}» jumps into the water.
Either {A} or {B} is at home. {A} is not at home, so «{B}» is.
Both {A} and {B} have a {k}. {A} has a «{k}», and {B} has a «{k}» too.
All {Ss} here are {color}. {N} is a {S}, so {N} is «{color}».
Every {S} in the {place} has a {k}. {N} is a {S} there, so {N} has a «{k}».
A {w} is a kind of {S}. {N} is a {w}, so {N} is a «{S}|{w}».
In our secret language, {w} means {k}. When I say {w}, I want the «{k}».

{A} saw a {S}. The «{S}» ran away, and «{A}» ran after it.
A {S} came to the {place}. «{A}» fed the «{S}», and the {S} thanked {A}.
The {S} took the {k}. "Give me back my «{k}»!" said {A} to the «{S}».
The {S} {N} sat on the {k}. "Get off the «{k}», «{N}»!" said {A}.
The {S} looked at the {T}, and the {T} looked back at the «{S}».
The {S} chased the {T}. The «{T}» ran away from the «{S}».
""")
