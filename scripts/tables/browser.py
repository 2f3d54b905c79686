"""The table of the engine in the browser, from whatever its measuring commands have written."""

from itertools import product
from typing import Any

from scripts.tables.results_files import RESULTS, results, table, where

ENGINES = ("sbd-fma.wasm", "sbd-threads.wasm")
"""What a browser takes, without and with memory that threads share."""
SITE = {
    "first_decode_megabytes": ("download to the first decode", "{:.1f} MB"),
    "first_decode_seconds": ("first decode after opening, cold, on localhost", "{:.1f} s"),
    "longest_task_ms": ("longest task of the page's thread while it decodes", "{:.0f} ms"),
    "memory_ratio": ("memory after {} decodes, over that after a tenth of them", "{:.2f}x"),
}
Row = tuple[str, str, str, bool]
"""What was measured, what was found, its target, whether that is met."""


def browser() -> str:
    """Every figure beside its target, and on what it was measured."""
    files = [stem for stem in ROWS if (RESULTS / "browser" / f"{stem}.json").is_file()]
    if not files:
        return "Not measured for the bundled checkpoint yet.\n"
    found = {stem: results(f"browser/{stem}") for stem in files}
    rows = [
        [what, value + ("" if is_met else ", not met"), most]
        for stem, data in found.items()
        for what, value, most, is_met in ROWS[stem](data)
    ]
    facts = {name: fact for data in found.values() for name, fact in data["circumstances"].items()}
    beside = [
        f"{name.capitalize()} {facts[name]}" for name in ("node", "chromium") if name in facts
    ]
    machines = dict.fromkeys(where(data) for data in found.values())
    return (
        table(["figure", "found", "target"], rows) + f"\n{', '.join(beside)}. {''.join(machines)}"
    )


def site(data: dict[str, Any]) -> list[Row]:
    """What a visitor downloads, waits for and keeps."""
    return [
        (
            what.format(data["num_decodes"]),
            form.format(data[name]),
            f"at most {form.format(data['targets'][name])}",
            data[name] <= data["targets"][name],
        )
        for name, (what, form) in SITE.items()
    ]


def forward(data: dict[str, Any]) -> list[Row]:
    """A forward pass beside those of the Python backends."""
    times, target = data["milliseconds"], data["target"]
    rows = []
    for engine, count in product(ENGINES, next(iter(times.values()))):
        if engine not in times:
            continue
        ratio = data["times_default"][f"{engine}, {count} rows"]
        others = [f"{name} {of[count]:.2f}" for name, of in times.items() if name not in ENGINES]
        threads = data["engine_threads"] if engine == ENGINES[1] else 1
        how = f"rows: {count}, threads: {threads}; over the page's backend ({data['default']})"
        found = f"{ratio:.2f}x: {times[engine][count]:.2f} ms; {', '.join(others)}"
        rows.append((f"forward pass, {how}", found, f"at most {target}x", ratio <= target))
    return rows


def engines(data: dict[str, Any]) -> list[Row]:
    """Decodes that sbd_core makes otherwise."""
    what = f"decodes that differ from sbd_core's, `{data['wasm']}`"
    of = f"{data['num_differences']} of {data['cases']:,} ({data['prompts']} prompts)"
    ties = f", {data['ties']} more parted at a tie" if data["ties"] else ""
    return [(what, of + ties, "0", not data["num_differences"])]


def hall(data: dict[str, Any]) -> list[Row]:
    """Visitors of one file server."""
    who = f"{data['visitors']} visitors, {data['at_once']} at a time"
    failed, lost = data["requests_failed"], data["decodes_lost"]
    return [
        (f"{who}: requests failed", f"{failed} of {data['requests']:,}", "0", not failed),
        (f"{who}: decodes lost", str(lost), "0", not lost),
    ]


ROWS = {
    "site": site,
    "forward": forward,
    "engines": engines,
    "engines-plain": engines,
    "hall": hall,
}
