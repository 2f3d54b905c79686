"""The charts of the page: their colours, and the numbers that their texts quote."""

import json
import re

from sbd_core.files import ASSETS
from sbd_core.plots import theme
from scripts.write_tables import results
from scripts.write_views import MAX_MARKED, charts


def test_the_colours_are_those_of_the_style_sheet():
    sheet = (ASSETS / "css" / "player.css").read_text("utf-8")
    for index, ink in enumerate((theme.LIGHT, theme.DARK)):
        for name in ("card", "line", "text", "muted", "accent", "sbd", "verify", "ntp"):
            assert re.findall(rf"--sbd-{name}: (#\w+);", sheet)[index] == getattr(ink, name)


def test_the_texts_quote_the_sweep_that_is_drawn():
    value, stored = charts(), results("sweep")
    words = value["cards"][-1]["words"]
    count = min(task["num_examples"] for task in stored["rows"]["NTP"]["families"])
    assert f"six tasks, {count} examples of each, in blocks of {stored['block_size']}" in words
    assert f"the last {MAX_MARKED} of nano that" in words
    assert "{" not in json.dumps([card["words"] for card in value["cards"]])
    mean = stored["rows"]["NTP"]["mean"]
    assert value["sweep"]["NTP"] == [mean["accuracy"], mean["tokens_per_forward"]]
    assert value["sweep"].keys() == stored["rows"].keys()
    assert value["model"] == stored["model"]
