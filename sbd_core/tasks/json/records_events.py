"""The records about what happens: events, journeys, matches, weather, jobs. Data only."""

from sbd_core.tasks import words
from sbd_core.tasks.json.records import TIMES, Record, Several

FLIGHTS = tuple(f"{letter}{number}" for letter in "ABCDEFGH" for number in range(100, 1000, 7))

EVENT = Record(
    "event",
    False,
    {
        "event": words.EVENTS, "day": words.DAYS, "time": TIMES, "place": words.VENUES,
        "city": words.CITIES, "seats": range(10, 300, 5), "host": words.NAMES,
        "guests": Several(words.NAMES, 4), "price": range(2, 60),
    },
    (
        "The {event}[ at the {place}][ in {city}] starts[ on {day}][ at {time}].",
        "[{host} asks you to come ]to a {event}[ in {city}][ this {day}][ from {time}][ at the {place}].",
        "[On {day} ][at {time} ]there is a {event}[ in the {place}][ in {city}][ led by {host}].",
        "Join our {event}[ hosted by {host}].",
        "Come to the {event}[ on {day}][ at {time}].",
    ),
    {
        "day": ("{S} is on {day}.", "The day is {day}."),
        "time": ("{S} starts at {time}.", "The time is {time}.", "Be there at {time}."),
        "place": ("The place is the {place}.", "{S} is held at the {place}."),
        "city": ("{S} takes place in {city}.", "The city is {city}."),
        "seats": ("There are {seats} seats.", "Seats: {seats}."),
        "host": ("The host is {host}.", "{host} is the host."),
        "guests": ("The guests are {guests}.", "{guests} are invited.", "{guests} will come."),
        "price": ("A ticket costs {price} dollars.", "The price is {price} dollars."),
    },
)  # fmt: skip
FLIGHT = Record(
    "flight",
    False,
    {
        "flight": FLIGHTS, "origin": words.CITIES, "destination": words.CITIES, "day": words.DAYS,
        "time": TIMES, "gate": range(1, 60), "airline": words.AIRLINES, "stops": Several(words.CITIES),
        "pilot": words.SURNAMES,
    },
    (
        "[{airline} ]flight {flight} leaves[ {origin}][ for {destination}][ on {day}][ at {time}].",
        "Flight {flight}[ to {destination}][ from {origin}] departs[ {day}][ at {time}].",
        "[On {day} ]board flight {flight}[ at gate {gate}][ by {time}].",
        "Your flight is {flight}[ from {origin}][ to {destination}].",
        "Flight {flight} is on time.",
    ),
    {
        "origin": ("The origin is {origin}.", "{S} starts in {origin}.", "{S} comes from {origin}."),
        "destination": ("The destination is {destination}.", "{S} lands in {destination}.", "{S} goes to {destination}."),
        "day": ("The day is {day}.", "{S} flies on {day}."),
        "time": ("{S} leaves at {time}.", "The time is {time}."),
        "gate": ("The gate is {gate}.", "Go to gate {gate}."),
        "airline": ("The airline is {airline}.", "{S} is run by {airline}."),
        "stops": ("The stops are {stops}.", "{S} stops in {stops}."),
        "pilot": ("The pilot is {pilot}.", "{pilot} is the pilot."),
    },
)  # fmt: skip
MATCH = Record(
    "winner",
    False,
    {
        "winner": words.TEAMS, "loser": words.TEAMS, "goals": range(1, 12), "day": words.DAYS,
        "city": words.CITIES, "fans": range(100, 9000, 50), "referee": words.SURNAMES,
        "scorers": Several(words.NAMES, 4), "minutes": range(40, 130, 5),
    },
    (
        "The {winner} beat[ the {loser}][ in {city}][ on {day}].",
        "[On {day}, ]the {winner} won[ against the {loser}][ with {goals} goals].",
        "A win for the {winner}[ over the {loser}][ in {city}].",
    ),
    {
        "loser": ("The loser is the {loser}.", "The {loser} lost."),
        "goals": ("There were {goals} goals.", "Goals: {goals}."),
        "day": ("The day was {day}.", "They played on {day}."),
        "city": ("They played in {city}.", "The city was {city}."),
        "fans": ("{fans} fans came.", "There were {fans} fans."),
        "referee": ("The referee was {referee}.", "{referee} was the referee."),
        "scorers": ("The scorers were {scorers}.", "{scorers} scored."),
        "minutes": ("The game took {minutes} minutes.", "They played {minutes} minutes."),
    },
)  # fmt: skip
WEATHER = Record(
    "city",
    False,
    {
        "city": words.CITIES, "weather": words.WEATHER, "temperature": range(1, 40), "wind": range(1, 90),
        "day": words.DAYS, "month": words.MONTHS, "rain": range(1, 60), "country": words.COUNTRIES,
    },
    (
        "[On {day} ]we measured in {city}[ {temperature} degrees].",
        "Here is the weather in {city}[ on {day}].",
        "Report from {city}[, {country}]:[ {weather}][, {temperature} degrees].",
        "Today we look at {city}.",
    ),
    {
        "weather": ("The weather is {weather}.", "It is {weather}."),
        "temperature": ("The temperature is {temperature} degrees.", "It has {temperature} degrees."),
        "wind": ("The wind blows at {wind}.", "The wind is {wind}."),
        "day": ("The day is {day}.", "This is for {day}."),
        "month": ("The month is {month}.", "It is {month}."),
        "rain": ("There are {rain} liters of rain.", "The rain is {rain} liters."),
        "country": ("The country is {country}.", "It is in {country}."),
    },
)  # fmt: skip
VACANCY = Record(
    "job",
    False,
    {
        "job": words.JOBS, "company": words.BRANDS, "city": words.CITIES, "salary": range(1000, 9000, 100),
        "hours": range(10, 50), "boss": words.SURNAMES, "start": words.MONTHS,
        "skills": Several(words.SUBJECTS), "languages": Several(words.LANGUAGES),
    },
    (
        "[{company} looks for ]a {job}[ in {city}][ for {hours} hours a week].",
        "Job offer: {job}[ at {company}][ in {city}].",
        "We need a {job}[ in {city}][ from {start}].",
    ),
    {
        "company": ("The company is {company}.", "You work for {company}."),
        "city": ("The place of work is {city}.", "The city is {city}."),
        "salary": ("The salary is {salary} dollars.", "We pay {salary} dollars."),
        "hours": ("You work {hours} hours a week.", "Hours: {hours}."),
        "boss": ("The boss is {boss}.", "Your boss is {boss}."),
        "start": ("The start is in {start}.", "You begin in {start}."),
        "skills": ("The skills are {skills}.", "You should know {skills}."),
        "languages": ("You need the languages {languages}.", "The languages are {languages}."),
    },
)  # fmt: skip
BOOKING = Record(
    "guest",
    True,
    {
        "guest": words.NAMES, "hotel": words.BRANDS, "nights": range(1, 22), "room": range(100, 700),
        "city": words.CITIES, "day": words.DAYS, "price": range(30, 300, 5), "floor": range(1, 20),
        "meals": Several(("breakfast", "lunch", "dinner", "supper", "brunch")),
    },
    (
        "{guest} stays[ at the {hotel} hotel][ in {city}][ for {nights} nights].",
        "Room[ {room}] is booked for {guest}[ for {nights} nights].",
        "[On {day} ]{guest} arrives[ at the {hotel} hotel].",
        "We have a guest named {guest}.",
    ),
    {
        "hotel": ("The hotel is the {hotel}.", "The hotel is called {hotel}."),
        "nights": ("{S} stays {nights} nights.", "Nights: {nights}."),
        "room": ("{Its} room is {room}.", "The room number is {room}."),
        "city": ("The city is {city}.", "The hotel is in {city}."),
        "day": ("{S} comes on {day}.", "The day is {day}."),
        "price": ("The price is {price} dollars.", "{S} pays {price} dollars."),
        "floor": ("The room is on floor {floor}.", "Floor {floor}."),
        "meals": ("The meals are {meals}.", "{S} wants {meals}."),
    },
)  # fmt: skip
EVENTS: tuple[Record, ...] = (EVENT, FLIGHT, MATCH, WEATHER, VACANCY, BOOKING)
