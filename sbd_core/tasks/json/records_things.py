"""The records about things that are bought, read, cooked and lived in. Data only."""

from sbd_core.tasks import words
from sbd_core.tasks.json.records import Record, Several

TITLES = tuple(f"The {a} {n}" for a in words.ADJECTIVES for n in words.NOUNS)
MODELS = tuple(f"{brand} {number}" for brand in words.BRANDS for number in range(1, 10))

ORDER = Record(
    "item",
    False,
    {
        "item": words.THINGS, "quantity": range(2, 60), "price": range(3, 99),
        "customer": words.NAMES, "city": words.CITIES, "day": words.DAYS, "color": words.COLORS,
        "extras": Several(words.SNACKS), "number": range(100, 1000),
    },
    (
        "[{customer} ordered ][{quantity} ][{color} ]{item}[ for {price} dollars][ on {day}].",
        "New order:[ {quantity}][ {color}] {item}[ at {price} dollars][ for {customer}][ in {city}].",
        "[On {day} ]we ship[ {quantity}] {item}[ in {color}][ to {customer}][ in {city}].",
        "The {item}[ go to {city}].",
        "[{customer} buys ][{quantity} ]{item}.",
        "[Order {number}: ][{quantity} ]{item}[ for {customer}].",
    ),
    {
        "quantity": ("The quantity is {quantity}.", "Count: {quantity}.", "There are {quantity} of them."),
        "price": ("The price is {price} dollars.", "Cost: {price} dollars.", "The bill is {price} dollars."),
        "customer": ("The customer is {customer}.", "Buyer: {customer}.", "They are for {customer}."),
        "city": ("Send them to {city}.", "The city is {city}.", "They go to {city}."),
        "day": ("They arrive on {day}.", "Delivery is on {day}.", "The day is {day}."),
        "color": ("The color is {color}.", "They are {color}."),
        "extras": ("Add {extras} as extras.", "The extras are {extras}."),
        "number": ("The order number is {number}.", "Order number {number}."),
    },
)  # fmt: skip
BOOK = Record(
    "title",
    False,
    {
        "title": TITLES, "author": words.NAMES, "year": range(1900, 2024), "pages": range(60, 600, 10),
        "topic": words.TOPICS, "price": range(5, 60), "city": words.CITIES,
        "languages": Several(words.LANGUAGES), "characters": Several(words.NAMES),
    },
    (
        'I read "{title}"[ by {author}][ from {year}][ with {pages} pages][ about {topic}].',
        '[{author} wrote ]"{title}"[ in {year}][ in {city}].',
        '[In {year} ]there came "{title}"[, a {topic} book][ of {pages} pages][ by {author}].',
        'On sale: "{title}"[ ({year})][, {price} dollars].',
        'The book is "{title}"[, written by {author}][ in {year}].',
        'I am reading "{title}"[ by {author}].',
    ),
    {
        "author": ("The author is {author}.", "{author} wrote it.", "Author: {author}."),
        "year": ("{S} came out in {year}.", "The year is {year}.", "{S} is from {year}."),
        "pages": ("{S} has {pages} pages.", "Length: {pages} pages."),
        "topic": ("{S} is about {topic}.", "The topic is {topic}."),
        "price": ("{S} costs {price} dollars.", "The price is {price} dollars."),
        "city": ("{S} was printed in {city}.", "{S} takes place in {city}."),
        "languages": ("You can read it in {languages}.", "The languages are {languages}."),
        "characters": ("The characters are {characters}.", "{S} tells of {characters}."),
    },
)  # fmt: skip
RECIPE = Record(
    "dish",
    False,
    {
        "dish": words.FOODS, "minutes": range(5, 120, 5), "servings": range(1, 13),
        "main": words.INGREDIENTS, "ingredients": Several(words.INGREDIENTS, 4), "cook": words.NAMES,
        "day": words.DAYS, "drink": ("water", "tea", "wine", "juice", "milk", "coffee"),
        "price": range(3, 40),
    },
    (
        "[{cook} makes ]{dish}[ with {main}][ in {minutes} minutes][ for {servings} people].",
        "Cook the {dish}[ for {minutes} minutes].",
        "[On {day}, ]our {dish}[ is ready in {minutes} minutes].",
        "This is {dish}[ for {servings} people].",
        "Recipe for {dish}[ by {cook}].",
    ),
    {
        "minutes": ("{S} takes {minutes} minutes.", "Time: {minutes} minutes."),
        "servings": ("{S} serves {servings}.", "Servings: {servings}.", "{S} is enough for {servings} people."),
        "main": ("The main part is {main}.", "{S} is mostly {main}."),
        "ingredients": ("You need {ingredients}.", "The ingredients are {ingredients}.", "{S} needs {ingredients}."),
        "cook": ("The cook is {cook}.", "{cook} cooks it."),
        "day": ("We eat it on {day}.", "The day is {day}."),
        "drink": ("Drink {drink} with it.", "The drink is {drink}."),
        "price": ("{S} costs {price} dollars.", "The price is {price} dollars."),
    },
)  # fmt: skip
HOUSE = Record(
    "city",
    False,
    {
        "city": words.CITIES, "rooms": range(1, 12), "rent": range(300, 3000, 50),
        "floor": range(1, 21), "color": words.COLORS, "owner": words.NAMES, "month": words.MONTHS,
        "tenants": Several(words.NAMES), "size": range(20, 200),
    },
    (
        "A home in {city}[ with {rooms} rooms][ on floor {floor}][ for {rent} dollars a month].",
        "[{owner} rents out ]a flat in {city}[, floor {floor}][, {rooms} rooms][, {rent} dollars].",
        "To let in {city}:[ {rooms} rooms.][ Rent {rent} dollars.][ Floor {floor}.]",
        "The flat is in {city}.",
        "[From {month}, ]a house in {city} is free.",
    ),
    {
        "rooms": ("{S} has {rooms} rooms.", "Rooms: {rooms}."),
        "rent": ("The rent is {rent} dollars.", "{S} costs {rent} dollars a month."),
        "floor": ("{S} is on floor {floor}.", "Floor {floor}."),
        "color": ("The walls are {color}.", "The color is {color}.", "{S} is painted {color}."),
        "owner": ("The owner is {owner}.", "{S} belongs to {owner}.", "Call {owner}."),
        "month": ("{S} is free in {month}.", "Move in is in {month}."),
        "tenants": ("{tenants} live there.", "The tenants are {tenants}."),
        "size": ("The size is {size} square meters.", "{S} has {size} square meters."),
    },
)  # fmt: skip
CAR = Record(
    "car",
    False,
    {
        "car": MODELS, "year": range(1990, 2025), "color": words.COLORS, "price": range(1000, 30000, 500),
        "owner": words.NAMES, "doors": range(2, 6), "speed": range(120, 260, 5), "city": words.CITIES,
        "fuel": ("petrol", "diesel", "electric", "gas"),
    },
    (
        "I saw a[ {color}] {car}[ from {year}][ with {doors} doors][ for {price} dollars].",
        "[{owner} drives ]a {car}[ from {year}].",
        "For sale[ in {city}]: {car}[, {year}][, {color}][, {price} dollars].",
        "The car is a {car}.",
    ),
    {
        "year": ("{S} is from {year}.", "The year is {year}.", "{S} was built in {year}."),
        "color": ("{S} is {color}.", "The color is {color}."),
        "price": ("{S} costs {price} dollars.", "The price is {price} dollars."),
        "owner": ("The owner is {owner}.", "{S} belongs to {owner}."),
        "doors": ("{S} has {doors} doors.", "Doors: {doors}."),
        "speed": ("Top speed is {speed}.", "{S} reaches a speed of {speed}."),
        "city": ("{S} stands in {city}.", "The city is {city}."),
        "fuel": ("The fuel is {fuel}.", "Fuel: {fuel}."),
    },
)  # fmt: skip
FILM = Record(
    "title",
    False,
    {
        "title": TITLES, "director": words.SURNAMES, "year": range(1930, 2025),
        "minutes": range(70, 200, 5), "genre": words.GENRES, "actors": Several(words.NAMES, 4),
        "country": words.COUNTRIES, "rating": range(1, 11), "day": words.DAYS,
    },
    (
        'I like "{title}"[ by {director}][ from {year}][ with {actors}].',
        'The film is called "{title}"[ ({year})].',
        '[On {day} ]we saw "{title}"[, a {genre}][ with {actors}].',
        'Now showing: "{title}"[, {minutes} minutes].',
    ),
    {
        "director": ("The director is {director}.", "{director} directed it."),
        "year": ("{S} is from {year}.", "{S} came out in {year}."),
        "minutes": ("{S} runs {minutes} minutes.", "{S} lasts {minutes} minutes."),
        "genre": ("The genre is {genre}.", "{S} is a {genre}."),
        "actors": ("The actors are {actors}.", "{S} stars {actors}."),
        "country": ("{S} was made in {country}.", "The country is {country}."),
        "rating": ("The rating is {rating}.", "{S} is rated {rating}."),
        "day": ("{S} is shown on {day}.", "The day is {day}."),
    },
)  # fmt: skip
PRODUCT = Record(
    "product",
    False,
    {
        "product": MODELS, "price": range(5, 900), "stock": range(1, 300), "colors": Several(words.COLORS, 4),
        "material": words.MATERIALS, "weight": range(1, 100), "brand": words.SURNAMES,
        "country": words.COUNTRIES, "rating": range(1, 6),
    },
    (
        "The {product} is new[ from {brand}][ for {price} dollars].",
        "In our shop: {product}[ for {price} dollars][, made of {material}].",
        "[{brand} sells ]the {product}[ in {colors}].",
        "Buy the {product}[ for {price} dollars].",
    ),
    {
        "price": ("The price is {price} dollars.", "{S} costs {price} dollars."),
        "stock": ("We have {stock} in stock.", "Stock: {stock}."),
        "colors": ("The colors are {colors}.", "{S} comes in {colors}.", "You can get it in {colors}."),
        "material": ("{S} is made of {material}.", "The material is {material}."),
        "weight": ("{S} weighs {weight} grams.", "The weight is {weight} grams."),
        "brand": ("The brand is {brand}.", "{S} is sold by {brand}."),
        "country": ("{S} is made in {country}.", "The country is {country}."),
        "rating": ("The rating is {rating} stars.", "Buyers give it {rating} stars."),
    },
)  # fmt: skip
THINGS: tuple[Record, ...] = (ORDER, BOOK, RECIPE, HOUSE, CAR, FILM, PRODUCT)
