"""Names and things the made-up tasks are about. Plain lists; those of names also as pools."""

from sbd_core.tasks.base import Pool


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


WOMEN: tuple[str, ...] = (
    _words("""Tara Xena Ada Amy Anna Aya Bella Beth Carla Celia Clara Cora Daisy Dana Diana Dora Edith
    Ella Elsa Emma Erin Esme Eva Faye Fiona Flora Freya Gina Grace Greta Hana Hazel Helen Hilda
    Ida Inez Iris Isla Ivy Jade Jana Jane Joan Joy Julia June Kara Kate Kira Lara Laura Leah Lena
    Lily Lola Lucy Luna Mara Maria May Mia Mila Mina Mira Molly Nadia Nina Nora Olga Olive Paula
    Abby Alice Amelia Ava Bea Bianca Carol Cathy Chloe Claire Donna Elena Eliza Emily Gloria Hannah
    Irene Jenny Jill Judy Karen Katie Kelly Kim Lisa Liz Lydia Maggie Mary Megan Nancy Naomi Nell
    Pam Penny Polly Priya Rachel Rebecca Rose Sally Sandra Sarah Sofia Sophie Stella Sue Susan Tanya
    Tess Violet Wendy Yuki Aisha Fatima Ingrid Leila Mei Noor Zara April Brenda Nicole Laila Kaya
    Petra Rita Rosa Ruby Ruth Sana Sara Selma Tina Uma Vera Wilma Yara Zoe""")
)
MEN: tuple[str, ...] = (
    _words("""Hugo Adam Alan Alex Amir Andy Axel Ben Bill Boris Bruno Carl Cole Cyrus Dan David Dean Dino
    Eli Emil Eric Evan Felix Finn Frank Fred Gary George Glen Hans Hari Harry Henry Ian Igor Ivan
    Jack Jacob James Jan Joel John Jonas Juan Karl Ken Kevin Kurt Lars Leo Liam Luis Luke Marco
    Mark Max Milo Nick Nils Noah Noel Omar Oscar Otto Owen Paul Pedro Peter Ravi Rex Rob Rudi Ryan
    Aaron Adrian Ahmed Ali Andrew Anton Arthur Billy Bob Brian Charlie Chris Daniel Danny Diego
    Dylan Ed Ethan Ernie Gabriel Greg Gus Ibrahim Isaac Jake Jamal Jason Jeff Jerry Jim Jimmy Joe
    Josh Kai Kenji Larry Lewis Logan Lucas Martin Matt Mike Mohammed Nathan Ned Oliver Pablo Pat
    Phil Raj Ray Rick Robert Roy Sami Steve Ted Thomas Tobias Tony Tyler Will William Zack
    Sam Scott Sean Simon Stan Sven Theo Tim Tom Toni Victor Walt Yusuf Zac""")
)
NAMES: tuple[str, ...] = WOMEN + MEN
WOMAN_POOL, MAN_POOL, NAME_POOL = Pool(WOMEN), Pool(MEN), Pool(NAMES)

THINGS: tuple[str, ...] = (
    _words("""apples balls bananas beads bells belts berries bikes birds blocks boats books bottles bowls
    bricks brushes buckets buttons cakes cameras candles candies caps cards carrots cars chairs
    cherries clocks coins combs cookies crayons crystals cups dice dishes dolls drums eggs erasers
    feathers figs flags flowers forks games gems gloves grapes hammers hats horns jars kites knives
    lamps lanterns leaves lemons letters limes magnets maps marbles masks medals melons mirrors
    muffins mugs nails necklaces needles nuts onions oranges paintings pancakes peaches pearls pears
    pebbles pencils pens phones photos pies pins plants plates plums backpacks balloons blankets bracelets coats crowns curtains cushions cupboards envelopes fans folders
    glasses guitars jackets jewels keys ladders markers notebooks pans papers paints
    pictures pillows postcards posters pots pumpkins purses puzzles
    ribbons rings robots rocks ropes roses scarves seeds shells shirts socks spoons stamps stars
    stickers sticks stones tickets tiles tomatoes towels toys trains tulips umbrellas vases
    whistles""")
)
SNACKS: tuple[str, ...] = (
    _words("""cookies muffins pancakes cupcakes sandwiches pies brownies waffles donuts apples oranges
    bananas strawberries grapes plums peaches candies chocolates buns rolls loaves cakes tarts eggs
    potatoes tomatoes carrots crackers nuts pretzels dumplings pears sweets biscuits""")
)
FARM_ANIMALS: tuple[str, ...] = (
    _words("""chickens cows sheep goats ducks pigs horses rabbits geese hens ponies lambs turkeys donkeys
    cats dogs birds fish bees puppies kittens frogs""")
)
PEOPLE_KINDS: tuple[str, ...] = _words(
    "children people students guests pupils cooks singers visitors players kids friends dancers workers"
)
PLANTS: tuple[str, ...] = (
    _words("""roses tulips trees flowers bushes plants sunflowers daisies cabbages pumpkins carrots
    tomatoes lilies beans apples melons herbs""")
)
COLORS: tuple[str, ...] = _words("red blue green yellow white black brown pink gray purple")
RELATIVES: tuple[str, ...] = (
    _words("""brother sister mother father friend cousin aunt uncle grandmother grandfather teacher
    neighbor mom dad""")
)
OWN_RELATIVES: tuple[tuple[str, str], ...] = (
    ("he", "brother"), ("she", "sister"), ("she", "mother"), ("he", "father"), ("he", "uncle"),
    ("she", "aunt"), ("she", "mom"), ("he", "dad"), ("she", "grandmother"), ("he", "neighbor"),
    ("she", "friend"), ("he", "friend"), ("she", "cousin"),
)  # fmt: skip
CONTAINERS: tuple[str, ...] = _words(
    "boxes bags baskets trays drawers crates shelves rows packs jars piles bowls"
)
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
LANGUAGES: tuple[str, ...] = (
    _words("""English French German Spanish Italian Polish Greek Turkish Arabic Hindi Japanese Korean
    Danish Swedish Dutch Russian Chinese""")
)
SUBJECTS: tuple[str, ...] = _words(
    "math physics history biology art music geography chemistry English Latin sport drama"
)
BRANDS: tuple[str, ...] = _words(
    "Nova Orion Vega Delta Zenith Lumen Argo Fjord Kestrel Tundra Polaris"
)
SURNAMES: tuple[str, ...] = (
    _words("""Smith Jones Brown Miller Wilson Moore Taylor Clark Lewis Young King Wright Hill Green Baker
    Adams Carter Turner Parker Collins Cook Bell Ward Gray Price Wood Ross Kim Patel Khan Silva
    Novak Weber Rossi Dubois Jensen""")
)
COUNTRIES: tuple[str, ...] = (
    _words("""France Spain Italy Germany Norway Sweden Poland Greece Turkey Egypt Kenya India China Japan
    Peru Brazil Canada Mexico Chile Ireland Portugal Austria""")
)
MATERIALS: tuple[str, ...] = _words(
    "wood steel glass cotton leather wool plastic paper silver silk"
)
WEATHER: tuple[str, ...] = _words("sunny rainy cloudy windy snowy foggy stormy clear")
GENRES: tuple[str, ...] = _words(
    "comedy drama thriller romance western musical fantasy mystery horror"
)
TEAMS: tuple[str, ...] = _words(
    "Lions Tigers Eagles Sharks Bears Wolves Hawks Bulls Rockets Giants Comets Pirates"
)
INSTRUMENTS: tuple[str, ...] = _words("piano guitar violin flute drums cello trumpet harp organ")
ONES: tuple[str, ...] = (
    _words("""zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen""")
)
TENS: tuple[str, ...] = _words("twenty thirty forty fifty sixty seventy eighty ninety")
NUMBER_WORDS: tuple[str, ...] = (
    *ONES,
    *(f"{ten}-{one}" if one else ten for ten in TENS for one in ("", *ONES[1:10])),
)
