"""Lines of Python whose parts follow from one another; marks as in infill_lines. Data only.

Slots: {f} a function, {x} {y} variables, {xs} a list, {Cls} a class, {w} a word, numbers as there.
What they are drawn from is words apart by spaces.
"""

FUNCTIONS = "add total best score change update scale merge join area price count measure pick"
VARIABLES = """x y a b n m i j value item number word name price width height size start end left
    right first second key low high"""
LISTS = "items numbers words values names prices results lines rows data scores"
CLASSES = "Point Box Player Shop Animal Car Book Counter"
WORDS = "cat dog sun tree apple river stone table bird house green music paper"

CODE: tuple[str, ...] = (
    "def {f}({x}, {y}):\n    return {x} + «{y}»",
    "def {f}({x}, {y}):\n    return «{x}» - {y}",
    "def {f}({x}):\n    «return» «{x}» * {m}",
    "«def» {f}({x}, {y}):\n    return {x} * {y}",
    "def «1={f}»({x}):\n    return {x} + {a}\n\nprint(«1={f}»({b}))",
    "def {f}({x}: int) -> int:\n    return «{x}» + {a}",
    "def {f}({xs}):\n    return len(«{xs}»)",
    "def {f}({xs}):\n    for {x} in «{xs}»:\n        print(«{x}»)",
    "for {x} in {xs}:\n    print(«{x}»)",
    "for {x} «in» {xs}:\n    total += «{x}»",
    "«for» {x} in {xs}:\n    total += {x}",
    "total = 0\nfor {x} in {xs}:\n    «total» += «{x}»",
    "for {x} in «range»({m}):\n    print({x})",
    "for i, {x} in «enumerate»({xs}):\n    print(i, «{x}»)",
    "{xs} = [{a}, {b}]\nprint(len(«{xs}»))",
    "{xs} = []\n«{xs}».append({a})",
    "{xs} = []\n{xs}.«append»({a})\nprint({xs})  # [«{a}»]",
    "[{x} for «{x}» in {xs}]",
    "[«{x}» * {m} for {x} «in» {xs}]",
    "[{x} for {x} in {xs} «if» {x} > {a}]",
    "sum(«{x}» for {x} in {xs})",
    "{f} = lambda {x}: «{x}» + {a}",
    "{f} = «lambda» {x}: {x} * {m}",
    "{x}, {y} = {y}, «{x}»",
    "if {x} > {y}:\n    print({x})\n«else»:\n    print({y})",
    "if {x} > {y}:\n    biggest = «{x}»\nelse:\n    biggest = «{y}»",
    "while {x} > 0:\n    «{x}» -= 1",
    "«while» {x} < {a}:\n    {x} += 1",
    "if {x} % 2 == «0»:  # even\n    print({x})",
    "if {x} % 2 == «1»:  # odd\n    print({x})",
    "try:\n    {x} = int(text)\n«except» ValueError:\n    «{x}» = 0",
    "«try»:\n    {x} = int(text)\nexcept ValueError:\n    {x} = 0",
    "with open(path) «as» file:\n    {x} = «file».read()",
    "«with» open(path) as file:\n    {xs} = file.readlines()",
    "import «math»\n{x} = math.sqrt({a})",
    "import math\n{x} = «math».floor({y})",
    "«import» random\n{x} = random.choice({xs})",
    "from random «import» choice\n{x} = «choice»({xs})",
    "# the sum of the list\nreturn «sum»({xs})",
    "# the largest of the list\nreturn «max»({xs})",
    "# the smallest of the list\nreturn «min»({xs})",
    "# the number of elements\nreturn «len»({xs})",
    "# the list in order\nreturn «sorted»({xs})",
    "# {x} or {y}, whichever is larger\nreturn «max»({x}, «{y}»)",
    "class {Cls}:\n    def __init__(self, {x}):\n        self.«{x}» = «{x}»",
    "class {Cls}:\n    def {f}(«self», {x}):\n        return «{x}»",
    "«class» {Cls}:\n    def {f}(self):\n        return self.{x}",
    "{x} = «{Cls}»({a})  # a new {Cls}",
    "{x} = {a}\n{y} = {x} + {b}\nprint({y})  # «{c}»",
    "print({a} + {b})  # «{c}»",
    "print({m} * {n})  # «{p}»",
    "{x} = {a}\nprint(«{x}»)  # «{a}»",
    "print('{w}' + 's')  # «{w}s»",
    "print('{w}'.upper())  # «{W}»",
    "print('{w}'[0])  # «{w0}»",
    "{x} = '{w}'\nprint({x})  # «{w}»",
    "{x} = not True  # «False»",
    "{x} = {a} > {c}  # «False»",
    "{x} = {c} > {a}  # «True»",
    "ages = {{'{w}': {a}}}\nprint(ages['«{w}»'])  # «{a}»",
    "if {x} is None:\n    «{x}» = {a}",
    "assert {f}({a}) == {c}\nprint(«{f}»({a}))  # «{c}»",
)
