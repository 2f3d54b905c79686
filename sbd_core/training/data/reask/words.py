"""Words that only training asks for a function in, beside the seen ones of the task. Data only.

None of them is a wording that the test keeps for itself.
"""

# fmt: off
SIZES = (
    "a", "a", "a short", "a small", "a simple", "a tiny", "a little", "a quick", "a plain", "a handy", "a compact",
    "a fresh", "another", "one", "one more", "some", "this", "the", "my", "our", "a clever", "a fast", "a good",
    "a proper", "a single", "a minimal", "a lovely", "a clear", "a tidy", "a robust", "a stand-alone", "the little",
    "the small", "the short", "my own", "your own", "a modest", "a readable",
)
NOUNS = (
    "function", "function", "Python function", "Python function", "helper", "function in Python", "Python helper", "method",
    "helper function", "piece of code", "bit of code", "bit of Python", "procedure", "subroutine", "function definition",
    "Python method", "snippet", "Python snippet", "code snippet", "utility", "Python utility", "def", "tool", "Python tool",
    "function written in Python",
)
# {fn} is one of the above.
NAMED = (
    "{fn} called {name}", "{fn} named {name}", "{fn} {name}", "{fn} with the name {name}", "{fn} by the name of {name}",
    "{fn} by name of {name}", "{fn} which is called {name}", "{fn} that is named {name}", "{fn} ({name})", "{fn} titled {name}",
    "{fn} whose name is {name}", "{fn}, called {name},", "{fn}, named {name},", "{fn}, {name},", "{fn}, namely {name},",
    "{name}, {fn},", "{name}, {fn}", "{name}, {fn}", "{name}, {fn},", "{name}, which is {fn}", "{name} ({fn})", "{name} as {fn}",
    "{name}, that is {fn}", "{name}, namely {fn}", "{name}, to be {fn}", "{name} - {fn}", "{fn} - {name} -", "{fn} to be called {name}",
    "{fn} I call {name}", "{fn} I will call {name}", "{fn} to go by {name}", '{fn} called "{name}"', '{fn} "{name}"',
    "{fn} under the name {name}", "{fn} under the name of {name}", "{name} = {fn}", "{fn}: {name},",
)
CALLED = (
    "{call}", "{fn} {call}", "{fn} called {call}", "{fn} named {call}", "def {call}", "{fn} with the header def {call}:",
    "{fn} that I can call as {call}", "{fn} to be called as {call}", "{fn}, {call},", "{call}, {fn},", "{fn} with the signature {call}",
    "{fn} like {call}", "{call} as {fn}",
)
TAKES_ONE = (
    "{fn} of {parameters}", "{fn} taking {parameters}", "{fn} with the parameter {parameters}", "{fn} for {parameters}",
    "{fn} with {parameters} as input", "{fn} with the input {parameters}", "{fn} on {parameters}", "{fn} with one argument, {parameters},",
    "{fn} with parameter {parameters}", "{fn} whose parameter is {parameters} and",
)
TAKES_MORE = (
    "{fn} of {parameters}", "{fn} taking {parameters}", "{fn} with the parameters {parameters}", "{fn} for {parameters}",
    "{fn} with {parameters} as input", "{fn} with the arguments {parameters}", "{fn} on {parameters}", "{fn} with parameters {parameters}",
)
# {fn} with its clause.
ASKS = (
    "{fn} {clause} is what I need.", "{fn} {clause} would be great.", "What I need is {fn} {clause}.", "What I want now is {fn} {clause}.",
    "I could use {fn} {clause}.", "I am after {fn} {clause}.", "Any chance of {fn} {clause}?", "My boss wants {fn} {clause}.",
    "Let me have {fn} {clause}.", "Do write {fn} {clause}.", "Type {fn} {clause}.", "Put together {fn} {clause}.", "Set up {fn} {clause}.",
    "Draft {fn} {clause}.", "Compose {fn} {clause}.", "Hand me {fn} {clause}.", "Could someone write {fn} {clause}?", "How about {fn} {clause}?",
    "May I have {fn} {clause}?", "We are missing {fn} {clause}.", "Today's task: {fn} {clause}.", "Next up: {fn} {clause}.", "Needed: {fn} {clause}.",
    "todo: {fn} {clause}", "{fn} {clause} please", "I wish I had {fn} {clause}.", "Add {fn} {clause}.", "Get me {fn} {clause}.",
    "{odd} needs {fn} {clause}.", "My friend {odd} asks for {fn} {clause}.", "The job: {fn} {clause}.", "Assignment: {fn} {clause}.",
    "Would you be so kind as to write {fn} {clause}?", "Just {fn} {clause}.", "write {fn} {clause} now", "write {fn} {clause} for me",
    "please write down {fn} {clause}", "{fn} {clause}, if you can.", "For {odd}: {fn} {clause}.", "My question is how to write {fn} {clause}.",
    "Send me {fn} {clause}.", "Fill in {fn} {clause}.", "Suggest {fn} {clause}.", "Our teacher wants {fn} {clause}.", "Next I want {fn} {clause}.",
    "I would be glad of {fn} {clause}.", "Lesson one: {fn} {clause}.", "Question 3: write {fn} {clause}.", "{odd} said to write {fn} {clause}.",
)
# {fn} alone; what it does is another sentence.
WANTS = (
    "I need {fn}.", "Please write {fn}.", "Write {fn} for me.", "I want {fn}.", "Make {fn}.", "Define {fn}.", "This is about {fn}.",
    "We need {fn}.", "Can you write {fn}?", "Let us make {fn}.", "Help me with {fn}.", "Could you make {fn}?", "My homework is {fn}.",
    "Today I need {fn}.", "Add {fn}.", "I am missing {fn}.", "Think about {fn}.", "Let me have {fn}.", "What I need is {fn}.", "Set up {fn}.",
    "Start {fn}.", "{fn}, please.", "Needed: {fn}.", "Draft {fn}.",
)
DOES = (
    "It {does}.", "It just {does}.", "What it does: it {does}.", "It is there to {do}.", "Its job: {do}.", "The point is to {do}.",
    "It is to {do}.", "When called, it {does}.", "I use it to {do}.", "That is, it {does}.", "It will {do}.", "It can {do}.", "All it does is {do}.",
    "Every time I call it, it {does}.", "Description: {do}.", "What for? To {do}.", "In short: {do}.", "With it one can {do}.",
    "Have it {do}.", "Let it {do}.", "Make it {do}.", "It helps people {do}.", "It is good if it {does}.", "It is right when it {does}.",
    "Its only job is to {do}.", "My aim is to {do}.", "I plan to {do} with it.",
)
NAMES = (
    "{name} is its name.", "{name} is what it is called.", "{name} should be its name.", "Its name: {name}.", "I named it {name}.",
    "Save it as {name}.", "Define it as {name}.", "It goes by {name}.", "We call it {name}.", "The name I picked is {name}.", "Let me call it {name}.",
    "It has the name {name}.", "Let {name} be the name of the function.", "Function name: {name}.", "For its name take {name}.",
    "{name} is the name of the function.", "They call it {name}.", "Choose {name} as the name.", "Use {name} for its name.", 'Call it "{name}".',
    "As for the name, {name} it is.", "I will call it as {name}.", "The function has to be named {name}.", "Name it {name}, please.",
    "Everybody here calls it {name}.", "The name of it is {name}.", "Give the function the name {name}.", "The file needs it as {name}.",
)
INPUT = (
    "{parameters} is the input.", "{parameters} is its parameter.", "Its one parameter is {parameters}.", "Parameter: {parameters}.",
    "Input: {parameters}.", "Argument: {parameters}.", "It works on {parameters}.", "Pass it {parameters}.", "I pass {parameters} to it.",
    "{parameters} goes in.", "Let {parameters} be the parameter.", "With {parameters} as input.", "Its parameter has the name {parameters}.",
    "Choose {parameters} as the name of the argument.", "What goes in is {parameters}.", "{parameters} is what I pass.", "Give it the parameter {parameters}.",
    "It is handed {parameters}.", "Its parameter goes by {parameters}.", "The only parameter has the name {parameters}.",
)
INPUTS = (
    "{parameters} are the inputs.", "{parameters} are its parameters.", "It has the parameters {parameters}.", "Parameters: {parameters}.",
    "Inputs: {parameters}.", "Arguments: {parameters}.", "It works on {parameters}.", "Pass it {parameters}.", "I pass {parameters} to it.",
    "{parameters} go in.", "Let {parameters} be the parameters.", "With {parameters} as input.", "What goes in are {parameters}.",
    "{parameters} are what I pass, in this order.", "Give it the parameters {parameters}.", "It is handed {parameters}.",
    "Its parameters go by {parameters}.",
)
STARTS = (
    "Hi!", "Hello.", "Hey.", "Good evening.", "Good morning!", "Quick one:", "One more:", "OK.", "Sorry to bother you.", "I am new to Python.",
    "I am stuck.", "This is for school.", "{odd} here.", "Hello {odd}.", "Dear {odd}!", "Hi {odd}!", "Now for something else.", "Thanks for the last one.",
    "I have a question.", "We learn Python.", "Look:", "Good to see you.", "My name is {odd}.", "One thing:",
)
ENDS = (
    "Thanks!", "Thank you.", "Thanks, {odd}", "That is all.", "Keep it short.", "Nothing else.", "No tests, please.", "Many thanks!", "Bye!",
    "I would be grateful.", "Take your time.", "Is that possible?", "{odd} will be glad.", "Good luck!", "That would help.",
)
# Before what is returned, and before what is tested.
NOUN_VERBS = (
    "retrieve", "hand over", "derive", "bring back", "tell me", "show me", "get me", "hand me", "evaluate to", "result in", "reply with",
    "respond with", "establish", "look up", "pick out", "report back", "let me have", "return just", "return exactly",
    "make", "present", "come out with", "offer", "grab", "read off",
)
TEST_VERBS = (
    "tell me whether", "tell me if", "let me know whether", "let me know if", "find out for me whether", "answer the question whether", "judge whether",
    "judge if", "establish whether", "establish if", "work out whether", "work out if", "confirm whether", "settle whether", "give me True if",
    "return a boolean that says if", "come back with True if", "show me whether", "show whether", "learn whether", "return the truth of whether",
    "answer with True if", "return yes or no (True or False): whether",
)
# As in the rewording of the task: any entry of a line may stand for its first.
SYNONYMS = (
    "numbers in {L}|numbers found in {L}|numbers inside {L}|numbers that are in {L}", "words in {T}|words found in {T}|words that are in {T}",
    "letters in {T}|letters found in {T}|letters that are in {T}", "the number of|the amount of|the total number of",
    "largest number|maximal number", "smallest number|minimal number|littlest number", "first letter|very first letter|opening letter|starting letter",
    "first element|very first element|leading element|element that stands first", "first item|leading item|opening item|item that stands first",
    "first number|very first number|opening number|leading number",
    "last element|very last element|final element|closing element|element that stands last", "last item|very last item|final item|item that stands last",
    "last letter|very last letter|final letter|closing letter", "last number|very last number|final number|closing number",
    "removed|taken away|stripped|cut out|thrown away|gone", "added up|summed up|all summed|put into one sum", "added together|summed|summed up",
    "multiplied together|multiplied up|all multiplied", "reversed|turned round|flipped|put backwards|mirrored",
    "} sorted|} put in order|} brought into order|} in sorted order|} after sorting", "the average of|the arithmetic average of|the mean over|the average over",
    "starts with|opens with|has at its start", "ends with|closes with|has at its end", "greater than|higher than|beyond|in excess of",
    "above|higher than|beyond", "below|beneath|lower than", "the square of|the second power of", "the cube of|the third power of",
    "the index of|the place of|the spot of", "the position of|the place of|the spot of", "as a list|in the form of a list|put into a list|in a list",
    "as a dictionary|in the form of a dictionary|put into a dictionary", "in alphabetical order|in the order of the alphabet|sorted by the alphabet",
    "vowels|vowel letters|vowels (a, e, i, o, u)", "in upper case|in big letters|written in capitals", "in lower case|in little letters|written small",
    "greatest common divisor|largest shared divisor|greatest shared factor|biggest common divisor", "longest|lengthiest", "shortest|briefest",
    "the sum of|the grand total of|the sum over", "the product of|the result of multiplying|the multiplied value of",
    "duplicates|doublets|repetitions", "the digits of|the single digits of|the decimal digits of", "two numbers|a pair of numbers|any two numbers|2 numbers",
    "two lists|a pair of lists|2 lists", "two words|a pair of words|2 words", "two strings|a pair of strings|2 strings", "two texts|a pair of texts|2 texts",
    "two dictionaries|a pair of dictionaries", "three numbers|any three numbers", "a given number of|a chosen number of|a certain number of",
    "a value|some value|a certain value", "a letter|some letter|a certain letter", "how often|how frequently|how many times over",
    "how many|precisely how many|exactly how many", "every number|every single number|each and every number", "every word|every single word|each and every word",
    "every letter|every single letter|each and every letter", "each number|each single number",
    "each word|each single word", "each letter|each single letter", "only once|one time only|just one time",
    "with a loop|by means of a loop|going through a loop", "replaced by|swapped for|turned into", "repeated|repeating|recurring",
    "followed by|and right behind it", "most common|most usual", "divisible by|cleanly divisible by|divisible without rest by",
    "remainder|rest", "joined|glued together|strung together",
    "joined with|glued together with|strung together with", "^join |^glue |^string together |^put together ", "^reverse |^turn round |^mirror ",
    "^sort |^bring into order |^put in order ", "^add up |^take the sum of |^build the sum of |^form the sum of ", "^sum |^take the sum of |^build the sum of ",
    "^remove |^strip away |^cut out |^throw away |^do away with ", "^convert |^transform |^change ",
    "^double |^multiply by two |^make twice as large ", "^square |^multiply by itself |^raise to the second power ",
    "^swap |^trade |^change round ", "^replace |^substitute ", "^merge |^bring together |^unite ",
    "^split |^chop |^divide ", "^repeat |^write again and again ",
)
