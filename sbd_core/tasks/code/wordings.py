"""The words of requests for a function: parts of sentences, names, hints. Data only.

A pool's first word salts which of its entries are reserved for test, so that the plainest ways
to ask, at its beginning, are trained on.
"""

from sbd_core.tasks.base import Pool


def _pool(salt: str, *entries: str) -> Pool[str]:
    return Pool(entries, key=lambda entry: f"{salt} {entry}")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# fmt: off
# {fn} is the function, {clause} what it does.
LEADS = _pool("ea",
    "Write {fn} {clause}.", "Define {fn} {clause}.", "Create {fn} {clause}.", "Make {fn} {clause}.",
    "I need {fn} {clause}.", "Please write {fn} {clause}.", "Implement {fn} {clause}.",
    "Code {fn} {clause}.", "Give me {fn} {clause}.", "I want {fn} {clause}.", "Build {fn} {clause}.",
    "Can you write {fn} {clause}?", "Could you write {fn} {clause}?", "Show me {fn} {clause}.",
    "I would like {fn} {clause}.", "Help me write {fn} {clause}.", "Please give me {fn} {clause}.",
    "I am looking for {fn} {clause}.", "How would you write {fn} {clause}?", "Produce {fn} {clause}.",
    "Task: write {fn} {clause}.", "Exercise: define {fn} {clause}.", "In Python, write {fn} {clause}.",
    "Using Python, define {fn} {clause}.", "Python: {fn} {clause}", "For my homework I need {fn} {clause}.",
    "write {fn} {clause}", "Please code {fn} {clause}.", "Now write {fn} {clause}.", "{fn} {clause}.",
    "{fn} {clause}", "{fn} {clause}, please.", "We need {fn} {clause}.", "Design {fn} {clause}.",
    "Come up with {fn} {clause}.", "Let us write {fn} {clause}.", "Would you write {fn} {clause}?",
    "What does {fn} {clause} look like?", "How do I write {fn} {clause}?", "Try to write {fn} {clause}.",
    "I have to write {fn} {clause}. Can you help?", "Can you give me {fn} {clause}?",
)
FUNCTIONS = _pool("v",
    "a function", "a Python function", "a short function", "a small Python function", "a simple function",
    "a function in Python", "one function", "a little function", "a helper function", "a tiny function",
    "a short Python function", "some function", "a Python 3 function", "an easy function", "a plain function",
)
NAMED = _pool("h",
    "a function called {name}", "a function named {name}", "a Python function named {name}",
    "a Python function called {name}", "the function {name}", "a function {name}", "{name}, a function",
    "a function with the name {name}", "a short function called {name}", "a function by the name of {name}",
    "a helper named {name}", "a small function {name}", "a Python function {name}",
)
CALLS = _pool("f",
    "{name}({parameters})", "a function {name}({parameters})", "the function {name}({parameters})",
    "a Python function {name}({parameters})", "def {name}({parameters})", "a function called {name}({parameters})",
)
CLAUSES = _pool("c",
    "that {does}", "to {do}", "which {does}", "that can {do}", "that will {do}", "that {does}", "to {do}",
    "that should {do}", "which can {do}", "that helps me {do}", "that is able to {do}", "so that it {does}",
    "whose job is to {do}", "which will {do}", "in order to {do}",
)
# Where the function itself is not spoken of.
SHORT = _pool("af",
    "How do I {do} in Python?", "How can I {do} with Python?", "{do}", "{do}.", "{do} in Python.",
    "Python code to {do}", "Write code to {do}.", "Write Python code that {does}.", "Code to {do}, please.",
    "Python: {do}", "What is the Python code to {do}?", "Please {do}.", "{do} with Python", "I want to {do}.",
    "In Python, {do}.", "Show me how to {do}.", "How would I {do}?", "I need to {do} in Python.",
    "Can Python {do}?", "Give me code that {does}.", "I need code to {do}.", "python {do}",
    "What is a way to {do} in Python?", "Could you {do} in Python?", "It should {do}.",
)
NAME_AFTER = _pool("e",
    "Call it {name}.", "Name it {name}.", "The function should be called {name}.", "Use the name {name}.",
    "Its name is {name}.", "It is called {name}.", "The name should be {name}.", "Name the function {name}.",
    "Please call it {name}.", "Let its name be {name}.", "I want it to be called {name}.",
)
ONE_PARAMETER = _pool("f",
    "The parameter is {parameters}.", "Its argument is called {parameters}.", "It takes {parameters}.",
    "Name the parameter {parameters}.", "The argument should be {parameters}.", "Its parameter is {parameters}.",
    "Use {parameters} as the parameter.", "Call its argument {parameters}.", "The input is {parameters}.",
)
MORE_PARAMETERS = _pool("h",
    "The parameters are {parameters}.", "It takes {parameters}.", "Its arguments are {parameters}.",
    "Name the parameters {parameters}.", "Use the parameters {parameters}.", "The inputs are {parameters}.",
    "Its parameters are {parameters}.", "Call the arguments {parameters}.",
)
NOUN_VERBS = _pool("r",
    "return", "return", "return", "compute", "calculate", "find", "give", "get", "work out", "give back",
    "determine", "produce", "figure out", "provide", "output",
)
CLAUSE_VERBS = _pool("c", "return", "tell", "give", "find out", "report", "work out", "say")
TEST_VERBS = _pool("ce",
    "check if", "check whether", "tell whether", "test if", "return True if", "find out if", "tell if",
    "say whether", "return whether", "decide whether", "see if", "determine if", "test whether",
    "verify that", "answer whether",
)
SLOTS: dict[str, Pool[str]] = {
    "{L}": _pool("a", "a list", "a list of numbers", "a list of integers", "a given list", "an array",
                 "the list", "an array of numbers", "a Python list", "a list of ints", "my list",
                 "a list of whole numbers", "some list", "a sequence of numbers"),
    "{W}": _pool("e", "a list of words", "a list of strings", "some words", "an array of words",
                 "a given list of words", "several strings", "given words", "many words"),
    "{T}": _pool("am", "a text", "a string", "a given string", "a given text", "some text", "the text",
                 "a piece of text", "an input string", "a string of text", "the string"),
    "{X}": _pool("f", "a number", "an integer", "a whole number", "a given number", "an int", "the number",
                 "some number", "any integer"),
    "{D}": _pool("a", "a dictionary", "a dict", "a given dictionary", "a Python dictionary", "the dictionary",
                 "some dictionary", "a Python dict"),
}
NAME_VERBS = _words("get find make do calc my check compute run try the new to all")
NAME_NOUNS = _words("result value item list text total output answer data thing stuff number word part job")
SINGLE_NAMES = _words("f g h func fn foo bar helper run process transform answer calculate go main_task apply work")
PARAMETERS: dict[str, tuple[str, ...]] = {
    "list": _words("values items xs nums data lst array arr elements seq my_list things rows series"),
    "dict": _words("mapping d data lookup_table pairs my_dict info entries stock prices"),
    "str": _words("s string txt message phrase line sentence t content source_text label title"),
    "int": _words("x num value k number m integer amount y z count_of size p q"),
}
# How a form is asked for.
HINTS_BY_FORM: dict[str, Pool[str]] = {
    "loop": _pool("ak",
        "Use a loop.", "Use a for loop.", "With a loop.", "Write it as a loop.", "Do it with a loop.",
        "It should loop.", "Please use a for loop.", "A for loop, please.", "Loop over them.",
        "No comprehension, a loop.",
    ),
    "recursion": _pool("n",
        "Use recursion.", "Do it recursively.", "It must call itself.", "Make it recursive.",
        "Write it with recursion.", "It should be recursive.", "By recursion.", "Recursively, please.",
    ),
    "expression": _pool("d",
        "In one line.", "As a one-liner.", "Use one line.", "Keep it to one line.", "One line is enough.",
        "Make it a one-liner.", "Write it in a single line.", "A single return is enough.",
    ),
}
# One of two operations, by a condition.
BRANCHES = _pool("b",
    "{first} if it {when}, otherwise {second}", "if it {when}, {first}, else {second}",
    "{first} when it {when} and {second} when not", "{first} if it {when} and {second} if not",
    "{first} if it {when}, else {second}", "{second} unless it {when}, in which case {first}",
    "if it {when}, {first}, otherwise {second}", "when it {when}, {first}, if not, {second}",
    "{first} in case it {when}, otherwise {second}", "{second}, but {first} if it {when}",
)
# fmt: on
