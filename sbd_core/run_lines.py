"""Writes a run as lines of JSON, which the player reads. Knows no model, no tensor, no page.

A run decodes one prompt in one or several lanes, shown side by side, each with its own settings. A
lane is named after its strategy, unless the first line gives "names". The lines are:

    {"run": id, "seq": n, "type": "run",    ...}                what is about to be decoded
    {"run": id, "seq": n, "type": "step",   "lane": name, ...}  one forward pass
    {"run": id, "seq": n, "type": "end",    "lane": name, ...}  the lane is complete
    {"run": id, "seq": n, "type": "timing", ...}                times that the page measured

Configs, events, shapes and the names of fields are as in a trace file; see sbd_core.trace and
sbd_core.events. The text of a token is sent once, in "tokens" of the first line that mentions the
token. Empty fields are left out.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sbd_core.config import DecodeConfig
from sbd_core.cost import ModelShape
from sbd_core.events import StepEvent
from sbd_core.trace import Finish, Trace, config_json

MAX_SHOWN_BLOCK = 64
"""Largest block that the player can draw."""
LANE_NAMES = {
    "sbd": "Set Block Decoding",
    "verify": "Exact (verify)",
    "ntp": "Next-token prediction",
}
EMPTY: tuple[Any, ...] = ([], (), {}, "", None)
UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


class RunLines:
    """Writes the lines of one run, in order. Each method returns one line without a newline."""

    def __init__(self, run_id: str, token_text: Callable[[int], str]) -> None:
        self._run_id = run_id
        self._token_text = token_text
        self._sent: set[int] = set()
        self._sequence = 0

    def start(
        self,
        prompt: str,
        lanes: Iterable[DecodeConfig],
        *,
        names: Iterable[str] = (),
        is_recorded: bool = False,
        model: str = "",
        ask: str = "",
        end_token_ids: Iterable[int] = (),
        about: str = "",
        prompt_token_ids: Iterable[int] = (),
        shape: ModelShape | None = None,
        versions: Mapping[str, str] | None = None,
        weights: Mapping[str, str] | None = None,
        messages: Iterable[tuple[str, str]] = (),
    ) -> str:
        """The first line of the run, at which the player clears the run that it showed before.

        lanes: the config of each lane, the main lane first.
        names: a name for each lane; empty if each lane is named after its strategy.
        ask: id of the page's request that this run answers; "" for none.
        end_token_ids: token ids that end an answer.
        about: a sentence on what to look at, shown beside the run; "" for none.
        prompt_token_ids: tokens of the prompt, chat template included.
        shape: sizes of the model; for None the player shows no cost of forward passes.
        is_recorded: whether the run is a replay of traces.
        model, versions, weights, messages: see Trace.
        """
        configs, read, named = list(lanes), list(prompt_token_ids), list(names)
        is_named = named != [config.strategy for config in configs]
        pinned = [token_id for config in configs for token_id in config.pinned.values()]
        return self._line(
            "run",
            prompt=prompt,
            model=model,
            lanes=[config_json(config) for config in configs],
            names=named if is_named else (),
            ask=ask,
            about=about,
            prompt_token_ids=read,
            end_token_ids=sorted(end_token_ids),
            shape=shape and shape.as_json(),
            versions=dict(versions or {}),
            weights=dict(weights or {}),
            messages=[list(message) for message in messages],
            tokens=self._texts([*read, *pinned]),
            is_recorded=is_recorded,
        )

    def step(self, lane: str, event: StepEvent) -> str:
        """The line of one forward pass of `lane`."""
        tokens = self._texts(sorted(event.mentioned_token_ids))
        return self._line("step", lane=lane, tokens=tokens, **event.as_json())

    def end(
        self, lane: str, finish: Finish, text: str = "", verdict: Mapping[str, Any] | None = None
    ) -> str:
        """The line that ends `lane`. finish: see Trace. text: the lane's whole answer.

        verdict: {"right": bool, "words": sentence}; None if the answer was not checked.
        """
        return self._line("end", lane=lane, finish=finish, text=text, verdict=verdict)

    def _texts(self, token_ids: Iterable[int]) -> dict[str, str]:
        new = [token_id for token_id in dict.fromkeys(token_ids) if token_id not in self._sent]
        self._sent.update(new)
        return {str(token_id): self._token_text(token_id) for token_id in new}

    def _line(self, line_type: str, **fields: Any) -> str:
        said = {key: value for key, value in fields.items() if value not in EMPTY}
        body = {"run": self._run_id, "seq": self._sequence, "type": line_type, **said}
        self._sequence += 1
        return wire_json(body)


def wire_json(body: Mapping[str, Any]) -> str:
    """One line of JSON that is safe inside markup and scripts, whatever text it carries."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = text.translate(UNSAFE)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate; JSON can escape it
        return "".join(c if not "\ud800" <= c <= "\udfff" else f"\\u{ord(c):04x}" for c in text)
    return text


def replay_lines(
    run_id: str,
    lanes: Mapping[str, Trace],
    *,
    verdicts: Mapping[str, Mapping[str, Any]] | None = None,
    about: str = "",
) -> str:
    """All lines of a recorded run; the lanes take turns, one forward pass each.

    lanes: {name of the lane: its trace}, the main lane first.
    verdicts: {name of the lane: its verdict}; see RunLines.end. about: see RunLines.start.
    """
    first = next(iter(lanes.values()))
    texts = {key: text for trace in lanes.values() for key, text in trace.tokens.items()}
    wire = RunLines(run_id, texts.__getitem__)
    # A trace made by hand may have no texts for them.
    has_prompt = all(token_id in texts for token_id in first.prompt_token_ids)
    lines = [
        wire.start(
            first.prompt,
            [trace.config for trace in lanes.values()],
            names=lanes,
            is_recorded=True,
            model=first.model,
            end_token_ids={end for trace in lanes.values() for end in trace.end_token_ids},
            about=about,
            prompt_token_ids=first.prompt_token_ids if has_prompt else (),
            shape=first.shape,
            versions=first.versions,
            weights=first.weights,
            messages=first.messages,
        )
    ]
    for index in range(max(trace.num_forwards for trace in lanes.values())):
        for lane, trace in lanes.items():
            if index < trace.num_forwards:
                lines.append(wire.step(lane, trace.events[index]))
            if index == trace.num_forwards - 1:
                verdict = (verdicts or {}).get(lane)
                lines.append(wire.end(lane, trace.finish, trace.text, verdict))
    return "\n".join(lines)
