"""Every setting is declared once: its limits hold, and flags and forms reach it by its name."""

import argparse
import json

import pytest

from sbd_core.cli.decoding_flags import add_arguments, decode_config
from sbd_core.config import DecodeConfig, config_of, decode_settings, solver_settings
from sbd_core.errors import ArgumentError
from sbd_core.settings import settings_of
from sbd_core.solvers import SOLVERS, TopK, make_solver

NUMBERS = [
    *((DecodeConfig, item) for item in settings_of(DecodeConfig)),
    *((rule, item) for rule in SOLVERS.values() for item in settings_of(rule)),
]
NUMBERS = [(made, item) for made, item in NUMBERS if item.kind in ("whole", "number")]


@pytest.mark.parametrize(("made", "item"), NUMBERS, ids=lambda each: getattr(each, "name", None))
def test_a_number_at_its_limit_is_taken_and_one_beyond_is_named(made, item) -> None:
    step = 1 if item.kind == "whole" else 1e-6
    ends = ((item.low, item.low - step), (item.high, (item.high or 0) + step))
    for inside, outside in ends:
        if inside is None:
            continue
        assert getattr(made(**{item.name: inside}), item.name) == inside
        with pytest.raises(ArgumentError) as caught:
            made(**{item.name: outside})
        assert (caught.value.argument, caught.value.value) == (item.name, outside)


def test_the_settings_are_plain_data_each_once() -> None:
    found = decode_settings()
    assert json.loads(json.dumps(found)) == [
        {key: [*value] if isinstance(value, tuple) else value for key, value in item.items()}
        for item in found
    ]
    declared = [*settings_of(DecodeConfig), *solver_settings()]
    assert sorted(item["name"] for item in found) == sorted(item.name for item in declared)
    links = [item["link"] for item in found if item["link"]]
    assert len(links) == len({*links})
    for item in found:
        assert item["label"]
        if item["link"] and item["kind"] in ("whole", "number"):
            assert "{}" in item["words"]
        for solver, default in (item["solvers"] or {}).items():
            assert getattr(make_solver(solver, {}), item["name"]) == default


GIVEN = {
    "strategy": "sbd",
    "solver": "top-k",
    "k": 3,
    "by": "margin",
    "block_size": 8,
    "max_new_tokens": 40,
    "temperature": 0.5,
    "seed": 7,
    "allows_untrained_block_size": True,
    "repetition_penalty": 1.5,
    "max_rows": 9,
}
CONFIG = DecodeConfig(
    **{name: value for name, value in GIVEN.items() if name not in ("solver", "k", "by")},
    solver=TopK(k=3, by="margin"),
)


def parsed(words: list[str]) -> DecodeConfig:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return decode_config(parser.parse_args(words))


def test_every_setting_is_reached_by_its_flag() -> None:
    flags = {item["name"]: item["flag"] for item in decode_settings()}
    words = []
    for name, value in GIVEN.items():
        words += [f"--{flags[name]}", *([] if value is True else [str(value)])]
    assert parsed(words) == CONFIG
    assert parsed([]) == DecodeConfig()
    assert parsed(["--gamma", "0.5"]).strategy == "sbd"


def test_a_form_says_whole_numbers_as_floats_and_more_than_its_solver_takes() -> None:
    sent = {
        **{name: float(value) if type(value) is int else value for name, value in GIVEN.items()},
        "gamma": 0.1,
        "prompt": "unknown",
    }
    assert config_of(sent, is_form=True) == CONFIG
    unset = {"strategy": None, "repetition_penalty": 0}
    assert config_of(unset, is_form=True) == DecodeConfig()
    for name in ("gamma", "seed"):
        with pytest.raises(ArgumentError, match=f"^{name}: "):
            config_of({name: None}, is_form=True)


@pytest.mark.parametrize(
    ("values", "argument"),
    [
        ({"block": 8}, "block"),
        ({"solver": "random", "gamma": 0.1}, "gamma"),
        ({"solver": ["random"]}, "solver"),
        ({"solver": "guess"}, "solver"),
        ({"repetition_penalty": 0}, "repetition_penalty"),
        ({"block_size": 8.5}, "block_size"),
        ({"pinned": 5}, "pinned"),
        ({"pinned": [[1, 2, 3]]}, "pinned"),
        ({"pinned": [[1, 2], [1, 3]]}, "pinned"),
        ({"pinned": [["1", 2]]}, "pinned offset"),
    ],
)
def test_values_that_make_no_config_are_named(values, argument) -> None:
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        config_of(values)
