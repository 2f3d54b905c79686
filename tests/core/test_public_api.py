"""The names that others import, and what importing them loads."""

import dataclasses
import subprocess
import sys

import pytest

import sbd_core
from sbd_core.solvers import SOLVERS


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


def test_configs_are_frozen_hashable_and_sort_their_pins() -> None:
    made = sbd_core.DecodeConfig(pinned={5: 1, 2: 3})
    assert list(made.pinned) == [2, 5]
    assert hash(made) == hash(sbd_core.DecodeConfig(pinned={2: 3, 5: 1}))
    for frozen, name in ((made, "seed"), (made.solver, "gamma")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(frozen, name, 1)
        assert not hasattr(frozen, "__dict__")


def test_a_config_keeps_its_own_copy_of_the_pins() -> None:
    pinned = {0: 3}
    made = sbd_core.DecodeConfig(pinned=pinned)
    pinned[1] = -5
    assert made.pinned == {0: 3}


@pytest.mark.parametrize(
    ("modules", "absent"),
    [
        ("sbd_core.trace, sbd_core.replay", "torch transformers numpy gradio plotly ui"),
        ("sbd_core.tasks, sbd_core.__main__", "torch transformers"),
    ],
)
def test_importing_loads_nothing_heavy(modules, absent) -> None:
    code = f"import sys, {modules}; print([m for m in {absent.split()} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert done.stderr == ""
