"""Errors cross a process whole: what a worker was refused with, its parent says."""

import pickle

import pytest

from sbd_core.errors import ArgumentError, MissingExtraError, ModelError

MADE = [
    ArgumentError("block_size", "must be small", 99),
    ArgumentError("limit", "must fit", 10**5000),
    MissingExtraError("ui", "gradio"),
    ModelError("m: has no weights"),
]


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_an_error_comes_back_from_another_process_as_it_was(error):
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), back.args) == (type(error), str(error), error.args)
    assert vars(back) == vars(error)
