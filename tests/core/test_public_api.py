"""The names that others import, what importing them loads, and values that may be handed on."""

import dataclasses
import pickle

import pytest

import sbd_core
from sbd_core.errors import ArgumentError, MissingExtraError, ModelError
from sbd_core.solvers import SOLVERS, TopK
from tests.core.cli.commands import python


def test_the_package_exports_these_names_and_has_them() -> None:
    assert set(sbd_core.__all__) == {
        *("ArgumentError", "MissingExtraError", "ModelError", "SetBlockDecodingError"),
        *(
            "TraceError",
            "DEFAULT_CHECKPOINT",
            "DecodeConfig",
            "SetBlockModel",
            "StepEvent",
            "Trace",
        ),
        *("__version__", "generate", "generate_batch", "load", "stream", "stream_batch"),
    }
    assert set(sbd_core.__all__) <= set(dir(sbd_core))
    for name in sbd_core.__all__:
        assert getattr(sbd_core, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'decode'"):
        _ = sbd_core.decode


def test_solvers_and_settings_keep_their_names() -> None:
    bounds = {f"entropy-bound{by}" for by in ("", "-by-confidence", "-by-margin", "-from-left")}
    assert set(SOLVERS) >= bounds | {
        *("causal-first", "entropy-threshold", "confidence-threshold", "factor", "top-k"),
        *("random", "left-to-right"),
    }
    assert {item.name for item in dataclasses.fields(sbd_core.DecodeConfig)} == {
        *("strategy", "solver", "block_size", "max_new_tokens", "temperature", "seed"),
        *("top_k_recorded", "pinned", "is_raw_prompt", "allows_untrained_block_size"),
        *("repetition_penalty", "max_rows"),
    }


def test_configs_and_solvers_are_frozen_values_and_a_config_owns_its_pins_in_order() -> None:
    pinned = {5: 1, 2: 3}
    made = sbd_core.DecodeConfig(pinned=pinned)
    pinned[1] = -5
    assert list(made.pinned) == [2, 5]
    assert hash(made) == hash(sbd_core.DecodeConfig(pinned={2: 3, 5: 1}))
    for frozen, name in ((made, "seed"), (made.solver, "gamma"), (TopK(4, "margin"), "k")):
        for again in (pickle.loads(pickle.dumps(frozen)), dataclasses.replace(frozen)):
            assert (again, hash(again)) == (frozen, hash(frozen))
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(frozen, name, 1)
        assert not hasattr(frozen, "__dict__")
    with pytest.raises(TypeError, match="positional"):
        sbd_core.DecodeConfig("sbd")


@pytest.mark.parametrize(
    "error",
    [
        ArgumentError("block_size", "must be small", 99),
        ArgumentError("limit", "must fit", 10**5000),
        MissingExtraError("ui", "gradio"),
        ModelError("m: has no weights"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_comes_back_from_another_process_as_it_was(error) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), back.args) == (type(error), str(error), error.args)
    assert vars(back) == vars(error)


@pytest.mark.parametrize(
    ("modules", "absent"),
    [
        ("sbd_core.trace, sbd_core.replay", "torch transformers numpy gradio plotly ui"),
        ("sbd_core.tasks, sbd_core.__main__", "torch transformers"),
    ],
)
def test_importing_loads_nothing_heavy(modules, absent) -> None:
    code = f"import sys, {modules}; print([m for m in {absent.split()} if m in sys.modules])"
    done = python(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
