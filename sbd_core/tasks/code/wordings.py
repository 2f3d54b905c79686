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
    "Can you make {fn} {clause}?", "Could you give me {fn} {clause}?", "I want you to write {fn} {clause}.",
    "Kindly write {fn} {clause}.", "Write me {fn} {clause}.", "Please make {fn} {clause}.", "Please define {fn} {clause}.",
    "Please implement {fn} {clause}.", "Can I have {fn} {clause}?", "Could I get {fn} {clause}?", "Let me see {fn} {clause}.",
    "I would love {fn} {clause}.", "I want to write {fn} {clause}.", "I am trying to write {fn} {clause}.",
    "My task is to write {fn} {clause}.", "Your task is to write {fn} {clause}.", "Task: {fn} {clause}.",
    "Exercise: write {fn} {clause}.", "Problem: write {fn} {clause}.", "Homework: write {fn} {clause}.",
    "Using Python, write {fn} {clause}.", "With Python, write {fn} {clause}.", "In Python, define {fn} {clause}.",
    "In Python, I need {fn} {clause}.", "We want {fn} {clause}.", "You should write {fn} {clause}.", "code {fn} {clause}",
    "define {fn} {clause}", "need {fn} {clause}", "i need {fn} {clause}", "Required: {fn} {clause}.", "Wanted: {fn} {clause}.",
    "What would {fn} {clause} look like?", "How can I write {fn} {clause}?", "How does one write {fn} {clause}?",
    "Would you please write {fn} {clause}?", "Can you help me write {fn} {clause}?", "Can you show me {fn} {clause}?",
    "Prepare {fn} {clause}.", "Develop {fn} {clause}.", "Think of {fn} {clause}.",
    "Sketch {fn} {clause}.", "Program {fn} {clause}.", "Next, write {fn} {clause}.", "Just write {fn} {clause}.",
    "I must write {fn} {clause}. Please help.", "I have to write {fn} {clause}.", "There should be {fn} {clause}.",
    "Is there {fn} {clause}?", "Do you have {fn} {clause}?", "Do you know {fn} {clause}?", "It is time for {fn} {clause}.",
)
FUNCTIONS = _pool("v",
    "a function", "a Python function", "a short function", "a small Python function", "a simple function",
    "a function in Python", "one function", "a little function", "a helper function", "a tiny function",
    "a short Python function", "some function", "a Python 3 function", "an easy function", "a plain function",
    "a little Python function", "a tiny Python function", "a simple Python function", "a Python helper",
    "a short helper function", "a tiny helper", "a little helper", "a basic function", "a quick function",
    "a neat function", "a clean function", "a nice function", "a working function", "a correct function",
    "a small function", "a short function in Python", "a small function in Python", "a simple function in Python",
    "a basic Python function", "an easy Python function", "a function for Python", "a function in Python 3",
    "a Python 3 helper", "a new function", "the function", "any function", "a useful function", "a Python routine",
    "a very short function", "a very small function", "one Python function",
)
NAMED = _pool("h",
    "a function called {name}", "a function named {name}", "a Python function named {name}",
    "a Python function called {name}", "the function {name}", "a function {name}", "{name}, a function",
    "a function with the name {name}", "a short function called {name}", "a function by the name of {name}",
    "a helper named {name}", "a small function {name}", "a Python function {name}",
    "a helper called {name}", "a helper function called {name}", "a helper function named {name}", "the helper {name}",
    "a simple function called {name}", "a simple function named {name}", "a small function called {name}",
    "a small function named {name}", "a short function named {name}", "a short Python function named {name}",
    "a little function called {name}", "a tiny function named {name}", "a tiny function called {name}",
    "a Python helper called {name}", "a function with name {name}",
    "a Python function with the name {name}", "{name}, a Python function", "the Python function {name}",
    "a new function called {name}", "a function in Python called {name}", "one function named {name}",
)
CALLS = _pool("f",
    "{name}({parameters})", "a function {name}({parameters})", "the function {name}({parameters})",
    "a Python function {name}({parameters})", "def {name}({parameters})", "a function called {name}({parameters})",
    "a function named {name}({parameters})", "a short function {name}({parameters})", "a small function {name}({parameters})",
    "a helper {name}({parameters})", "a Python function called {name}({parameters})", "a function of the form {name}({parameters})",
    "a helper function {name}({parameters})", "a Python function named {name}({parameters})", "the Python function {name}({parameters})",
    "a simple function {name}({parameters})", "a helper called {name}({parameters})",
)
CLAUSES = _pool("c",
    "that {does}", "to {do}", "which {does}", "that can {do}", "that will {do}", "that {does}", "to {do}",
    "that should {do}", "which can {do}", "that helps me {do}", "that is able to {do}", "so that it {does}",
    "whose job is to {do}", "which will {do}", "in order to {do}",
    "that helps to {do}", "which helps to {do}", "that helps us {do}", "which helps me {do}", "that helps you {do}",
    "to help me {do}", "to help us {do}", "with which I can {do}", "with which to {do}", "that lets me {do}",
    "which lets you {do}", "that allows me to {do}", "which allows us to {do}", "that is meant to {do}", "meant to {do}",
    "made to {do}", "that must {do}", "which must {do}", "which should {do}", "that is supposed to {do}", "so as to {do}",
    "such that it {does}", "that simply {does}", "which simply {does}", "that just {does}",
    "whose task is to {do}", "whose purpose is to {do}", "whose aim is to {do}", "with the job to {do}", "so that I can {do}",
    "so that we can {do}", "that I can use to {do}", "I can use to {do}", "that knows how to {do}", "which is able to {do}",
    "that would {do}", "used to {do}", "that is used to {do}", "to be used to {do}", "in such a way that it {does}",
    "that needs to {do}", "which has to {do}", "that has to {do}", "for when I want to {do}",
)
# Where the function itself is not spoken of.
SHORT = _pool("af",
    "How do I {do} in Python?", "How can I {do} with Python?", "{do}", "{do}.", "{do} in Python.",
    "Python code to {do}", "Write code to {do}.", "Write Python code that {does}.", "Code to {do}, please.",
    "Python: {do}", "What is the Python code to {do}?", "Please {do}.", "{do} with Python", "I want to {do}.",
    "In Python, {do}.", "Show me how to {do}.", "How would I {do}?", "I need to {do} in Python.",
    "Can Python {do}?", "Give me code that {does}.", "I need code to {do}.", "python {do}",
    "What is a way to {do} in Python?", "Could you {do} in Python?", "It should {do}.",
    "{do} using Python", "{do} in Python, please.", "Please {do} in Python.", "{do} with Python code", "{do}, please.",
    "Use Python to {do}.", "With Python, {do}.", "Show me code that {does}.", "Show me code to {do}.", "Show how to {do}.",
    "Show me a way to {do}.", "Tell me how to {do}.", "Tell me how to {do} in Python.", "Explain how to {do} in Python.",
    "How would you {do}?", "How would you {do} in Python?", "How could I {do}?", "How can one {do} in Python?",
    "How does one {do}?", "How do you {do} in Python?", "how to {do}", "how do i {do}", "how to {do} in python",
    "Give me code to {do}.", "Give me Python code that {does}.", "Give me some code that {does}.", "I need some code to {do}.",
    "I need code that {does}.", "I need Python that {does}.", "I want code that {does}.", "I want some code to {do}.",
    "I would like to {do}.", "I would like to {do} in Python.", "I want to {do} in Python.", "I have to {do} in Python.",
    "We need to {do}.", "It must {do}.", "It has to {do}.", "It needs to {do}.", "The function should {do}.",
    "My function should {do}.", "The code should {do}.", "Your function should {do}.", "The function {does}.",
    "Some code to {do}.", "Some Python that {does}.", "Code that {does}.", "Python code that {does}.", "Python that {does}.",
    "Write something that {does}.", "Write some Python to {do}.", "Write the code to {do}.", "Write Python that can {do}.",
    "Can you {do} in Python?", "Can you {do}?", "Could you {do} with Python?", "Help me {do}.", "Help me {do} in Python.",
    "Let us {do}.", "Now {do}.", "Try to {do}.", "Task: {do}.", "Exercise: {do}.", "Problem: {do}.", "Goal: {do}.",
    "The goal is to {do}.", "The task is to {do}.", "Your task: {do}.", "What code can {do}?", "What is the way to {do}?",
    "Is there a way to {do} in Python?", "Is there code to {do}?", "A way to {do}, please.",
    "What is the best way to {do}?", "What is the easiest way to {do}?", "What function can {do}?",
)
NAME_AFTER = _pool("e",
    "Call it {name}.", "Name it {name}.", "The function should be called {name}.", "Use the name {name}.",
    "Its name is {name}.", "It is called {name}.", "The name should be {name}.", "Name the function {name}.",
    "Please call it {name}.", "Let its name be {name}.", "I want it to be called {name}.",
    "Please name it {name}.", "Give it the name {name}.", "It should be called {name}.", "It should be named {name}.",
    "It must be called {name}.", "It is named {name}.", "Call the function {name}.", "Let it be called {name}.",
    "Its name should be {name}.", "The name is {name}.", "The function is called {name}.", "I want to call it {name}.",
    "I call it {name}.", "Please use the name {name}.", "Name: {name}.", "Let us call it {name}.", "The function name is {name}.",
)
ONE_PARAMETER = _pool("f",
    "The parameter is {parameters}.", "Its argument is called {parameters}.", "It takes {parameters}.",
    "Name the parameter {parameters}.", "The argument should be {parameters}.", "Its parameter is {parameters}.",
    "Use {parameters} as the parameter.", "Call its argument {parameters}.", "The input is {parameters}.",
    "The parameter should be {parameters}.", "The argument is {parameters}.", "The argument is called {parameters}.",
    "Its parameter should be {parameters}.", "Use {parameters} as its argument.", "Use {parameters} as the argument.",
    "Use {parameters} as the name of the parameter.", "Call the parameter {parameters}.", "Call the argument {parameters}.",
    "Its input is {parameters}.", "The input is called {parameters}.", "It should take {parameters}.", "Name its argument {parameters}.",
    "It gets {parameters}.", "Its only argument is {parameters}.", "The parameter is called {parameters}.", "Let it take {parameters}.",
    "Use the parameter {parameters}.", "Use the argument {parameters}.", "The input should be {parameters}.",
)
MORE_PARAMETERS = _pool("h",
    "The parameters are {parameters}.", "It takes {parameters}.", "Its arguments are {parameters}.",
    "Name the parameters {parameters}.", "Use the parameters {parameters}.", "The inputs are {parameters}.",
    "Its parameters are {parameters}.", "Call the arguments {parameters}.",
    "The arguments are {parameters}.", "Its inputs are {parameters}.", "Use the arguments {parameters}.", "Use {parameters} as the parameters.",
    "Use {parameters} as arguments.", "The parameters should be {parameters}.", "The arguments should be {parameters}.",
    "It should take {parameters}.", "Call the parameters {parameters}.", "Name the arguments {parameters}.", "It gets {parameters}.",
    "The inputs should be {parameters}.", "Call its parameters {parameters}.", "The parameters are called {parameters}.", "Let it take {parameters}.",
)
NOUN_VERBS = _pool("r",
    "return", "return", "return", "compute", "calculate", "find", "give", "get", "work out", "give back",
    "determine", "produce", "figure out", "provide", "output",
    "obtain", "hand back", "deliver", "yield", "supply", "answer with", "send back", "come back with", "pass back",
    "give out", "put out", "fetch", "identify",
)
CLAUSE_VERBS = _pool("c",
    "return", "tell", "give", "find out", "report", "work out", "say", "compute", "determine", "find", "calculate",
    "give back", "answer", "figure out", "show", "state", "output", "hand back", "send back", "obtain",
)
TEST_VERBS = _pool("ce",
    "check if", "check whether", "tell whether", "test if", "return True if", "find out if", "tell if",
    "say whether", "return whether", "decide whether", "see if", "determine if", "test whether",
    "verify that", "answer whether",
    "answer if", "answer True if", "give True if", "report whether", "report if", "return True when", "return True exactly when",
    "return True only if", "find out whether", "determine whether", "see whether", "decide if", "say if", "say True if",
    "check that", "test that", "ascertain whether", "figure out if", "figure out whether",
    "know whether", "know if", "give back whether", "give back True if", "output True if", "output whether", "verify whether",
    "verify if", "return a bool that tells whether",
)
SLOTS: dict[str, Pool[str]] = {
    "{L}": _pool("a", "a list", "a list of numbers", "a list of integers", "a given list", "an array",
                 "the list", "an array of numbers", "a Python list", "a list of ints", "my list",
                 "a list of whole numbers", "some list", "a sequence of numbers",
                 "an array of integers", "an array of ints", "the array", "a given array", "any list", "this list", "a sequence of integers",
                 "a list of values", "a list of int values", "a list of some numbers", "a Python list of numbers", "an integer list", "a given list of numbers",
                 "the given list", "the list of numbers", "a list of any numbers", "my array", "a series of numbers", "a collection of numbers",
                 "a given list of integers", "a list of several numbers", "one list", "an input list", "a number list"),
    "{W}": _pool("e", "a list of words", "a list of strings", "some words", "an array of words",
                 "a given list of words", "several strings", "given words", "many words",
                 "a list of given words", "the words", "the given words", "an array of strings", "a list of texts", "the list of words", "my words",
                 "a given list of strings", "these words", "a collection of words", "a sequence of words", "several words", "strings", "words", "all words of a list",
                 "the strings of a list", "a Python list of words", "the words of a list", "my list of words", "some strings"),
    "{T}": _pool("am", "a text", "a string", "a given string", "a given text", "some text", "the text",
                 "a piece of text", "an input string", "a string of text", "the string",
                 "any string", "any text", "this string", "this text", "the given string", "the given text", "the input string", "the input text", "an input text",
                 "a piece of a text", "some string", "my string", "my text", "a Python string", "a line of text", "one string", "a str", "a text string",
                 "a string of letters", "a string of characters", "a character string", "a bit of text", "a given piece of text"),
    "{X}": _pool("f", "a number", "an integer", "a whole number", "a given number", "an int", "the number",
                 "some number", "any integer",
                 "a given integer", "a given whole number", "the integer", "any number", "any whole number", "some integer", "an int value", "an integer number",
                 "the given number", "a single number", "one number", "an input number", "this number", "my number", "a number of my choice"),
    "{D}": _pool("a", "a dictionary", "a dict", "a given dictionary", "a Python dictionary", "the dictionary",
                 "some dictionary", "a Python dict",
                 "any dictionary", "the dict", "a given dict", "this dictionary", "my dictionary", "my dict", "a Python dictionary of numbers", "the given dictionary",
                 "one dictionary", "an input dictionary", "any dict", "some dict", "a mapping", "a dictionary of numbers"),
}
NAME_VERBS = _words(
    "get find make do calc my check compute run try the new to all count sum sort filter remove add build create convert "
    "return give take read parse split join merge reverse is has list show tell print solve test apply use set pick select "
    "collect group map update handle process first last next max min best total old your our some one each"
)
NAME_NOUNS = _words(
    "result value item list text total output answer data thing stuff number word part job score price name age point grade "
    "letter digit vowel key entry table pair group line sentence string array length size index position order step root "
    "temperature weight height width area day year month hour minute color fruit student city team user file record row column "
    "amount sum count average mean median range limit half double square power factor prime even odd max min code message"
)
SINGLE_NAMES = _words("f g h func fn foo bar helper run process transform answer calculate go main_task apply work k t u compute execute do_it convert check method task my_func my_function test_function fun job step main_function solution routine action")
PARAMETERS: dict[str, tuple[str, ...]] = {
    "list": _words("values items xs nums data lst array arr elements seq my_list things rows series scores prices ages grades points words_list num_list samples temperatures weights heights names letters results readings marks data_list int_list items_list input_list counts years days group team collection records entries vec vector"),
    "dict": _words("mapping d data lookup_table pairs my_dict info entries stock prices scores ages table_data phone_book inventory counts grades population settings options config record user points"),
    "str": _words("s string txt message phrase line sentence t content source_text label title name word_in input_text sequence_text paragraph password username message_text greeting city color fruit my_string my_text value_text note story quote question answer email code"),
    "int": _words("x num value k number m integer amount y z count_of size p q number_in num1 num2 first second total price age score year day hour length height_cm distance speed weight points level position step start end limit_value digit target quantity my_number input_number"),
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
