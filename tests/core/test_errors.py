"""Errors cross a process whole: what a worker was refused with, its parent says."""

import pickle

import pytest

from sbd_core import errors
from sbd_core.errors import ArgumentError, MissingExtraError, ModelError, SetBlockDecodingError

MADE = [
    ArgumentError("block_size", "must be small", 99),
    ArgumentError("prompt", "must be text", ["x"]),
    ArgumentError("solver", "must be known", lambda: None),
    ArgumentError("limit", "must fit", 10**5000),
    MissingExtraError("ui", "gradio"),
    ModelError("m: has no weights"),
]


def kinds(base: type) -> set[type]:
    return {base}.union(*(kinds(kind) for kind in base.__subclasses__()))


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_an_error_comes_back_from_another_process_as_it_was(error):
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), back.args) == (type(error), str(error), error.args)
    assert set(vars(back)) == set(vars(error))


def test_what_was_received_comes_along_if_it_is_plain():
    back = pickle.loads(pickle.dumps(ArgumentError("k", "must be 1", 2)))
    assert (back.argument, back.rule, back.value) == ("k", "must be 1", 2)


def test_every_kind_of_error_survives_pickling():
    ours = {kind for kind in vars(errors).values() if isinstance(kind, type)}
    for kind in ours & kinds(SetBlockDecodingError):
        made = kind.__new__(kind)
        made.args = ("text",)
        assert str(pickle.loads(pickle.dumps(made))) == "text"
