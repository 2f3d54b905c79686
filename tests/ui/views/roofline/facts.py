"""What an answer of the roofline view holds, by name."""


def value(found: dict, name: str) -> str:
    return next(fact["value"] for fact in found["facts"] if fact["name"] == name)


def note(found: dict, name: str) -> str:
    return next(fact["note"] for fact in found["facts"] if fact["name"] == name)
