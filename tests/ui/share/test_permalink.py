"""An address as a form: whatever it holds can be checked, and sent back to the page."""

import contextlib

import orjson
import pytest

from sbd_core.errors import SetBlockDecodingError
from tests.campaign.parts.doors import HUGE
from tests.ui.doubles import story_model
from ui.decode.session import Session
from ui.share.permalink import FIELDS, RACE_FIELDS, entry_of, form_of


@pytest.mark.parametrize("value", [*HUGE, "18446744073709551616", "-9223372036854775809"])
@pytest.mark.parametrize("name", sorted(FIELDS.keys() - {"pins"}))
def test_every_number_of_a_link_can_be_sent_back(name, value):
    form = form_of({"prompt": "x", "strategy": "ntp", name: value})
    orjson.dumps([getattr(form, field) for field in FIELDS.values()])
    with contextlib.suppress(SetBlockDecodingError):
        Session(story_model()).check(form)


@pytest.mark.parametrize("value", HUGE)
@pytest.mark.parametrize("name", sorted(RACE_FIELDS))
def test_every_number_of_a_race_can_be_sent_back(name, value):
    entry = entry_of({"race": "ntp", "prompt": "x", name: value})
    orjson.dumps([getattr(entry, field) for field in RACE_FIELDS.values()])


def test_a_block_of_any_size_in_a_link_is_refused_whatever_the_strategy():
    for strategy in ("ntp", "sbd", "verify"):
        for block in ("65", "100000", "9" * 20, "9" * 400):
            form = form_of({"prompt": "x", "strategy": strategy, "block": block})
            with pytest.raises(SetBlockDecodingError, match="block_size"):
                Session(story_model()).check(form)
