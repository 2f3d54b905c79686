"""Tables of models that were trained in different ways, side by side, and of how."""

from collections.abc import Sequence
from typing import Any

from scripts.tables.results_files import results, table, where
from scripts.training.stretches import WAY, Mean


def stretches() -> str:
    """The way to the bundled checkpoint, as scripts/training/stretches.py has it."""
    rows = []
    for part in WAY:
        if isinstance(part, Mean):
            parts = (f"{weight:g} x `{name}`" for name, weight in part.parts.items())
            rows.append([f"`{part.name}`", "mean of " + " and ".join(parts), "", "", ""])
            continue
        start = f"`{part.start}`" if part.start else "nothing"
        changed = ", ".join(f"{name} {_told(value)}" for name, value in part.changes.items())
        steps = (f"{number:,}" for number in (part.steps, part.num_falling))
        rows.append([f"`{part.name}`", start, *steps, changed])
    return table(
        ["stretch", "begins with", "steps", "rate falling in", "changed in the recipe"], rows
    )


def _told(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name} {weight:g}" for name, weight in value.items())
    return str(value)


def trials() -> str:
    """Losses tried against the paper's, from the same start: the first model is the paper's."""
    return _tried(results("trials"), "the paper's loss", ("steps", "decay_steps"))


def continued() -> str:
    """Batch sizes and weights tried against the recipe that the bundled model was trained by."""
    length = ("steps", "decay_steps", "warmup_steps", "reweight_steps")
    return _tried(results("continued"), "batches of 96", length)


def masked_weight() -> str:
    """What the masked sum counts beside that of the next tokens; 1 is a trial of `continued`."""
    data, ours = results("masked_weight"), results("continued")["models"]["batch_96"]
    half, double = data["models"]["masked_half"], data["models"]["masked_double"]
    data["models"] = {"0.5": half, "1": ours, "2": double}
    return compared(data, ["weight"], {name: [name] for name in data["models"]})


def _tried(data: dict[str, Any], unchanged: str, length: Sequence[str]) -> str:
    """Models side by side, each with what its recipe changes of the first one's.

    length: fields that go with the number of steps and are not told.
    """
    first = next(iter(data["models"].values()))
    named = {}
    for name, model in data["models"].items():
        changed = [
            f"{field} {value}"
            for field, value in model["recipe"].items()
            if value != first["recipe"][field] and field not in length
        ]
        recipe = ", ".join(changed) or unchanged
        named[name] = [f"`{name}`", recipe, str(model["recipe"]["steps"])]
    return compared(data, ["trial", "recipe", "steps"], named)


def further() -> str:
    """The bundled model beside stretches that went on from it."""
    return _by_name("further")


def wider() -> str:
    """The bundled model beside a stretch on wider texts, and means of the two."""
    return _by_name("wider")


def _by_name(name: str) -> str:
    data = results(name)
    return compared(data, ["model"], {name: [f"`{name}`"] for name in data["models"]})


def sizes() -> str:
    """Models of three sizes, each trained from nothing for about the same time."""
    data, times = results("sizes"), results("step_times")
    named = {}
    for name, model in data["models"].items():
        recipe, seconds = model["recipe"], times["seconds_a_step"][name]["median"]
        minutes = recipe["steps"] * seconds / 60
        numbers = [str(recipe["hidden_size"]), f"{recipe['steps']:,}", f"{seconds:.2f}"]
        named[name] = [f"`{name}`", *numbers, f"{minutes:.0f}"]
    return compared(data, ["trial", "width", "steps", "seconds a step", "minutes"], named)


def curve() -> str:
    """Accuracy against training steps: models along the bundled one's way."""
    data = results("curve")
    named = {}
    for name, model in data["models"].items():
        recipe = model["recipe"]
        steps, falling = recipe["steps"], recipe["decay_steps"]
        ours = max(0, steps - recipe["paper_loss_steps"]) if recipe["full_mask_ratio"] else 0
        named[name] = [f"{steps:,}", f"{falling:,}", f"{ours:,}"]
    return compared(data, ["steps", "with the rate falling", "with texts masked whole"], named)


def compared(data: dict[str, Any], head: list[str], named: dict[str, list[str]]) -> str:
    """Models side by side: their loss on the same masked answers, and means of the tasks."""
    rows = []
    for name, model in data["models"].items():
        losses = model["masked_loss"].values()
        means = [row["mean"] for row in model["rows"].values()]
        rows.append(
            [
                *named[name],
                f"{sum(losses) / len(losses):.3f}",
                *(f"{100 * m['accuracy']:.1f} %, {m['tokens_per_forward']:.2f}x" for m in means),
            ]
        )
    first = next(iter(data["models"].values()))["rows"]
    num_examples = next(iter(first.values()))["families"][0]["num_examples"]
    return (
        table([*head, "nats a masked token", *first], rows)
        + f"\nMeans of the tasks, {num_examples} held-out examples each, the same for all. "
        f"{where(data)}"
    )
