"""Evaluations on held-out examples: of any configs, the paper's Table 1, a sweep.

Each returns JSON data, as in assets/results/: settings, circumstances, and under "rows" the scores
of each config; see rows_data().

The handwritten prompts are in handwritten_prompts.json, a list of objects with three strings:
family (name of a task), prompt, and case (data that the task's checker needs).
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import resolve_defaults
from sbd_core.environment import environment
from sbd_core.errors import ArgumentError, require_integer
from sbd_core.evaluation.harness import Answers, Harness, Settings
from sbd_core.evaluation.scoring import rounded, rows_data, score
from sbd_core.models.chat import encode_turn
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.protocol import ForwardRequest, SetBlockModel
from sbd_core.solvers import SOLVERS, EntropyBound, EntropyBoundFromLeft, Solver, make_solver
from sbd_core.tasks import TASKS, Example, Split, held_out
from sbd_core.tasks import task as task_of

MAX_LIMIT = 1_000_000
"""Most examples per task; all of them are held in memory."""
TEXTS_PER_FORWARD = 64
# The rows of the paper's Table 1 with its gammas for reasoning, our own solver, and verify.
TABLE = {
    "NTP": ("ntp", EntropyBound()),
    "SBD gamma 0.1": ("sbd", EntropyBound(gamma=0.1)),
    "SBD gamma 0.35": ("sbd", EntropyBound(gamma=0.35)),
    "SBD from the left, gamma 0.02": ("sbd", EntropyBoundFromLeft(gamma=0.02)),
    "SBD from the left, gamma 0.1": ("sbd", EntropyBoundFromLeft(gamma=0.1)),
    "verify": ("verify", EntropyBound()),
}
BASELINE_ROW = "NTP-trained, NTP"
HANDWRITTEN = Path(__file__).with_name("handwritten_prompts.json")
OWN = "own wording"


def evaluate(
    model: SetBlockModel,
    tasks: Sequence[str] = tuple(TASKS),
    config: DecodeConfig | Mapping[str, DecodeConfig] | None = None,
    *,
    limit: int = 100,
    data_seed: int = 0,
    split: Split = "test",
    harness: Harness | None = None,
) -> dict[str, Any]:
    """Decode held-out examples of `tasks`; score the answers with each task's checker.

    config: None for DecodeConfig(), a DecodeConfig, or {name of a configuration: DecodeConfig}.
    limit, data_seed, split: see examples_by_task().
    harness: how the answers are made. In batches, rounding may change answers and so scores.
    Raises ArgumentError for an unknown task or another unfit argument.
    """
    examples = examples_by_task(tasks, limit, data_seed, split)
    if not isinstance(config, Mapping):
        chosen = resolve_defaults(model, config or DecodeConfig())
        config = {str(chosen.strategy): chosen}
    elif not config:
        raise ArgumentError("config", "must be a DecodeConfig or at least one by name", config)
    settings = {name: (model, one) for name, one in config.items()}
    harness = harness or Harness()
    about = _about(settings, harness, {"split": split, "data_seed": data_seed})
    answers = _answers(harness, settings, examples)
    return {**about, "rows": rows_data(answers, examples)}


def examples_by_task(
    tasks: Sequence[str], limit: int, data_seed: int = 0, split: Split = "test"
) -> dict[str, list[Example]]:
    """Generate `limit` distinct examples of each task; returns {task: examples}.

    data_seed: seed that generates the examples; it has no part in decoding. Raises ArgumentError.
    """
    if isinstance(tasks, str) or not tasks:
        raise ArgumentError("tasks", "must be a list of at least one task name", tasks)
    require_integer("limit", limit, 1, MAX_LIMIT)
    require_integer("data_seed", data_seed, 0)
    return {name: held_out(name, limit, data_seed, split) for name in tasks}


def sweep_configs(base: DecodeConfig) -> dict[str, DecodeConfig]:
    """Make configs for NTP, verify, and every solver at each value of its first parameter.

    base: all settings except strategy and solver. A solver without parameters has one config, whose
    value is called "default".
    """
    configs = {"NTP": replace(base, strategy="ntp"), "verify": replace(base, strategy="verify")}
    for name, rule in SOLVERS.items():
        rules: dict[str, Solver] = {"default": rule()}
        if settings := fields(rule):
            first = settings[0].name
            rules = {f"{v:g}": make_solver(name, {first: v}) for v in rule.swept_values}
        for value, solver in rules.items():
            configs[f"{name} {value}"] = replace(base, strategy="sbd", solver=solver)
    return configs


def handwritten_prompts() -> list[Example]:
    """Read the handwritten prompts, as examples with an empty answer."""
    rows = json.loads(HANDWRITTEN.read_text("utf-8"))
    return [Example(row["family"], row["prompt"], "", row["case"]) for row in rows]


@torch.inference_mode()
def perplexity(
    model: HuggingFaceModel, examples_by_task: Mapping[str, Sequence[Example]]
) -> dict[str, float]:
    """Compute the perplexity of each task's answer tokens, <eos> included, given prompts (Fig. 4).

    examples_by_task: {task: examples}, with at least one example each.
    Returns {task: perplexity}. Raises ModelError for an example that the model cannot read.
    """
    found = {}
    for name, examples in examples_by_task.items():
        total, count = 0.0, 0
        for start in range(0, len(examples), TEXTS_PER_FORWARD):
            pairs = [
                encode_turn(model.tokenizer, (("user", one.prompt),), one.answer, model.name)
                for one in examples[start : start + TEXTS_PER_FORWARD]
            ]
            requests = [
                ForwardRequest(cache, [*prompt, *answer[:-1]], (), len(answer))
                for cache, (prompt, answer) in zip(model.new_caches(len(pairs)), pairs, strict=True)
            ]
            for logits, (_, answer) in zip(model.forward_batch(requests), pairs, strict=True):
                wanted = torch.tensor(answer, device=logits.device)
                total += float(cross_entropy(logits, wanted, reduction="sum"))
                count += len(answer)
        found[name] = math.exp(total / count)
    return found


def paper_table(
    model: HuggingFaceModel,
    config: DecodeConfig,
    examples: Mapping[str, Sequence[Example]],
    harness: Harness,
    baseline: HuggingFaceModel | None = None,
    **about: Any,
) -> dict[str, Any]:
    """Evaluate the configurations of TABLE: NTP, SBD at several gammas, and verify.

    config: all settings except strategy and solver. examples: {task: examples}.
    baseline: a model trained on NTP alone, with which NTP is measured, too. about: further data.
    Beside "rows", the data has the perplexity of the causal heads (Fig. 4), {model: {task: value}},
    and the scores of the handwritten prompts with their answers. Raises ArgumentError, ModelError.
    """
    settings = {
        row: (model, replace(config, strategy=strategy, solver=solver))  # type: ignore[arg-type]
        for row, (strategy, solver) in TABLE.items()
    }
    models = {"model": model}
    if baseline is not None:
        models["baseline"] = baseline
        settings = {BASELINE_ROW: (baseline, settings["NTP"][1]), **settings}
    perplexities = {  # quick steps that can fail come first
        name: {task: round(value, 4) for task, value in perplexity(each, examples).items()}
        for name, each in models.items()
    }
    own = [item for item in handwritten_prompts() if item.task in examples]
    every = {**examples, OWN: own} if own else examples
    answers = _answers(harness, settings, every)
    by_row = answers.pop(OWN, {})
    return {
        **_about(settings, harness, about, model),
        "rows": rows_data(answers, examples),
        "perplexity": perplexities,
        "own_wording": {row: rounded(score(OWN, own, each), 4) for row, each in by_row.items()},
        "own_answers": [
            {
                "family": item.task,
                "prompt": item.prompt,
                "answers": {
                    row: {
                        "text": each[number].text,
                        "is_right": task_of(item.task).check(item, each[number].text),
                    }
                    for row, each in by_row.items()
                },
            }
            for number, item in enumerate(own)
        ],
    }


def _answers(
    harness: Harness, settings: Settings, examples: Mapping[str, Sequence[Example]]
) -> Answers:
    prompts = {name: [item.prompt for item in items] for name, items in examples.items()}
    models = list({id(model): model for model, _ in settings.values()}.values())
    configs = {name: config for name, (_, config) in settings.items()}
    return harness.answers(settings, prompts, harness.journal(models, configs, prompts))


def _about(
    settings: Settings,
    harness: Harness,
    about: Mapping[str, Any],
    model: SetBlockModel | None = None,
) -> dict[str, Any]:
    """Describe the model, the settings and the machine. model: None takes that of the first row."""
    first, config = next(iter(settings.values()))
    model = model or first
    return {
        "model": model.name,
        "seed": config.seed,
        **about,
        "block_size": config.block_size,
        "batch_size": harness.batch_size,
        "runs_on": getattr(model, "runs_on", ""),
        "tokens_per_second_are": "batched" if harness.batch_size > 1 else "of one text",
        "processes": harness.share.num_processes,
        "circumstances": environment(getattr(model, "folder", None)),
    }
