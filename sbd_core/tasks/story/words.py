"""What stories are about: people, animals, things, places. Lists, and pools that part them.

The listed words are those by which a checker knows a fact nobody told; what else a prompt may
name is in the open pools, and beyond them in made-up words.
"""

from sbd_core.tasks.base import Pool
from sbd_core.tasks.words import COLORS, MEN, WOMEN


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


SPECIES: dict[str, str] = {
    "dog": "barked", "cat": "meowed", "rabbit": "sniffed", "parrot": "chattered",
    "hamster": "squeaked", "turtle": "blinked", "horse": "neighed", "pony": "snorted",
    "goat": "bleated", "duck": "quacked", "hen": "clucked", "mouse": "squeaked", "fox": "yelped",
    "owl": "hooted", "donkey": "brayed", "lamb": "bleated", "goose": "honked", "frog": "croaked",
    "pig": "grunted", "cow": "mooed", "hedgehog": "sniffed", "squirrel": "chattered",
    "crow": "cawed", "puppy": "yapped", "kitten": "purred", "lizard": "blinked",
    "dragon": "roared", "penguin": "squawked", "elephant": "snorted", "monkey": "chattered",
    "panda": "yawned", "unicorn": "neighed", "llama": "hummed", "wolf": "howled", "bear": "growled",
    "camel": "snorted", "otter": "squeaked", "swan": "hissed", "raccoon": "chattered",
    "koala": "yawned", "sheep": "bleated", "snail": "blinked", "crocodile": "snapped",
    "kangaroo": "hopped", "chicken": "clucked", "dolphin": "whistled", "giraffe": "blinked",
}  # fmt: skip
SPECIES_ADJECTIVES = Pool(_words(
    "young baby fat clever lazy tame shy funny wild curious sleepy hungry noisy gentle playful cheeky grumpy "
    "jolly friendly spotted fluffy furry cuddly naughty wise tiny giant chubby skinny greedy calm proud nervous"
))  # fmt: skip
ODD_SPECIES = Pool(_phrases(
    """tortoise, badger, beaver, seal, whale, shark, octopus, crab, lobster, starfish, jellyfish, goldfish,
    eagle, falcon, seagull, pelican, flamingo, peacock, robin, sparrow, pigeon, raven, stork, turkey, rooster,
    ferret, weasel, mole, bat, rat, chipmunk, skunk, porcupine, moose, deer, reindeer, elk, bison,
    buffalo, yak, ox, bull, calf, foal, mule, zebra, rhino, hippo, leopard, cheetah, panther, lion, lynx, jaguar,
    hyena, gorilla, chimpanzee, baboon, lemur, sloth, anteater, armadillo, platypus, wombat, gecko, chameleon,
    iguana, python, cobra, toad, newt, salamander, beetle, ladybug, butterfly, bee, grasshopper, cricket, spider,
    caterpillar, worm, walrus, salmon, trout, sea lion, alpaca, antelope, gazelle, dinosaur, griffin"""
))  # fmt: skip
ANY_CRY = "called out"
SPECIES_POOL = Pool(tuple(SPECIES))
WRITER_SPECIES = ("dog", "cat", "rabbit", "hen", "goat")
ANIMAL_NAMES: tuple[str, ...] = _words(
    """Rex Luna Milo Bella Fluffy Spot Biscuit Pepper Ginger Coco Patches Shadow Sunny Rocky Buddy
    Daisy Bubbles Nibbles Whiskers Pickles Peanut Snowy Smokey Tiger Bandit Rusty Dusty Misty
    Pebbles Waffles Mango Pip Dot Fuzzy Scout Ziggy Toffee Cookie Oreo Muffin Pumpkin Popcorn
    Sparky Bingo Tilly Bruno Lulu Poppy Willow Felix Oscar Socks Simba Nemo Zigzag Noodle Pudding
    Maple Domino Truffle Pesto Goldie Chip Tinker Hazelnut Buttercup Raisin Pixie Turbo Widget"""
)
PEOPLE: tuple[str, ...] = tuple(name for name in WOMEN + MEN if name not in ANIMAL_NAMES)
PEOPLE_POOL, ANIMAL_POOL = Pool(PEOPLE), Pool(ANIMAL_NAMES)
WRITER_PEOPLE = tuple(
    name for name in ("Amy", "Ben", "Lucy", "Tom", "Anna", "Max", "Mia", "Sam", "Lily", "Leo")
    if name in PEOPLE_POOL.seen
)  # fmt: skip
WRITER_ANIMALS = ANIMAL_POOL.seen[:8]
ROLES = Pool(_phrases(
    """pirate, princess, king, queen, knight, astronaut, farmer, baker, sailor, teacher, fisherman,
    clown, prince, shepherd, painter, captain, gardener, nurse, detective, cowboy, scientist,
    firefighter, mermaid, elf, witch, tailor, little princess, old sailor, brave knight, lazy king,
    young shepherd, clever detective, busy baker, sleepy astronaut, hunter, dancer, juggler, pilot,
    kind queen, tiny elf, poor miller, rich merchant, lonely lighthouse keeper, train driver,
    postman, policeman, plumber, carpenter, blacksmith, musician, singer, writer, poet, inventor,
    explorer, diver, soldier, judge, librarian, student, shopkeeper, waiter, magician, dwarf, goblin,
    troll, robber, beggar, hermit, monk, young farmer, clumsy knight, shy prince,
    happy baker, tired nurse, brave sailor, old wizard, little fairy, proud king, wise queen, famous painter"""
))  # fmt: skip
ROLE_PRONOUNS = {
    "princess": "she", "queen": "she", "mermaid": "she", "witch": "she", "king": "he",
    "prince": "he", "fisherman": "he", "cowboy": "he", "postman": "he", "policeman": "he",
    "monk": "he", "fairy": "she",
}  # fmt: skip
OBJECTS: tuple[str, ...] = _words(
    """kite ball drum lamp hat scarf umbrella basket bell boat book bottle bucket button cap clock
    coin crown cup doll feather flag flute glove guitar hammer horn jacket jar key ladder lantern
    letter map marble mask medal mirror necklace painting pearl pencil pillow pot puzzle ribbon
    ring robot rope sack shell shoe spoon stamp stick sweater teapot telescope tent toy trumpet
    vase violin wagon watch whistle balloon blanket compass"""
)
OBJECT_POOL = Pool(OBJECTS)
WRITER_OBJECTS = tuple(
    thing for thing in ("ball", "kite", "book", "hat", "key", "map", "bell", "drum", "boat", "coin")
    if thing in OBJECT_POOL.seen
)  # fmt: skip
ODD_OBJECTS = Pool(_phrases(
    """pizza, laptop, skateboard, cactus, pumpkin, sandwich, submarine, microscope, cupcake, tractor,
    accordion, suitcase, helmet, magnet, anchor, candle, typewriter, bicycle, bathtub, banjo,
    tambourine, wheelbarrow, hourglass, paintbrush, chessboard, toothbrush, pine cone, alarm clock,
    paper plane,
    pair of boots, bag of apples, box of chocolates, jar of honey, bowl of cherries,
    piece of cheese, bunch of tulips, cup of tea, ball of wool, pocket knife, fishing net,
    rocking chair, teddy bear, snow globe, music box, ice cream cone, dinosaur egg, pocket watch,
    diamond, helicopter, parachute, camera, calculator, pancake, watermelon, banana, sword, shield,
    wand, carpet, wheel, cookie jar, garden gnome, walking stick, magnifying glass, trombone,
    saucepan, kettle, frying pan, teacup, fork, tablecloth, mattress, armchair, wardrobe, bookshelf, rug,
    curtain, mop, broom, vacuum cleaner, toaster, freezer, radio, television, tablet, keyboard,
    microphone, harmonica, xylophone, harp, saxophone, cello, tuba, piano, scooter, surfboard, sled, snowboard,
    canoe, raft, sailboat, airplane, motorbike, taxi, bus, wheelchair, shovel, rake, axe, screwdriver,
    wrench, brick, bolt, chain, padlock, purse, wallet, backpack, bracelet, earring, brooch, locket,
    slipper, sock, mitten, belt, raincoat, dress, tie, apron, muffler, yo-yo, frisbee, jigsaw,
    crayon, notebook, eraser, ruler, globe, stopwatch, thermometer, bird cage, flowerpot,
    watering can, sunflower, cucumber, carrot, pineapple, strawberry, lollipop, doughnut, croissant, sausage,
    loaf of bread, bottle of milk, pile of leaves, pair of glasses, set of paints, roll of tape, ball of string"""
))  # fmt: skip
OBJECT_ADJECTIVES = Pool(_words(
    "old tiny golden wooden paper shiny glass rusty striped huge round plastic silver heavy dusty "
    "fluffy invisible square painted folded metal torn velvet funny sparkling crooked soft "
    "large small long thin thick flat wet dry warm cold light magic broken expensive cheap fancy plain pretty ugly "
    "sticky smooth leather cotton iron bronze stone copper woolen silk giant strange odd secret ancient modern"
))  # fmt: skip
PLACES: dict[str, str] = {
    "park": "in", "beach": "at", "forest": "in", "market": "at", "farm": "on", "garden": "in",
    "school": "at", "castle": "in", "lake": "by", "river": "by", "hill": "on", "village": "in",
    "museum": "in", "library": "in", "zoo": "at", "harbor": "in", "meadow": "in", "island": "on",
    "station": "at", "barn": "in", "mill": "by", "bridge": "by", "playground": "on", "valley": "in",
}  # fmt: skip
PLACE_POOL = Pool(tuple(PLACES))
WRITER_PLACES = tuple(
    place for place in ("park", "forest", "garden", "beach", "village", "meadow", "hill")
    if place in PLACE_POOL.seen
)  # fmt: skip
ODD_PLACES: dict[str, str] = {
    "airport": "at", "desert": "in", "jungle": "in", "circus": "at", "cave": "in", "swamp": "in",
    "attic": "in", "cellar": "in", "hospital": "at", "bakery": "at", "lighthouse": "in",
    "waterfall": "by", "palace": "in", "pyramid": "in", "rooftop": "on", "orchard": "in",
    "campsite": "at", "supermarket": "at", "aquarium": "at", "stadium": "in", "iceberg": "on",
    "greenhouse": "in", "snowy mountain": "on", "haunted house": "in", "fish market": "at",
    "edge of town": "at", "top of the tower": "at", "bottom of the sea": "at", "train": "on",
    "city": "in", "swimming pool": "at", "cinema": "at", "restaurant": "in", "office": "in",
    "volcano": "near", "north pole": "at", "toy shop": "in", "rain forest": "in",
    "pirate ship": "on",
    "glass palace": "in", "football field": "on", "corner shop": "at", "cathedral": "in",
}  # fmt: skip
ODD_PLACE_POOL = Pool(tuple(ODD_PLACES))
PLACE_ADJECTIVES = Pool(_words(
    "quiet dark sunny lonely windy misty frozen crowded tiny famous old little big busy empty noisy "
    "hidden rainy snowy foggy distant nearby sleepy magic lovely peaceful strange forgotten"
))  # fmt: skip
REALMS = Pool(("kingdom", "town", "land", "city", "island", "country", "planet"))
LISTS: dict[str, frozenset[str]] = {
    "person": frozenset(PEOPLE),
    "animal": frozenset(ANIMAL_NAMES),
    "species": frozenset(SPECIES),
    "object": frozenset(OBJECTS),
    "color": frozenset(COLORS),
    "place": frozenset(PLACES),
}
