"""Names and things the made-up tasks are about. Plain lists, no rules."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


WOMEN: tuple[str, ...] = (
    _words("""Tara Xena Ada Amy Anna Aya Bella Beth Carla Celia Clara Cora Daisy Dana Diana Dora Edith
    Ella Elsa Emma Erin Esme Eva Faye Fiona Flora Freya Gina Grace Greta Hana Hazel Helen Hilda
    Ida Inez Iris Isla Ivy Jade Jana Jane Joan Joy Julia June Kara Kate Kira Lara Laura Leah Lena
    Lily Lola Lucy Luna Mara Maria May Mia Mila Mina Mira Molly Nadia Nina Nora Olga Olive Paula
    Petra Rita Rosa Ruby Ruth Sana Sara Selma Tina Uma Vera Wilma Yara Zoe""")
)
MEN: tuple[str, ...] = (
    _words("""Hugo Adam Alan Alex Amir Andy Axel Ben Bill Boris Bruno Carl Cole Cyrus Dan David Dean Dino
    Eli Emil Eric Evan Felix Finn Frank Fred Gary George Glen Hans Hari Harry Henry Ian Igor Ivan
    Jack Jacob James Jan Joel John Jonas Juan Karl Ken Kevin Kurt Lars Leo Liam Luis Luke Marco
    Mark Max Milo Nick Nils Noah Noel Omar Oscar Otto Owen Paul Pedro Peter Ravi Rex Rob Rudi Ryan
    Sam Scott Sean Simon Stan Sven Theo Tim Tom Toni Victor Walt Yusuf Zac""")
)
NAMES: tuple[str, ...] = WOMEN + MEN

THINGS: tuple[str, ...] = (
    _words("""apples balls bananas beads bells belts berries bikes birds blocks boats books bottles bowls
    bricks brushes buckets buttons cakes cameras candles candies caps cards carrots cars chairs
    cherries clocks coins combs cookies crayons crystals cups dice dishes dolls drums eggs erasers
    feathers figs flags flowers forks games gems gloves grapes hammers hats horns jars kites knives
    lamps lanterns leaves lemons letters limes magnets maps marbles masks medals melons mirrors
    muffins mugs nails necklaces needles nuts onions oranges paintings pancakes peaches pearls pears
    pebbles pencils pens phones photos pies pins plants plates plums postcards posters pots puzzles
    ribbons rings robots rocks ropes roses scarves seeds shells shirts socks spoons stamps stars
    stickers sticks stones tickets tiles tomatoes towels toys trains tulips umbrellas vases
    whistles""")
)
COLORS: tuple[str, ...] = _words("red blue green yellow white black brown pink gray purple")
CONTAINERS: tuple[str, ...] = _words("boxes bags baskets trays drawers crates shelves rows")
DAYS: tuple[str, ...] = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
MONTHS: tuple[str, ...] = (
    _words("""January February March April May June July August September October November
    December""")
)
CITIES: tuple[str, ...] = (
    _words("""Oslo Paris Rome Berlin Madrid Lisbon Vienna Prague Dublin London Athens Cairo Delhi Tokyo
    Lima Quito Boston Denver Dallas Austin Miami Seattle Toronto Sydney Perth Seoul Hanoi Nairobi
    Lagos Dakar Accra Tunis Riga Minsk Sofia Geneva Milan Naples Porto Bergen""")
)
JOBS: tuple[str, ...] = (
    _words("""baker teacher nurse doctor farmer lawyer painter pilot writer singer driver gardener
    plumber cook tailor dentist barber carpenter librarian miner sailor judge dancer
    waiter""")
)
PETS: tuple[str, ...] = _words(
    "cat dog rabbit parrot hamster turtle horse snake lizard goldfish pony canary"
)
FOODS: tuple[str, ...] = (
    _words("""soup bread salad pizza pasta curry stew rice pie cake omelet pancake sandwich risotto
    lasagna noodles chili porridge""")
)
INGREDIENTS: tuple[str, ...] = (
    _words("""butter cheese garlic onion pepper tomato chicken beef mushroom spinach lemon honey ginger
    potato bean carrot cream basil""")
)
TOPICS: tuple[str, ...] = (
    _words("""history music cooking science poetry travel gardening chess painting sailing sport
    nature""")
)
ADJECTIVES: tuple[str, ...] = (
    _words("""silent golden hidden broken distant frozen little lonely secret bright ancient wild gentle
    burning empty crooked""")
)
NOUNS: tuple[str, ...] = (
    _words("""river garden mountain island forest castle bridge window harbor road mirror tower storm
    letter shadow kingdom""")
)
EVENTS: tuple[str, ...] = (
    _words("""concert workshop lecture market festival meeting race exhibition dinner party parade
    auction""")
)
VENUES: tuple[str, ...] = _words(
    "library museum park school theater gallery church stadium station hotel cafe hall"
)
AIRLINES: tuple[str, ...] = _words(
    "Norwind Skyline Bluejet Sunair Polar Falcon Comet Harbor Pacific Alpine"
)
SHORT_WORDS: tuple[str, ...] = (
    _words("""apple bee cat dog egg fig goat hat ice jam kite level lamp moon noon nut owl pear queen
    radar rain sun tea tree under van wolf year zebra stone table bread river eye kayak orange
    silver plane cloud""")
)
