"""Plurals and verb forms of the English that problems are told in."""

IRREGULAR_SINGULARS = {
    "sheep": "sheep", "geese": "goose", "people": "person", "children": "child", "mice": "mouse",
    "leaves": "leaf", "loaves": "loaf", "knives": "knife", "scarves": "scarf", "dice": "die",
    "cookies": "cookie", "pies": "pie", "brownies": "brownie", "ties": "tie", "shelves": "shelf",
    "dishes": "dish", "boxes": "box", "brushes": "brush", "peaches": "peach", "bushes": "bush",
    "matches": "match", "benches": "bench", "glasses": "glass", "dresses": "dress", "fish": "fish",
    "watches": "watch", "radishes": "radish", "tomatoes": "tomato", "potatoes": "potato",
    "movies": "movie", "sandwiches": "sandwich", "buses": "bus", "lunches": "lunch",
    "women": "woman", "men": "man", "feet": "foot", "inches": "inch", "scones": "scone",
}  # fmt: skip
IRREGULAR_PASTS = {
    "be": "was", "have": "had", "do": "did", "go": "went", "get": "got", "give": "gave",
    "take": "took", "buy": "bought", "find": "found", "win": "won", "send": "sent", "make": "made",
    "pay": "paid", "lose": "lost", "eat": "ate", "sell": "sold", "break": "broke", "put": "put",
    "keep": "kept", "bring": "brought", "catch": "caught", "grow": "grew", "fall": "fell",
    "rise": "rose", "drop": "dropped", "come": "came", "leave": "left", "run": "ran",
    "ride": "rode", "drive": "drove", "spend": "spent", "read": "read", "write": "wrote",
    "draw": "drew", "cut": "cut", "hold": "held", "begin": "began", "split": "split",
    "lay": "laid", "fly": "flew", "swim": "swam", "sit": "sat", "stand": "stood", "hit": "hit",
    "throw": "threw", "drink": "drank", "lend": "lent", "steal": "stole", "see": "saw",
    "think": "thought", "let": "let", "step": "stepped", "shut": "shut", "set": "set",
    "pick": "picked", "build": "built", "teach": "taught", "hear": "heard", "sing": "sang",
    "wear": "wore", "bend": "bent", "tear": "tore", "hide": "hid", "plan": "planned",
    "stop": "stopped", "swap": "swapped", "weigh": "weighed", "sink": "sank", "burst": "burst",
    "freeze": "froze", "show": "showed", "feed": "fed", "cost": "cost", "become": "became",
    "meet": "met", "skip": "skipped", "fit": "fit",
}  # fmt: skip


def singular(plural: str) -> str:
    """One of `plural`."""
    if plural in IRREGULAR_SINGULARS:
        return IRREGULAR_SINGULARS[plural]
    if plural.endswith("ies"):
        return plural[:-3] + "y"
    return plural.removesuffix("s")


def conjugate(base: str, person: str, *, is_past: bool) -> str:
    """`base` for person "I", "s" (he, she, it) or "p" (several)."""
    if base == "be":
        present, past = {"I": ("am", "was"), "s": ("is", "was"), "p": ("are", "were")}[person]
        return past if is_past else present
    ends_in_consonant_y = base[-1] == "y" and base[-2] not in "aeou"
    if is_past:
        regular = base[:-1] + "ied" if ends_in_consonant_y else base.removesuffix("e") + "ed"
        return IRREGULAR_PASTS.get(base, regular)
    if person != "s":
        return base
    if base in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[base]
    if ends_in_consonant_y:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "x")) else "s")
