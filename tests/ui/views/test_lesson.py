"""The lesson: what its words quote is what the recorded runs say."""

import json
import re
from dataclasses import replace
from math import inf, log
from textwrap import shorten
from typing import Any

import pytest

from sbd_core.roofline import DEVICES, pass_seconds
from sbd_core.solvers import solver_parameters
from scripts import write_views
from scripts.write_tables import results
from scripts.write_views import LearnRuns, learn_runs
from ui import values
from ui.page import lesson_html


@pytest.fixture
def kept():
    return learn_runs()


def facts(recorded: LearnRuns) -> dict[str, Any]:
    """Map the names in the scenes' texts to what they stand for.

    A text may take a value from a recorded run, as in {text[ntp].num_tokens}.
    """
    main, ntp = recorded.runs["text"]["sbd"], recorded.runs["text"]["ntp"]
    chip, cached = DEVICES["h100-bf16"], len(ntp.prompt_token_ids)
    ideals = replace(chip, linear_flops=inf, attention_flops=inf), replace(chip, bandwidth=inf)
    loading, computing = (pass_seconds(1, cached, 1, "corrected", device=each) for each in ideals)
    first, first_ntp = recorded.runs["first"].values()  # with which the page opens
    order = recorded.choices.order
    # The lowest gamma at which something clashes.
    broken = next(edge for edge in recorded.choices.edges if not edge.is_right)
    kept_words, stale_words = parting_words(main.text, recorded.runs["stale"]["sbd"].text)
    untrained = recorded.runs["untrained"]["sbd"].text
    return {
        **recorded.runs,
        "choices": recorded.choices,
        "broken": broken,
        "gamma": main.config.solver.gamma,
        "passes_ratio": f"{ntp.num_forwards / main.num_forwards:.2f}",
        "idle_percent": percent(1 - computing / loading),
        "coin_nats": f"{log(2):.2f}",
        "big_chip": chip.name.split(",")[0].removesuffix(" SXM"),
        "here_ratio": f"{ntp.seconds / main.seconds:.2f}",
        "first_rate": f"{first_ntp.num_forwards / first.num_forwards:.2f}",
        "first_ratio": f"{first_ntp.seconds / first.seconds:.1f}",
        "candidates": " or ".join(order.candidates),
        "settled_by": " and ".join(
            f"row {cell // 4 + 1} column {cell % 4 + 1}" for cell in order.settled_by
        ),
        "clash": " ".join(broken.clashes[0].words.split()),
        "kept_words": kept_words,
        "stale_words": stale_words,
        "untrained_text": shorten(untrained, 60, placeholder=""),
        "operations": f"{chip.linear_flops / chip.bandwidth:.0f}",
        **measured_facts(main.config.block_size, solver_parameters(main.config.solver)["gamma"]),
    }


def parting_words(text: str, other: str) -> tuple[str, str]:
    """The words of two texts from a little before the place where they part."""
    both = text.split(), other.split()
    at = next(n for n, (one, two) in enumerate(zip(*both, strict=False)) if one != two)
    one, two = (" ".join(words[max(at - 3, 0) : at + 5]) for words in both)
    return one, two


def measured_facts(block: int, gamma: float) -> dict[str, str]:
    """Accuracy and tokens per forward pass at `block` and `gamma`, from the stored evaluation."""
    evaluation: dict[str, Any] = results("evaluation")
    assert evaluation["block_size"] == block
    rows = {"ntp": "NTP", "sbd": f"SBD gamma {gamma:g}", "verify": "verify"}
    families = evaluation["rows"][rows["ntp"]]["families"]
    means = {name: evaluation["rows"][row]["mean"] for name, row in rows.items()}
    return {
        "test_prompts": str(sum(row["num_examples"] for row in families)),
        **{f"{name}_accuracy": percent(mean["accuracy"]) for name, mean in means.items()},
        **{f"{name}_tokens": f"{mean['tokens_per_forward']:.1f}" for name, mean in means.items()},
    }


def percent(part: float) -> str:
    """Format a share in percent, such as "82.7 %"."""
    return f"{100 * part:.1f}\N{NO-BREAK SPACE}%"


QUOTED = [
    ("one-at-a-time", "question", "How many forward passes do {text[ntp].num_tokens} tokens take,"),
    ("one-at-a-time", "answer", "{text[ntp].num_forwards}: one [forward pass] for each [token]"),
    ("one-at-a-time", "answer", "units of an {big_chip}, a GPU, wait {idle_percent} of that time."),
    ("masks", "question", "Text, then {text[sbd].config.block_size} empty places"),
    ("masks", "answer", "guesses all {text[sbd].config.block_size}."),
    ("masks", "why", "asked “{untrained[sbd].prompt}”, “{untrained_text} …”"),
    ("sure-and-unsure", "why", "a fair coin has {coin_nats}."),
    ("out-of-order", "answer", "could hold {candidates} until {settled_by} settled it."),
    ("the-cache", "why", "nano would go on with “{stale_words} …” instead of “{kept_words} …”."),
    ("what-goes-wrong", "answer", "they clash, as “{clash}” does at γ = {broken.gamma:g}."),
    ("what-goes-wrong", "why", "Of {test_prompts} held-out prompts, γ = {gamma:g} answers "),
    ("what-goes-wrong", "why", " answers {sbd_accuracy} "),
    ("what-goes-wrong", "why", "one at a time {ntp_accuracy}."),
    ("what-it-buys", "question", "{text[ntp].num_forwards} forward passes became "),
    ("what-it-buys", "question", " became {text[sbd].num_forwards}. Is it {passes_ratio} times"),
    ("what-it-buys", "answer", "an {big_chip} computes {operations} while it loads a byte."),
    ("what-it-buys", "why", "Nano itself on an {choices.processor} processor: {here_ratio} times"),
    (
        "what-it-buys",
        "why",
        "{first_ratio} times for the first page’s code, of {first_rate} tokens",
    ),
]
"""Every number and quotation in the scenes' texts: the scene, the text, and the part around it."""


@pytest.mark.parametrize(("address", "name", "part"), QUOTED)
def test_what_a_text_quotes_is_what_the_runs_say(kept, address, name, part):
    assert part.format_map(facts(kept)) in told(address)[name]


def test_no_other_text_of_a_scene_has_a_number_of_a_run():
    numbers = {(row["address"], name) for row in values.scenes() for name, text in row.items()
               if re.search(r"\d\d", text)}  # fmt: skip
    assert numbers <= {(address, name) for address, name, _ in QUOTED}


def test_the_runs_with_stale_keys_and_exact_ones_part_after_the_first_block(kept):
    stale, exact = (kept.runs[name]["sbd"] for name in ("stale", "text"))
    assert stale.prompt == exact.prompt
    assert stale.config.solver == exact.config.solver
    # Before the first block there are no keys of one.
    size = exact.config.block_size
    assert stale.token_ids[:size] == exact.token_ids[:size]
    kept_words, stale_words = parting_words(exact.text, stale.text)
    assert kept_words in " ".join(exact.text.split())
    assert stale_words not in " ".join(exact.text.split())


def told(address: str) -> dict[str, str]:
    return next(scene for scene in values.scenes() if scene["address"] == address)


def test_what_the_check_of_a_story_quotes_is_found_in_it(kept):
    for edge, told in zip(kept.choices.edges, json.loads(values.lesson())["edges"], strict=True):
        texts = [text for text, _ in told["tokens"]]
        quoted = re.search("“(.+)”", edge.fault)
        found = "".join(texts[at] for at in told["fault_tokens"])
        is_there = quoted is not None and quoted[1] in "".join(texts)
        assert (quoted is not None and quoted[1] in found) == is_there
    assert any(row["fault_tokens"] for row in json.loads(values.lesson())["edges"])


def test_the_lesson_is_one_file_that_asks_for_nothing():
    text = lesson_html()
    assert "default-src 'none'" in text
    assert not re.search(r"(?:src|href)=[\"']?https?:", text.replace("https://arxiv.org", ""))
    assert "<!--LESSON-->" not in text
    assert "/*SCRIPTS*/" not in text


def test_the_written_data_of_the_views_is_what_runs_and_results_say_now():
    written = json.loads(values.VIEWS.read_text("utf-8"))
    assert written == json.loads(json.dumps(write_views.views())), "python -m scripts.write_views"
