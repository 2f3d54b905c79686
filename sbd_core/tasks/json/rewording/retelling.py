"""Other words for how a fact is told: "lives in {}" as "has a home in {}". Data only.

A telling that begins with one of the phrases may begin with any of the others instead.
"""

from functools import cache

# fmt: off
OTHERS: dict[str, str] = {
    "lives in": "has a home in|resides in|is living in|is at home in|makes a home in",
    "lives at": "resides at|is living at|is at home at",
    "is from": "hails from|comes from", "grew up in": "was raised in|spent the early years in",
    "was born in": "came into the world in", "was born on": "came into the world on",
    "works as a": "has a job as a|is employed as a|is working as a|makes a living as a",
    "works for": "has a job with|is with|is on the staff of", "works at": "has a job at|is on the staff of",
    "is {} years old": "is aged {}|is {} years of age|is now {} years old|has lived for {} years",
    "owns a": "is the owner of a", "likes the color": "loves the color|is fond of the color|prefers the color",
    "enjoys": "has fun with|likes|is into", "is fond of": "is keen on|has a liking for|loves",
    "speaks": "can speak|is able to speak|talks in", "plays the": "can play the|knows how to play the",
    "costs {} dollars": "goes for {} dollars|can be had for {} dollars|will cost you {} dollars|comes at {} dollars|is priced at {} dollars",
    "costs ${}": "goes for ${}|can be had for ${}|will cost you ${}|comes at ${}|is yours for ${}",
    "sells for": "is sold for|is on sale for|is being sold for",
    "belongs to {}": "is the property of {}|is in the hands of {}", "is owned by": "is in the hands of|is held by",
    "is made by": "is produced by|is built by|was made by|is manufactured by",
    "is made of": "is crafted from|was made of|is fashioned from", "consists of": "is built from|is made from",
    "weighs {}": "is as heavy as {}|tips the scales at {}|comes to {}",
    "starts at": "will start at|gets going at|is to start at|gets under way at",
    "begins at": "will begin at|gets going at|is to begin at|kicks off at",
    "starts in": "will start in|is to start in",
    "takes place on": "happens on|will be held on|is scheduled for|is planned for",
    "takes place in": "happens in|will be held in|is to be held in", "takes place at": "happens at|will be held at",
    "is held in": "takes place in|will be held in|happens in", "is set for": "is planned for|is scheduled for|has been fixed for",
    "can be found": "is to be found|is found|may be found", "lies in": "is located in|is situated in|is to be found in",
    "stands in": "is located in|is situated in|rises in", "stands at": "is located at|is situated at|is to be found at",
    "is known for": "is famous for|is noted for|is well known for", "is based in": "has its offices in|is at home in",
    "is led by": "is headed by|has been led by|is under the lead of", "is run by": "is managed by|is kept by|is looked after by",
    "is taught by": "is given by|has been taught by", "was written by": "is the work of|comes from the pen of",
    "lasts": "goes on for|runs for|will last", "runs for": "goes on for|lasts for", "takes {} minutes": "needs {} minutes|will take {} minutes",
    "takes {} hours": "needs {} hours|will take {} hours",
    "was built in": "was put up in|dates from|was constructed in", "was founded in": "was set up in|goes back to|was started in",
    "came out in": "was released in|first appeared in|has been out since",
    "has the number": "carries the number|bears the number", "is dated": "bears the date|carries the date",
    "is addressed to": "goes out to|has been sent to", "is due on": "falls due on|has to be in by",
    "is rated": "has been rated|is marked", "has a rating of": "holds a rating of|gets a rating of|comes with a rating of",
    "arrives on": "will arrive on|gets here on|is to arrive on", "arrives at": "will arrive at|gets in at|is to arrive at",
    "leaves on": "departs on|will leave on|sets off on", "leaves at": "departs at|will leave at|sets off at",
    "earns {}": "brings home {}|makes {}|takes home {}", "is paid": "gets|receives", "pays": "offers|will pay",
    "needs": "requires|calls for", "opens at": "is open from|opens its doors at|will open at",
    "closes at": "shuts at|closes its doors at|is open until", "is open until": "stays open until|keeps its doors open until",
    "offers room for": "has space for|has room for|can hold", "has {} rooms": "comes with {} rooms|offers {} rooms|counts {} rooms",
    "has {} seats": "comes with {} seats|seats {}|offers {} seats", "comes with": "includes|also has",
    "can be reached at": "is to be reached at|answers at|may be called at", "has the phone number": "can be called at|answers the phone at",
    "has the address": "gets letters at|gives the address", "reads mail at": "gets mail at|can be written to at",
    "deals with": "is concerned with|looks at|is all about", "is about": "deals with|is all about",
    "eats": "feeds on|lives on|likes to eat", "blooms in": "is in flower in|flowers in|comes into bloom in",
    "comes in": "is to be had in|is sold in", "is planned for": "is set for|has been planned for|is meant for",
    "was played in": "took place in|was held in", "reaches": "gets up to|makes it to",
    "has {} years of experience": "brings {} years of experience|looks back on {} years of experience",
    "is {} cm tall": "stands {} cm tall|is {} cm in height|measures {} cm", "asks for": "wants|is looking for",
    "grows to": "gets as tall as|reaches|may grow to", "knows the languages": "speaks|has learned",
}
# fmt: on
END_OF_PHRASE = ("", " ")


@cache
def other_words(telling: str) -> tuple[str, ...]:
    """The other ways to tell what `telling` tells; none where its beginning is not listed."""
    for phrase, others in OTHERS.items():
        if telling.startswith(phrase) and telling[len(phrase) :][:1] in END_OF_PHRASE:
            return tuple(other + telling[len(phrase) :] for other in others.split("|"))
    return ()
