r"""Lines of Python whose parts follow from one another. Data only; \n is a new line.

Slots: {f} a function, {x} {y} variables, {xs} a list, {Cls} a class, {w} a word with {W} in
capitals and {w0} its first letter; numbers as in the sums.
"""

from sbd_core.tasks.infill.patterns import groups, split_words

CODE = groups(r"""
def {f}({x}, {y}):\n    return {x} + «{y}»
def {f}({x}, {y}):\n    return «{x}» - {y}
def {f}({x}, {y}):\n    # {x} times {y}\n    return «{x}» * «{y}»
def {f}({x}, {y}):\n    total = {x} + «{y}»\n    return «total»
def {f}({x}):\n    «return» «{x}» * {m}
def {f}({x}):\n    result = «{x}» + {a}\n    return «result»
«def» {f}({x}, {y}):\n    return {x} * {y}
def {f}({x}: int) -> int:\n    return «{x}» + {a}
def {f}({x}, {y}):\n    «return» {x} - {y}

def «1={f}»({x}):\n    return {x} + {a}\n\nprint(«1={f}»({b}))
def «1={f}»({x}):\n    return {x} * {m}\n\nresult = «1={f}»({n})
def «1={f}»():\n    print('{w}')\n\n«1={f}»()
«def» «1={f}»({x}):\n    return {x} - {a}\n\n«1={f}»({c})

def {f}({x}):\n    return {x} + {a}\n\nprint({f}({b}))  # «{c}»
def {f}({x}):\n    return {x} * {m}\n\nprint({f}({n}))  # «{p}»
def {f}({x}, {y}):\n    return {x} + {y}\n\nprint({f}({a}, {b}))  # «{c}»
def {f}({x}, {y}):\n    return {x} - {y}\n\nprint({f}({c}, {b}))  # «{a}»

def double({x}):\n    return {x} * «2»
def double({x}):\n    return «2» * «{x}»

def triple({x}):\n    return {x} * «3»

def half({x}):\n    return {x} / «2»

def square({x}):\n    return {x} * «{x}»
def square({x}):\n    return {x} ** «2»

def cube({x}):\n    return {x} ** «3»

def negate({x}):\n    return «-»{x}

def next_number({x}):\n    return {x} + «1»

def is_even({x}):\n    return {x} % «2» == «0»

def is_odd({x}):\n    return {x} % «2» == «1»

def is_zero({x}):\n    return {x} == «0»

def is_positive({x}):\n    return {x} > «0»

def add({x}, {y}):\n    return {x} «+» {y}
def sum_of({x}, {y}):\n    return {x} «+» «{y}»

def subtract({x}, {y}):\n    return {x} «-» {y}

def multiply({x}, {y}):\n    return {x} «*» {y}
def product({x}, {y}):\n    return «{x}» «*» {y}

def divide({x}, {y}):\n    return {x} «/» {y}

def are_equal({x}, {y}):\n    return {x} «==» {y}

def larger({x}, {y}):\n    return «max»({x}, {y})

def smaller({x}, {y}):\n    return «min»({x}, {y})

def is_larger({x}, {y}):\n    return {x} «>» {y}

def is_smaller({x}, {y}):\n    return {x} «<» {y}

def first({xs}):\n    return {xs}[«0»]

def last({xs}):\n    return {xs}[«-1»]

def total({xs}):\n    return «sum»({xs})

def largest({xs}):\n    return «max»({xs})

def smallest({xs}):\n    return «min»({xs})

def length({xs}):\n    return «len»({xs})

def in_order({xs}):\n    return «sorted»({xs})

def backwards({xs}):\n    return {xs}[::«-1»]

def is_empty({xs}):\n    return len({xs}) == «0»

def count_words(text):\n    return len(text.«split»())

def loud(text):\n    return text.«upper»()

def quiet(text):\n    return text.«lower»()

def average({xs}):\n    return «sum»({xs}) / «len»({xs})

def {f}({xs}):\n    return len(«{xs}»)
def {f}({xs}):\n    return sum(«{xs}»)
def {f}({xs}):\n    return «{xs}»[0]
def {f}({xs}):\n    return sorted(«{xs}»)
def {f}({xs}):\n    for {x} in «{xs}»:\n        print(«{x}»)
def {f}({xs}):\n    return [{x} * {m} for {x} in «{xs}»]
def {f}({xs}):\n    total = 0\n    for {x} in «{xs}»:\n        total += «{x}»\n    return «total»
def {f}({xs}):\n    result = []\n    for {x} in «{xs}»:\n        «result».append(«{x}»)\n    return «result»
def {f}({xs}):\n    count = 0\n    for {x} in {xs}:\n        if «{x}» > {a}:\n            «count» += 1\n    return «count»

for {x} in {xs}:\n    print(«{x}»)
for {x} «in» {xs}:\n    total += «{x}»
«for» {x} in {xs}:\n    total += {x}
total = 0\nfor {x} in {xs}:\n    «total» += «{x}»
{xs} = [{a}, {b}]\nfor {x} in «{xs}»:\n    print(«{x}»)
for {x} in {xs}:\n    if «{x}» > {a}:\n        print(«{x}»)
for {x}, {y} in pairs:\n    print({x}, «{y}»)

for {x} in «range»({m}):\n    print({x})
for {x} in range({m}):\n    print(«{x}»)
for {x} «in» range({a}, {c}):\n    print(«{x}»)
for i, {xi} in «enumerate»({xs}):\n    print(i, «{xi}»)
for i, {xi} in enumerate({xs}):\n    print(«i», «{xi}»)
for {x}, {y} in «zip»({xs}, others):\n    print({x}, «{y}»)

{xs} = [{a}, {b}]\nprint(len(«{xs}»))  # «2»
{xs} = []\n«{xs}».append({a})
{xs} = []\n{xs}.«append»({a})\nprint({xs})  # [«{a}»]
{xs} = [{a}, {b}, {m}]\nprint({xs}[0])  # «{a}»
{xs} = [{a}, {b}, {m}]\nprint({xs}[1])  # «{b}»
{xs} = [{b}, {a}, {m}]\nprint({xs}[-1])  # «{m}»
{xs} = [{a}, {c}]\nprint(sum({xs}) - {a})  # «{c}»
{xs} = [{a}, {c}]\nprint(max({xs}))  # «{c}»
{xs} = [{a}, {c}]\nprint(min({xs}))  # «{a}»
{xs} = [{a}, {b}]\nprint(sum({xs}))  # «{c}»
{xs} = [{a}, {b}]\n{x}, {y} = «{xs}»\nprint({x})  # «{a}»

[{x} for «{x}» in {xs}]
[«{x}» * {m} for {x} «in» {xs}]
[{x} for {x} in {xs} «if» {x} > {a}]
{xs} = [«{x}» + {a} for {x} in range({m})]
sum(«{x}» for {x} in {xs})
squares = [{x} * «{x}» for {x} in {xs}]
{{{x}: len(«{x}») for {x} in {xs}}}

{f} = lambda {x}: «{x}» + {a}
{f} = «lambda» {x}: {x} * {m}
{f} = lambda {x}, {y}: {x} * «{y}»
{f} = lambda {x}: {x} + {a}\nprint({f}({b}))  # «{c}»

{x}, {y} = {y}, «{x}»
{x}, {y} = {a}, {b}\nprint({y})  # «{b}»
{x} = {a}\n{y} = «{x}»  # a copy of {x}
old = {x}\n{x} = {y}\n{y} = «old»

if {x} > {y}:\n    print({x})\n«else»:\n    print({y})
if {x} > {y}:\n    biggest = «{x}»\nelse:\n    biggest = «{y}»
if {x} < {y}:\n    smallest = «{x}»\nelse:\n    smallest = «{y}»
«if» {x} == {a}:\n    print({x})\nelse:\n    print({y})
if {x} is None:\n    «{x}» = {a}
if {x} «is» None:\n    {x} = {a}
if «not» {xs}:\n    print('{xs} is empty')
if {x} == {a}:\n    print('first')\n«elif» {x} == {b}:\n    print('two')\nelse:\n    print('other')

if {x} % 2 == «0»:  # even\n    print({x})
if {x} % 2 == «1»:  # odd\n    print({x})
is_even = {x} % «2» == «0»
is_odd = {x} % «2» == «1»

while {x} > 0:\n    «{x}» -= 1
«while» {x} < {a}:\n    {x} += 1
{x} = 0\nwhile «{x}» < {a}:\n    «{x}» += 1
while True:\n    {x} += 1\n    if «{x}» > {a}:\n        «break»

try:\n    {x} = int(text)\n«except» ValueError:\n    «{x}» = 0
«try»:\n    {x} = int(text)\nexcept ValueError:\n    {x} = 0
try:\n    {x} = {xs}[0]\nexcept IndexError:\n    «{x}» = None
try:\n    {x} = {y} / {a}\nexcept «ZeroDivisionError»:\n    {x} = 0

with open(path) «as» file:\n    {x} = «file».read()
«with» open(path) as file:\n    {xs} = file.readlines()
with «open»(path) as file:\n    {x} = file.read()
with open(path) as file:\n    for line in «file»:\n        print(«line»)

import «math»\n{x} = math.sqrt({a})
import math\n{x} = «math».floor({y})
«import» random\n{x} = random.choice({xs})
import random\n{x} = «random».randint(1, {a})
«import» json\n{x} = json.loads(text)
from random «import» choice\n{x} = «choice»({xs})
from math import «sqrt»\n{x} = sqrt({a})
«from» math import sqrt\n{x} = sqrt({a})

# the total of the list\nreturn «sum»({xs})
# the sum of the list\nreturn «sum»({xs})
# add up all numbers\n{x} = «sum»({xs})
# the largest of the list\nreturn «max»({xs})
# the biggest one\n{x} = «max»({xs})
# the smallest of the list\nreturn «min»({xs})
# the least of all\n{x} = «min»({xs})
# the number of elements\nreturn «len»({xs})
# how long the list is\n{x} = «len»({xs})
# the list in order\nreturn «sorted»({xs})
# {x} or {y}, whichever is larger\nreturn «max»({x}, «{y}»)
# {x} or {y}, whichever is smaller\nreturn «min»({x}, «{y}»)
# {x} without its sign\nreturn «abs»({x})
# turn text into a number\n{x} = «int»(text)
# show {x}\n«print»({x})
# ask the user\n{x} = «input»('{w}? ')

class {Cls}:\n    def __init__(self, {x}):\n        self.«{x}» = «{x}»
class {Cls}:\n    def __init__(self, {x}, {y}):\n        self.{x} = «{x}»\n        self.{y} = «{y}»
class {Cls}:\n    def {f}(«self», {x}):\n        return «{x}»
«class» {Cls}:\n    def {f}(self):\n        return self.{x}
«class» {Cls}:\n    pass
class {Cls}:\n    def __init__(self):\n        self.{x} = {a}\n\n    def {f}(self):\n        return «self».{x}
{x} = «{Cls}»({a})  # a new {Cls}
class «1={Cls}»:\n    pass\n\n{x} = «1={Cls}»()

{x} = {a}\n{y} = {x} + {b}\nprint({y})  # «{c}»
{x} = {a}\n{x} += {b}\nprint({x})  # «{c}»
{x} = {c}\n{x} -= {b}\nprint({x})  # «{a}»
{x} = {m}\n{y} = {n}\nprint({x} * {y})  # «{p}»
{x} = {a}\n{y} = {b}\nprint({x} + {y})  # «{c}»
print({a} + {b})  # «{c}»
print({c} - {b})  # «{a}»
print({m} * {n})  # «{p}»
print({p} // {m})  # «{n}»
{x} = {a}\nprint(«{x}»)  # «{a}»
assert {a} + «{b}» == {c}
assert {m} * {n} == «{p}»

print('{w}' + 's')  # «{w}s»
print('{w}'.upper())  # «{W}»
print('{W}'.lower())  # «{w}»
print('{w}'[0])  # «{w0}»
print('{w}' * 2)  # «{w}{w}»
print(['{w}', '{v}'][1])  # «{v}»
{x} = '{w}'\nprint({x})  # «{w}»
{x} = '{w}'\nprint({x} + ' {v}')  # «{w}» {v}
{x} = '{w} {v}'\nprint({x}.split())  # ['{w}', '«{v}»']
print(f'{{«{x}»}} and {{«{y}»}}')  # {x} and {y}

{x} = not True  # «False»
{x} = not False  # «True»
{x} = {a} > {c}  # «False»
{x} = {c} > {a}  # «True»
{x} = {a} == {a}  # «True»
{x} = {c} < {b}  # «False»

ages = {{'{w}': {a}}}\nprint(ages['«{w}»'])  # «{a}»
ages = {{'{w}': {a}, '{v}': {b}}}\nprint(ages['{v}'])  # «{b}»
ages = {{}}\nages['{w}'] = {a}\nprint(ages['«{w}»'])
for key, value in ages.items():\n    print(«key», «value»)
for key in ages:\n    print(«key», ages[«key»])

assert {f}({a}) == {c}\nprint(«{f}»({a}))  # «{c}»
{x} = {f}({a})\nprint(«{x}»)
{x} = {f}({a})\nreturn «{x}»
{x} = {f}({a})\n{y} = {f}(«{x}»)\nprint({y})
""")

FUNCTIONS = split_words("""add total best score change update scale merge join area price count measure pick find
    make get check show greet""")
VARIABLES = split_words("""x y a b n m i j value item number word name price width height size start end left right
    first second key low high age side speed weight length step part row""")
LISTS = split_words("""items numbers words values names prices results lines rows data scores ages points parts
    cards""")
CLASSES = split_words("""Point Box Player Shop Animal Car Book Counter Robot Ball Clock Team""")
WORDS = split_words("""cat dog sun tree apple river stone table bird house green music paper moon lamp fish red
    door""")
