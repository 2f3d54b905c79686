"""How drills are asked, by kind. Data only."""

from sbd_core.tasks.base import Pool

SUMS = (
    "Work out: {}", "Calculate: {}", "Solve: {}", "Compute {}.", "What is {}?", "{}", "How much is {}?",
    "Find {}.", "Do these sums: {}", "Give the results of {}.", "{} - what do they make?",
    "Please work out {}.", "Evaluate: {}", "Exercises: {}", "Show the steps: {}", "Results, please: {}",
    "Now these: {}", "One by one: {}", "Practice: {}", "Sums: {}",
)  # fmt: skip
WHOLE = Pool(("{}",))
"""Of kinds whose exercise is asked for in words of its own."""
PROMPTS: dict[str, Pool[str]] = {
    "sums": Pool(SUMS),
    "rows": WHOLE,
    "gaps": WHOLE,
    "compare": Pool((
        "Which is larger: {}?", "What is the largest of {}?", "Find the biggest number: {}", "Which of {} is greatest?",
        "The largest of {}?", "Tell me the greatest: {}", "Pick the largest number: {}", "Which number is highest: {}?",
        "Biggest of {}?", "Name the largest: {}", "What is the maximum of {}?", "Find the maximum: {}",
    )),
    "digits": Pool((
        "Write in digits: {}", "In digits: {}", "Turn into numbers: {}", "Write as numbers: {}", "Numerals for {}?",
        "As digits, please: {}", "Give these in digits: {}", "Which numbers are these: {}?", "Write with digits: {}",
    )),
    "ascending": Pool((
        "Sort from low to high: {}", "Sort these numbers: {}", "Put in ascending order: {}", "Order {} from small to large.",
        "Order from smallest to largest: {}", "Sort {}.", "Arrange from least to greatest: {}", "Smallest first: {}",
        "Sort ascending: {}", "Bring into order: {}",
    )),
    "descending": Pool((
        "Sort from high to low: {}", "Sort in descending order: {}", "Order from largest to smallest: {}", "Largest first: {}",
        "Arrange from greatest to least: {}", "Put the biggest first: {}", "Sort descending: {}", "Sort {} downwards.",
        "Order {} from large to small.",
    )),
    "alphabet": Pool((
        "Sort by the alphabet: {}", "Put in alphabetical order: {}", "Sort these words: {}", "Alphabetical order: {}",
        "Order from A to Z: {}", "Sort {} from A to Z.", "Arrange by letter: {}", "Sort alphabetically: {}",
    )),
    "reverse": Pool((
        "Reverse the order: {}", "Write from last to first: {}", "Turn around: {}", "Reverse: {}", "Backwards: {}",
        "Give these in reverse: {}", "Last one first: {}", "Start with the last: {}", "Flip the list: {}", "Reverse {}.",
    )),
    "count": Pool((
        "Count each: {}", "How many of each: {}", "Count the words: {}", "Tally: {}", "How often does each come up? {}",
        "Count how many of each: {}", "Make a tally of {}.", "Count these: {}", "What is the count of each? {}",
    )),
    "copy": Pool((
        "Repeat: {}", "Copy: {}", "Write the same: {}", "Say again: {}", "Copy this line: {}", "Write {} again.", "Echo: {}",
        "Repeat after me: {}", "The same again: {}", "Type this: {}",
    )),
    "lookup": Pool((
        "Look up {}", "Find {}", "Give {}", "What is said of {}", "Take out {}", "Show only {}", "Pick {}", "Search for {}",
        "Read off {}", "Get {}", "Copy the entries of {}", "Which entries has {}", "Keep {}", "Tell me {}", "Filter {}",
    )),
}  # fmt: skip
