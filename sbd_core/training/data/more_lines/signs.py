r"""Lines of sums, of JSON and of Python whose parts follow from one another. Data only.

Patterns and slots as in `sbd_core.tasks.infill.numbers`, `records` and `code`; \n is a new line.
"""

# fmt: off
NUMBERS = """
«1={c}» = «1={a}» + «1={b}»
«1={a}» = «1={c}» - «1={b}»
«1={p}» = «1={m}» * «1={n}»
«1={m}» * «1={n}» is «1={p}»
«1={a}» + «1={b}» equals «1={c}»
«1={c}» - «1={b}» equals «1={a}»
«1={m}» * «1={n}» equals «1={p}»
«1={p}» / «1={n}» equals «1={m}»
«1={p}»/«1={m}»=«1={n}»
«1={p}» / «1={m}» is «1={n}»
«1={mnd}» = «1={m}» + «1={n}» + «1={d}»
{a} + {b} = {b} + «{a}»
{c} = {a} + {b}, and {c} = «{b}» + {a}
{c} - {a} = «{b}», and {c} - {b} = «{a}»
If {m} * {n} = {p}, then {p} / {n} = «{m}»
If {a} + {b} = {c}, then {c} - {b} = «{a}»
«1={c}» is «1={a}» plus «1={b}».
«1={a}» is «1={c}» minus «1={b}».
«1={p}» is «1={m}» times «1={n}».
Add «1={b}» to «1={a}» and you have «1={c}».
Take «1={b}» away from «1={c}» and you have «1={a}».
Multiply {m} by {n}: «{p}».
Divide {p} by {m}: «{n}».
What is {a} plus {b}? «{c}».
What is {c} minus {b}? «{a}».
What is {m} times {n}? «{p}».
What is {p} divided by {n}? «{m}».
{m} and {n} and {d} make «{mnd}».
The sum of {m}, {n} and {d} is «{mnd}».
The double of {n} is «{double}».
Two times {n} is «{double}».
{n} twice is «{double}».
{double} is twice «{n}».
{double} is two times «{n}».
One half of {double} is «{n}».
{n} is half of «{double}».
If you halve {double}, you get «{n}».
If you double {n}, you get «{double}».
Add {n} to {n}: «{double}».
«{next_a}» follows {a}.
«{before_a}» stands before {a}.
Count on: {before_a}, {a}, «{next_a}».
Count back: {next_a}, {a}, «{before_a}».
{a} and one more is «{next_a}».
{a} less one is «{before_a}».
{next_a} comes just after «{a}».
{c} or {a}: the greater one is «{c}».
{c} or {a}: the smaller one is «{a}».
Is {c} larger than {a}? «Yes».
Is {a} larger than {c}? «No».
{a} is not more than {c}, it is «less|smaller».
«1={wm}» and «1={wn}» is «1={wmn}».
«1={wmn}» less «1={wn}» is «1={wm}».
«1={wmn}» equals «1={wm}» plus «1={wn}».
Take «1={wn}» from «1={wmn}», and «1={wm}» is left.
What is {wm} plus {wn}? «{wmn}».
What is {wmn} minus {wm}? «{wn}».
{wm} {ks} and {wn} more are «{wmn}» {ks}.
{A} had {wmn} {ks}. {He} gave {wn} to {B} and kept «{wm}».
{A} buys «1={wm}» {ks} and «1={wn}» {ls}: «1={wmn}» things in all.
{A} buys «1={a}» {ks} and «1={b}» {ls}: «1={c}» things in all.
There are «1={a}» {ks} and «1={b}» {ls}. That makes «1={c}».
«1={c}» {ks} were here. «1={b}» are gone. «1={a}» are still here.
{A} needs «1={c}» {ks} and has «1={a}». «1={b}» are missing.
{A} has {a} {ks}. {B} has {b} more than {A}. So {B} has «{c}».
{A} has {c} {ks}. {B} has {b} fewer than {A}. So {B} has «{a}».
In each of «1={m}» rows stand «1={n}» {ks}, «1={p}» in all.
«1={p}» {ks} in «1={m}» equal boxes: «1={n}» in each.
Each of {m} friends gets {n} {ks}. They need «{p}» {ks}.
{A} has {n} {ks}, and {B} has twice as many. {B} has «{double}».
{A} has {double} {ks}, and {B} has half as many. {B} has «{n}».
A {k} for {a} dollars and a {l} for {b} dollars cost «{c}» dollars.
{A} pays with {c} dollars for a {k} of {b} dollars and gets back «{a}».
"""
RECORDS = r"""
{{"from": "«{town}»", "to": "«{other}»"}} means: {A} went from {town} to {other}.
{A} has {a} {ks} and {b} {ls}. {{"{ks}": «{a}», "{ls}": «{b}»}}
{A} paid {a} dollars for a {color} {k}. {{"buyer": "«{A}»", "color": "«{color}»", "price": «{a}»}}
{N} and {M} are the pets of {A}. {{"pets": ["«{N}»", "«{M}»"], "owner": "«{A}»"}}
The {job} of {town} is {A}. {{"name": "«{A}»", "job": "«{job}»", "city": "«{town}»"}}
On {day} we eat {food}. {{"day": "«{day}»", "food": "«{food}»"}}
{A} likes {color}, {B} likes {hue}. {{"{A}": "«{color}»", "{B}": "«{hue}»"}}
{{"name": "{A}", "hello": "Hello, «{A}»!"}}
{{"to": "{A}", "subject": "For «{A}»", "from": "{B}", "end": "Yours, «{B}»"}}
{{"user": "«1={w}»", "mail": "«1={w}»@mail.com"}}
{{"page": «1={a}», "title": "Page «1={a}»"}}
{{"key": "{x}", "value": {a}, "line": "«{x}» = «{a}»"}}
{{"{x}": {a}, "copy of {x}": «{a}»}}
{{"first": "{w}", "second": "{v}", "both": "«{w}» and «{v}»"}}
{{"parts": ["{w}", "{v}"], "path": "«{w}»/«{v}»"}}
{{"a": "{w}", "b": "{v}", "ab": "{w}«{v}»"}}
{{"low": {a}, "high": {c}, "difference": «{b}»}}
{{"one costs": {m}, "pieces": {n}, "all cost": «{p}»}}
{{"sum": «{c}», "of": [{a}, {b}]}}
{{"product": «{p}», "of": [{m}, {n}]}}
{{"n": {n}, "twice n": «{double}»}}
{{"n": {a}, "next": «{next_a}», "previous": «{before_a}»}}
{{"{a} + {b}": «{c}», "{m} * {n}": «{p}»}}
{{"max of {a} and {c}": «{c}», "min of {a} and {c}": «{a}»}}
{{"max": «{c}», "min": «{a}», "of": [{a}, {c}]}}
{{"{c} < {a}": «false», "{a} < {c}": «true»}}
{{"{a} = {a}": «true», "{a} = {c}": «false»}}
{{"is {c} more than {a}": «true», "is {a} more than {c}": «false»}}
{{"items": ["{w}", "{v}", "{k}"], "second": "«{v}»", "third": "«{k}»"}}
{{"items": ["{w}", "{v}"], "end": "«{v}»", "begin": "«{w}»"}}
{{"items": ["{k}", "{l}"], "number": «2»}}
{{"items": ["{k}", "{l}", "{w}", "{v}"], "number": «4»}}
{{"items": [], "number": «0»}}
{{"items": ["{k}"], "number": «1»}}
{{"list": ["{w}", "{v}"], "reversed": ["«{v}»", "«{w}»"]}}
{{"word": "{w}", "begins with": "«{w0}»"}}
{{"big": "{W}", "small": "«{w}»"}}
{{"on": true, "off": «false»}}
{{"empty": false, "full": «true»}}
{{"true": «true», "false": «false»}}
[{{"id": {a}}}, {{"id": «{next_a}»}}]
[{{"{x}": "{w}"}}, {{"«{x}»": "{v}"}}]
{{"{A}": {{"city": "{town}"}}, "{B}": {{"«city»": "{other}"}}}}
[["{A}", {a}], ["{B}", {b}]] is {{"«{A}»": «{a}», "«{B}»": «{b}»}}
["{w}", "{w}", "«{w}»"]
[{a}, {b}, {a}, {b}, «{a}», «{b}»]
[10, 20, «30», 40]
[5, 4, «3», «2», 1]
"""
CODE = r"""
def {f}({x}, {y}):\n    result = {x} - «{y}»\n    return «result»
def {f}({x}, {y}):\n    {f}_total = {x} + {y}\n    return «{f}_total»
def {f}({x}, {y}):\n    return «{y}» - «{x}»  # {y} minus {x}
def {f}({x}, {y}):\n    # {x} plus {y}\n    return {x} «+» {y}
def {f}({x}, {y}):\n    # {x} minus {y}\n    return {x} «-» {y}
def {f}({x}):\n    # twice {x}\n    return «2» * {x}
def {f}({x}):\n    {y} = {x} + {a}\n    «return» «{y}»
def {f}({x}):\n    answer = «{x}» - {a}\n    return «answer»
def {f}({x}: str) -> str:\n    return «{x}».upper()
«def» {f}({x}) -> bool:\n    return {x} > {a}
«1={f}» = lambda {x}: {x} + {a}\nprint(«1={f}»({b}))
def «1={f}»({x}, {y}):\n    return {x} + {y}\n\nprint(«1={f}»({a}, {b}))
def {f}({x}, {y}):\n    return {x} * {y}\n\nprint({f}({m}, {n}))  # «{p}»
def {f}():\n    return {a}\n\nprint({f}())  # «{a}»
def {f}({xs}):\n    return [{x} + {a} for «{x}» in {xs}]
def {f}({xs}):\n    return [«{x}» for {x} in {xs} if «{x}» > {a}]
def {f}({xs}):\n    return max(«{xs}»)
def {f}({xs}):\n    return min(«{xs}»)
def {f}({xs}):\n    return «{xs}»[-1]
def {f}({xs}):\n    return sum(«{x}» for {x} in «{xs}»)
def {f}({xs}):\n    result = 1\n    for {x} in «{xs}»:\n        result *= «{x}»\n    return «result»
def {f}({xs}):\n    found = []\n    for {x} in {xs}:\n        if {x} > {a}:\n            «found».append(«{x}»)\n    return «found»
def {f}({xs}):\n    biggest = {xs}[0]\n    for {x} in «{xs}»:\n        if {x} > biggest:\n            biggest = «{x}»\n    return «biggest»
def {f}({xs}, {y}):\n    for {x} in {xs}:\n        if {x} == «{y}»:\n            return True\n    return «False»
def {f}({xs}, {y}):\n    return «{y}» in «{xs}»
def last_of({xs}):\n    return {xs}[«-1»]
def first_of({xs}):\n    return {xs}[«0»]
def how_many({xs}):\n    return «len»({xs})
def add_up({xs}):\n    return «sum»({xs})
def biggest_of({xs}):\n    return «max»({xs})
def least_of({xs}):\n    return «min»({xs})
def twice({x}):\n    return «2» * {x}
def minus({x}, {y}):\n    return {x} «-» {y}
def plus({x}, {y}):\n    return {x} «+» {y}
def times({x}, {y}):\n    return {x} «*» {y}
def is_negative({x}):\n    return {x} < «0»
# the last of the list\nprint({xs}[«-1»])
# the first of the list\nprint({xs}[«0»])
# the smallest one\n{x} = «min»({xs})
# the lowest of them\nprint(«min»({xs}))
# the highest of them\nprint(«max»({xs}))
# how many there are\nprint(«len»({xs}))
# all of them added\nprint(«sum»({xs}))
# from small to large\nprint(«sorted»({xs}))
# {x} as text\n{y} = «str»({x})
# {x} as a whole number\n{y} = «int»({x})
# if there is nothing in the list\nif «not» {xs}:\n    print('nothing')
if «not» {xs}:\n    return None
if «not» {x}:\n    print('no {x}')
if {x} «in» {xs}:\n    print({x})
if {x} «not» in {xs}:\n    {xs}.append({x})
if {x} > {a} «and» {x} < {c}:\n    print({x})
if {x} «is» not None:\n    print({x})
if {x}:\n    print('yes')\n«else»:\n    print('no')
for {x} in range({a}):\n    print(«{x}»)
for {x} in «range»(2, {c}):\n    print(«{x}»)
for «{x}» in {xs}:\n    {y}.append({x})
for {x} in {xs}:\n    {y} += «{x}»
for key in ages:\n    print(«key»)
for name, age in ages.items():\n    print(«name», «age»)
for value in ages.«values»():\n    print(value)
for {x}, {y} in ages.«items»():\n    print({x}, {y})
{xs} = [{a}, {b}, {m}]\nprint({xs}[2])  # «{m}»
{xs} = [{a}, {b}, {m}]\nprint(len({xs}))  # «3»
{xs} = [{a}]\n{xs}.append({b})\nprint({xs})  # [{a}, «{b}»]
{xs} = ['{w}', '{v}']\nprint({xs}[0])  # «{w}»
{xs} = ['{w}', '{v}']\nprint({xs}[-1])  # «{v}»
{xs} = ['{w}', '{v}']\nfor {x} in «{xs}»:\n    print(«{x}»)
«{xs}» = []\nfor {x} in range({m}):\n    {xs}.append(«{x}»)
{x} = {b}\n{x} = {x} + {a}\nprint({x})  # «{c}»
{x} = {m}\n{x} *= {n}\nprint({x})  # «{p}»
{x} = {p}\n{x} //= {m}\nprint({x})  # «{n}»
{x} = {a}\n{y} = {x}\nprint({y})  # «{a}»
{x} = {a}\n{x} = {c}\nprint({x})  # «{c}»
print({a} < {c})  # «True»
print({c} < {a})  # «False»
print({a} == {c})  # «False»
print({c} == {c})  # «True»
{x} = {c} == {a}  # «False»
{x} = {c} != {a}  # «True»
print('{w}' == '{w}')  # «True»
print('{w}'[:1])  # «{w0}»
print('{w}' + '{v}')  # {w}«{v}»
print('{w}', '{v}')  # «{w}» «{v}»
print(' '.join(['{w}', '{v}']))  # «{w}» «{v}»
print('{w} {v}'.split()[0])  # «{w}»
import «random»\n{x} = random.random()
import «json»\n{x} = json.dumps({y})
import «time»\ntime.sleep({a})
import time\n«time».sleep({a})
from random import «shuffle»\nshuffle({xs})
{x} = {f}({a})\nif «{x}» > {b}:\n    print(«{x}»)
{x} = {f}({a})\nassert «{x}» == {c}
{y} = {f}({x})\nreturn «{y}» + {a}
class {Cls}:\n    def «__init__»(self, {x}):\n        self.{y} = {x}
class {Cls}:\n    def {f}(self):\n        return «self».{x} + {a}
class {Cls}:\n    {x} = {a}\n\nprint(«{Cls}».{x})  # «{a}»
ages = {{'{w}': {a}}}\nages['{v}'] = {b}\nprint(ages['{v}'])  # «{b}»
ages = {{'{w}': {a}}}\nif '{w}' in «ages»:\n    print(ages['«{w}»'])
while «{x}» > {a}:\n    {x} -= 1
while True:\n    {x} -= 1\n    if {x} == 0:\n        «break»
"""
# fmt: on
