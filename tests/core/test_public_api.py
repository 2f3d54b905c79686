"""The names, fields and defaults that others write against: a change here needs a deprecation."""

import dataclasses
import inspect
import subprocess
import sys

import pytest

import sbd_core
from sbd_core import config, events, masks, roofline, rules, sampling, solvers, trace

SOLVER_FIELDS = {
    "entropy-bound": {"gamma": 0.1},
    "entropy-bound-by-confidence": {"gamma": 0.1},
    "entropy-bound-by-margin": {"gamma": 0.1},
    "entropy-bound-from-left": {"gamma": 0.35},
    "causal-first": {"gamma": 0.35},
    "entropy-threshold": {"gamma": 0.1},
    "confidence-threshold": {"tau": 0.9},
    "factor": {"factor": 1.0},
    "top-k": {"k": 2, "by": "confidence"},
    "random": {"k": 2},
    "left-to-right": {"k": 2},
}


def fields_of(kind: type) -> list[str]:
    return [field.name for field in dataclasses.fields(kind)]


def parameters_of(function: object) -> list[str]:
    return list(inspect.signature(function).parameters)


def test_the_package_exports_these_names_and_has_them() -> None:
    assert sorted(sbd_core.__all__) == [
        "ArgumentError",
        "DEFAULT_CHECKPOINT",
        "DecodeConfig",
        "MissingExtraError",
        "ModelError",
        "SetBlockDecodingError",
        "SetBlockModel",
        "StepEvent",
        "Trace",
        "TraceError",
        "__version__",
        "generate",
        "generate_batch",
        "load",
        "stream",
        "stream_batch",
    ]
    assert set(sbd_core.__all__) <= set(dir(sbd_core))
    for name in sbd_core.__all__:
        assert getattr(sbd_core, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'decode'"):
        _ = sbd_core.decode


def test_decode_config_has_these_fields_and_defaults() -> None:
    assert dataclasses.asdict(sbd_core.DecodeConfig()) == {
        "strategy": "sbd",
        "solver": {"gamma": 0.1},
        "block_size": 16,
        "max_new_tokens": 256,
        "temperature": 0.0,
        "seed": 0,
        "top_k_recorded": 5,
        "pinned": {},
        "is_raw_prompt": False,
        "allows_untrained_block_size": False,
        "num_predrafts": 0,
        "draft_threshold": 0.5,
        "repetition_penalty": None,
        "row_policy": "fixed",
        "row_costs": None,
    }
    assert sbd_core.DecodeConfig().solver == config.EntropyBound(gamma=0.1)
    with pytest.raises(TypeError):
        sbd_core.DecodeConfig("ntp")


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


def test_solvers_have_these_names_fields_and_defaults() -> None:
    for name, parameters in SOLVER_FIELDS.items():
        assert dataclasses.asdict(rules.SOLVERS[name]()) == parameters
        assert getattr(config, rules.SOLVERS[name].__name__) is rules.SOLVERS[name]
        assert config.solver_parameters(rules.SOLVERS[name]()) == parameters
    for name, rule in rules.SOLVERS.items():
        assert getattr(solvers, rule.__name__) is rule
        assert config.solver_name(rule()) == name
        assert config.make_solver(name, config.solver_parameters(rule())) == rule()


def test_events_and_traces_have_these_fields() -> None:
    assert fields_of(events.StepEvent) == [
        "index",
        "kind",
        "num_cached",
        "num_causal",
        "block",
        "masked",
        "reveals",
        "committed",
        "draft",
        "hindsight",
        "seconds",
        "predrafts",
    ]
    assert fields_of(events.Reveal) == ["position", "token_id", "rank", "probability"]
    counts = ["num_forwards", "num_tokens", "tokens_per_forward"]
    for name in ["text", "token_ids", "events", *counts]:
        assert hasattr(trace.Trace, name)
    assert callable(trace.Trace.to_json)
    assert callable(trace.Trace.from_json)


def test_functions_take_these_arguments() -> None:
    assert parameters_of(sbd_core.load) == ["path_or_hub_id", "device", "dtype", "native"]
    assert parameters_of(sbd_core.stream) == ["model", "prompt", "config"]
    assert parameters_of(sbd_core.generate) == ["model", "prompt", "config"]
    assert callable(inspect.signature(sbd_core.stream).return_annotation.trace)
    batch = ["model", "prompts", "config", "batch_size", "seeds"]
    assert parameters_of(sbd_core.stream_batch) == batch
    assert parameters_of(sbd_core.generate_batch) == batch
    select = ["solver", "candidates", "is_masked", "generator"]
    assert parameters_of(solvers.select) == select
    from_logits = ["logits", "temperature", "generator"]
    assert parameters_of(sampling.Candidates.from_logits) == from_logits
    assert parameters_of(masks.training_mask) == ["num_tokens", "block_size"]
    sizes = ["num_cached", "num_causal", "block_size"]
    assert parameters_of(masks.decoding_mask) == [*sizes, "early_blocks"]
    slowdown = ["block_size", "kv_length", "batch_size", "mode"]
    assert parameters_of(roofline.slowdown)[:4] == slowdown
    speedup = ["block_size", "nfe_speedup", "kv_length", "batch_size", "mode"]
    assert parameters_of(roofline.speedup)[:5] == speedup


@pytest.mark.parametrize(
    ("modules", "absent"),
    [
        ("sbd_core.trace, sbd_core.trace_json", "torch transformers numpy gradio plotly ui"),
        ("sbd_core.tasks, sbd_core.__main__", "torch transformers"),
        ("sbd_core.decoding.api, sbd_core.models.hf_model", "gradio plotly ui"),
    ],
)
def test_importing_loads_nothing_heavy(modules, absent) -> None:
    code = f"import sys, {modules}; print([m for m in {absent.split()} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert done.stderr == ""
