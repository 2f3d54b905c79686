"""What a well-known function is, and all of them. The functions are data, in files by subject.

Wordings are separated by "|" and hold slots: {0} {1} {2} are its parameters as named, all of
them or none; {L} a list of numbers, {W} of words, {T} a text, {X} a number, {D} a dictionary.
"""

from dataclasses import dataclass

PLAIN = {
    "{L}": "a list", "{W}": "a list of words", "{T}": "a text", "{X}": "a number",
    "{D}": "a dictionary",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Classic:
    """A function of its own: its signature, its body, and what it does in words."""

    key: str
    """Its name where the prompt gives none; variants in another form end in a "-"."""
    signature: str
    """What follows "def name(", up to the colon."""
    takes: str
    """The kinds of its arguments, as `draw_case` draws them."""
    body: str
    nouns: str = ""
    """What it returns: "the factorial of {0}"."""
    verbs: str = ""
    """What it does, as a command: "reverse {T}"."""
    conditions: str = ""
    """What holds when it returns True: "{0} is even"."""

    @property
    def name(self) -> str:
        """The name it has where the prompt gives none."""
        return self.key.split("-")[0]

    @property
    def wordings(self) -> tuple[str, ...]:
        """Everything it is said to do."""
        texts = (self.nouns, self.verbs, self.conditions)
        return tuple(text for part in texts if part for text in part.split("|"))

    @property
    def said_first(self) -> str:
        """The wording of the docstring: the first that there is."""
        return (self.nouns or self.conditions or self.verbs).split("|")[0]

    @property
    def summary(self) -> str:
        """What its docstring says, with the slots of parameters."""
        said = self.said_first
        for slot, plain in PLAIN.items():
            said = said.replace(slot, plain)
        if self.nouns:
            said = "return " + said
        elif self.conditions:
            said = "return whether " + said
        return f"{said[0].upper()}{said[1:]}."
