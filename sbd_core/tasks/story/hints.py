"""Ways to ask for a plot as one more thing that the story is about. Data only.

Of each plot the first, the plainest, is never kept for test.
"""

from sbd_core.tasks.base import Pool

# fmt: off
_HINTS: dict[str, str] = {
    "wish": "a wish|some magic|a wish that comes true|three wishes|a magic spell|a secret wish|a bit of magic|one wish|a little magic|a big wish|a spell",
    "snow": "snow|a winter day|the first snow|a snowy day|winter|a cold day|lots of snow|a day in the snow|ice and snow|a cold winter morning|fun in the snow",
    "dream": "a dream|a strange dream|a dream at night|an odd dream|a funny dream|a wonderful dream|something dreamed|a long dream|a dream that feels real|sleep and dreams",
    "seek": "hide and seek|a game|a game of hide and seek|hiding|a hiding game|a good hiding spot|a round of hide and seek|a fun game|playing a game|seeking and finding",
    "journey": "a long journey|a trip|a journey|a long trip|a voyage|a long road|travel|a day of travel|a far country|a long walk|a great journey",
    "stranger": "a stranger|a good deed|a kind stranger|somebody new|a strange visitor|somebody who needs help|an unknown man|being kind|a kind act|helping a stranger",
    "den": "a secret den|a hut|a place to hide|a hideout|a secret hideout|a little hut|a small den|a hut of their own|a secret hut|building a den",
    "giant": "a giant|a monster|a big giant|a friendly giant|something huge|a scary monster|a tall giant|somebody very big|a hungry giant|a huge monster",
    "wave": "a big wave|the tide|a wave|a huge wave|high water|the waves|deep water|a splash|a giant wave|rising water",
    "space": "a trip to the moon|the moon|space|a flight to the moon|outer space|a journey into space|the stars|a trip into space|life on the moon|a far planet",
    "lost": "something that gets lost|a loss|something lost|a thing that is lost|losing something|something that cannot be found|looking for something|something lost and found|a long search|a search",
    "present": "a surprise|a birthday|a present|a gift|a birthday present|a big surprise|a nice surprise|a birthday surprise|a gift for somebody|a happy birthday|something new",
    "rescue": "a rescue|a brave deed|a daring rescue|a brave rescue|an act of courage|somebody in danger|great danger|courage|being brave|help at the last minute",
    "race": "a race|a prize|a big race|a running race|winning a race|a fast race|first prize|somebody who wants to win|a great race|an exciting race",
    "storm": "a storm|bad weather|thunder|a big storm|thunder and lightning|strong wind|a terrible storm|a stormy day|a wild storm|wind and rain",
    "cake": "a cake|a picnic|a birthday cake|something sweet|baking|a tasty cake|a big cake|a little picnic|eating outside|a picnic in the sun",
    "visit": "a visit to grandma|grandma|a visit|a day with grandma|an afternoon with grandma|a trip to grandma|a dear grandma|seeing grandma|a grandmother|visiting grandma",
    "broken": "something that breaks|a thing that breaks|something broken|breaking something|something that has to be mended|a repair|something that goes to pieces|an accident|something that must be fixed|mending something",
    "mystery": "a mystery|a thief|a riddle|a strange case|somebody who steals|a clue|a secret thief|a case to solve|finding a thief|a strange mystery|footprints",
    "treasure": "a treasure|a secret|a hidden treasure|a treasure hunt|a big secret|gold|an old secret|digging for treasure|lost riches|something hidden",
    "trick": "a trick|a show|a clever trick|a new trick|learning a trick|a little show|a funny trick|a great show|practice|an act for a show",
    "night": "a dark night|bedtime|the night|a night without sleep|going to bed|the dark|fear of the dark|a long night|a sleepless night|time to sleep",
    "song": "a song|music|a new song|singing|a concert|a happy song|some music|a loud song|making music|somebody who sings",
    "soup": "dinner|some soup|a soup|cooking|a warm soup|cooking dinner|a meal|something to eat|a hot soup|hunger|supper",
    "seed": "a little plant|a seed|something that grows|a plant|a tiny seed|planting a seed|a growing plant|a small plant|growing something|the first leaf",
    "doctor": "a sick friend|a visit to the doctor|a doctor|being ill|somebody who is ill|a kind doctor|an illness|getting well again|a day in bed|somebody who falls ill",
    "picture": "a picture|a photo|drawing|a sketch|a drawing|a nice picture|a new picture|taking a photo|an old photo|drawing a picture",
    "house": "a new house|moving house|a new home|a move|moving to a new house|moving day|a different home|a new place to live|packing and moving|leaving home",
    "sale": "a sale|some money|selling things|a stall|a little shop|earning money|pocket money|saving money|buying and selling|a small sale",
    "noise": "a strange noise|a ghost|a noise|an odd sound|a noise at night|a loud noise|a funny sound|something that goes bump|a spooky sound|a little ghost",
    "friends": "a new friend|sharing|making friends|friendship|a lonely child|somebody lonely|a friend|learning to share|good friends|finding a friend",
    "contest": "a contest|a competition|a big contest|a match|a friendly contest|winning and losing|a great contest|a fair contest|who is better|a small competition",
    "chase": "a chase|a wild chase|running after somebody|a long chase|a mad chase|a runaway|catching somebody|a chase around the corner|a quick chase|a merry chase",
    "trade": "a trade|a swap|a fair trade|swapping things|an exchange|a good trade|a deal|a fair swap|trading|a good deal",
    "stuck": "a rescue|help in need|somebody who is stuck|being stuck|getting stuck|a helping hand|helping each other|somebody who needs a hand|saving somebody|a friend in need",
    "rain": "rain|a wet day|a rainy day|heavy rain|puddles|wet feet|a day of rain|rain and more rain|getting wet|a shower of rain",
    "den_of_two": "a den|building something|a hut for all|a shared den|building a den together|a hut of branches|working together|a den for four|building a hut|a home for four",
}
# fmt: on
_PLAINEST = frozenset(f"hint {hints.split('|')[0]}" for hints in _HINTS.values())
HINTS: dict[str, Pool[str]] = {
    name: Pool(hints.split("|"), lambda hint: f"hint {hint}", everyday=_PLAINEST)
    for name, hints in _HINTS.items()
}
"""By the name of the plot."""
