"""What stories are about: people, animals, things, places. Plain lists, no rules."""

from sbd_core.tasks.words import COLORS, MEN, WOMEN


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SPECIES: dict[str, str] = {
    "dog": "barked", "cat": "meowed", "rabbit": "sniffed", "parrot": "chattered",
    "hamster": "squeaked", "turtle": "blinked", "horse": "neighed", "pony": "snorted",
    "goat": "bleated", "duck": "quacked", "hen": "clucked", "mouse": "squeaked", "fox": "yelped",
    "owl": "hooted", "donkey": "brayed", "lamb": "bleated", "goose": "honked", "frog": "croaked",
    "pig": "grunted", "cow": "mooed", "hedgehog": "sniffed", "squirrel": "chattered",
    "crow": "cawed", "puppy": "yapped", "kitten": "purred", "lizard": "blinked",
}  # fmt: skip
ANIMAL_NAMES: tuple[str, ...] = _words(
    """Rex Luna Milo Bella Fluffy Spot Biscuit Pepper Ginger Coco Patches Shadow Sunny Rocky Buddy
    Daisy Bubbles Nibbles Whiskers Pickles Peanut Snowy Smokey Tiger Bandit Rusty Dusty Misty
    Pebbles Waffles Mango Pip Dot Fuzzy Scout Ziggy Toffee Cookie Oreo Muffin Pumpkin Popcorn
    Sparky Bingo Tilly Bruno Lulu Poppy Willow Felix Oscar Socks Simba Nemo Zigzag"""
)
PEOPLE: tuple[str, ...] = tuple(name for name in WOMEN + MEN if name not in ANIMAL_NAMES)
OBJECTS: tuple[str, ...] = _words(
    """kite ball drum lamp hat scarf umbrella basket bell boat book bottle bucket button cap clock
    coin crown cup doll feather flag flute glove guitar hammer horn jacket jar key ladder lantern
    letter map marble mask medal mirror necklace painting pearl pencil pillow pot puzzle ribbon
    ring robot rope sack shell shoe spoon stamp stick sweater teapot telescope tent toy trumpet
    vase violin wagon watch whistle balloon blanket compass"""
)
PLACES: dict[str, str] = {
    "park": "in", "beach": "at", "forest": "in", "market": "at", "farm": "on", "garden": "in",
    "school": "at", "castle": "in", "lake": "by", "river": "by", "hill": "on", "village": "in",
    "museum": "in", "library": "in", "zoo": "at", "harbor": "in", "meadow": "in", "island": "on",
    "station": "at", "barn": "in", "mill": "by", "bridge": "by", "playground": "on", "valley": "in",
}  # fmt: skip
LISTS: dict[str, frozenset[str]] = {
    "person": frozenset(PEOPLE),
    "animal": frozenset(ANIMAL_NAMES),
    "species": frozenset(SPECIES),
    "object": frozenset(OBJECTS),
    "color": frozenset(COLORS),
    "place": frozenset(PLACES),
}
