"""Plain lists of everyday names and things from which the tasks make their texts."""


def split_words(text: str) -> tuple[str, ...]:
    """Split a text at its spaces and line ends."""
    return tuple(text.split())


WOMEN = split_words(
    """Amy Ada Carol Clara Diana Ella Emma Emily Eva Fiona Grace Greta Hannah Helen
    Iris Ivy Jane Julia June Laura Lena Lily Lisa Lucy Maria Mary Mia Mila Nina Nora Olive Paula
    Rachel Rose Ruth Sally Sara Sarah Stella Susan Tina Vera Wendy Zoe"""
)
MEN = split_words(
    """Adam Alex Ali Andy Ben Bill Bob Brian Carl Chris Dan David Eric Ethan Finn Frank George Greg
    Harry Hugo Ivan Jack Jacob James Joe John Jonas Josh Kai Leo Luis Luke Mark Max Mike Nick Noah Omar
    Otto Peter Phil Ravi Robert Ryan Sam Simon Steve Theo Thomas Tim Tom Tony Victor"""
)
NAMES = WOMEN + MEN
SURNAMES = split_words(
    """Jones Wilson Moore Taylor Clark Lewis Young King Wright Hill Green Baker Adams Carter Parker Collins
    Cook Bell Ward Gray Wood"""
)
CITIES = split_words(
    """Oslo Paris Rome Berlin Vienna Dublin Athens Cairo Delhi Tokyo Lima Boston Denver Austin Miami
    Seattle Toronto Sydney Perth Milan Naples Porto"""
)
COUNTRIES = split_words(
    """France Italy Germany Norway Sweden Poland Greece Turkey Egypt Kenya India China Japan Peru Brazil
    Canada Mexico Portugal Austria"""
)
COLORS = split_words("red blue green yellow white black brown pink gray purple")
DAYS = split_words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
MONTHS = split_words(
    """January February March April May June July August September October November December"""
)
JOBS = split_words(
    """baker teacher nurse doctor farmer lawyer painter pilot writer singer gardener plumber cook tailor
    carpenter librarian sailor judge waiter"""
)
FOODS = split_words(
    "soup bread salad pizza pasta curry stew pie cake omelet sandwich noodles chili"
)
SPECIES: dict[str, str] = {
    "dog": "barked", "cat": "meowed", "parrot": "chattered", "hamster": "squeaked",
    "turtle": "blinked", "horse": "neighed", "pony": "snorted", "goat": "bleated",
    "duck": "quacked", "hen": "clucked", "mouse": "squeaked", "fox": "yelped", "owl": "hooted",
    "donkey": "brayed", "goose": "honked", "frog": "croaked", "cow": "mooed",
    "hedgehog": "sniffed", "squirrel": "chattered", "crow": "cawed", "kitten": "purred",
    "rabbit": "sniffed", "sheep": "bleated", "puppy": "yapped", "pig": "grunted",
    "lizard": "blinked",
}  # fmt: skip
"""Animals, and the verb for each one's voice."""
PET_NAMES = split_words(
    """Rex Luna Milo Bella Biscuit Pepper Ginger Coco Shadow Sunny Buddy Bubbles Nibbles Whiskers Pickles
    Peanut Snowy Tiger Rusty Dusty Misty Pebbles Waffles Cookie Muffin Poppy Socks Noodle Maple Pumpkin"""
)
OBJECTS = split_words(
    """kite drum lamp hat scarf umbrella basket bell boat book bottle bucket button cap clock coin crown
    cup doll feather flag flute guitar hammer jacket key ladder lantern letter map mask mirror necklace
    painting pencil pillow puzzle ring rope shell shoe spoon stamp telescope tent toy trumpet vase violin
    whistle balloon blanket compass"""
)
PLACES: dict[str, str] = {
    "park": "in", "beach": "at", "forest": "in", "market": "at", "farm": "on", "garden": "in",
    "castle": "in", "village": "in", "museum": "in", "library": "in", "zoo": "at", "harbor": "in",
    "meadow": "in", "island": "on", "station": "at", "hill": "on", "mill": "by", "bridge": "by",
    "playground": "on",
}  # fmt: skip
"""Places, and the preposition of each."""
THINGS = split_words(
    """apples bananas beads bells books boxes buttons cards candles coins cookies cups eggs flags flowers
    games grapes hats keys lemons letters marbles melons mugs muffins nuts pears pens photos pies plates
    plums postcards puzzles ribbons rings roses shells shirts socks spoons stamps stickers stones tomatoes
    toys tulips"""
)
"""Things to count, as plurals."""
