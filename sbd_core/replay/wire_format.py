"""Events and traces as what the page shows: the player's wire lines.

Knows configs, events and traces; knows no model, no tensor, no Gradio.

The wire is text, one JSON object a line, each new to the player:

    {"run": id, "seq": n, "type": "run",  ...}                what is about to be decoded
    {"run": id, "seq": n, "type": "step", "lane": name, ...}  one forward pass
    {"run": id, "seq": n, "type": "end",  "lane": name, ...}  the lane is complete
    {"run": id, "seq": n, "type": "timing", ...}              engine times of runs made again

Token texts travel once: "tokens" of a line lists [token id, text] pairs first used there, and
every token elsewhere is an index into the list of all pairs so far. Entropies count 1e-4 nats, to
four digits at least; probabilities are whole numbers of 1e-4, times of microseconds. Empty fields
are left out, and so is "kind" where it is "decode".
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sbd_core.config import DecodeConfig
from sbd_core.cost.forward_cost import event_cost
from sbd_core.cost.model_shape import ModelShape
from sbd_core.events import MaskedPosition, StepEvent
from sbd_core.rules import solver_name, solver_parameters
from sbd_core.trace import Finish, Trace

UNITS = 10_000
MAX_SHOWN_BLOCK = 64
"""The player draws every position of a block, whatever the strategy makes of it."""
MIN_SHOWN_PROBABILITY = 0.0005
SHOWN_DIGITS = 8
"""Of a digest: enough to tell weights apart."""
UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
LANE_NAMES = {
    "sbd": "Set Block Decoding",
    "verify": "Verify (lossless)",
    "ntp": "Next-token prediction",
}


class RunWire:
    """Writes the lines of one run, in order. Each call gives one line without its newline."""

    def __init__(
        self, run_id: str, token_text: Callable[[int], str], shape: ModelShape | None = None
    ) -> None:
        """shape: of the model; None leaves out what forward passes cost."""
        self._run_id = run_id
        self._token_text = token_text
        self._shape = shape
        self._num_prompt = 0
        self._indexes: dict[int, int] = {}
        self._unsent: list[int] = []
        self._sequence = 0

    def start(
        self,
        prompt: str,
        config: DecodeConfig,
        lanes: Iterable[str],
        *,
        is_recorded: bool = False,
        model: str = "",
        ask: str = "",
        end_token_ids: Iterable[int] = (),
        about: str = "",
        prompt_token_ids: Iterable[int] = (),
        weights: Mapping[str, str] | None = None,
    ) -> str:
        """The line that opens the run; the player drops what it showed before.

        end_token_ids: what ends an answer; needed while it is not known where this one ends.
        about: a sentence on what to look at, shown beside the run. prompt_token_ids: what the model
        reads, chat template included, for the axes of the attention mask. weights: {name: digest}
        of what decodes, of which the first digits are shown.
        """
        pinned = [[offset, self._index(token_id)] for offset, token_id in config.pinned.items()]
        read = [self._index(token_id) for token_id in prompt_token_ids]
        return self._line(
            "run",
            tokens=self._new_tokens(),
            read=read,
            pinned=pinned,
            prompt=prompt,
            model=model,
            lanes=list(lanes),
            **_settings(config),
            ask=ask,
            ends=sorted(end_token_ids),
            about=about,
            weights=[[name, digest[:SHOWN_DIGITS]] for name, digest in (weights or {}).items()],
            value_bytes=self._shape and self._shape.bytes_per_value,
            output_weights=self._shape and self._shape.num_output_weights,
            pair_flops=self._shape and self._shape.pair_flops,
            is_recorded=is_recorded,
        )

    def step(self, lane: str, event: StepEvent) -> str:
        """One forward pass of `lane`, which is named by its strategy."""
        fields = self._event_fields(event)
        if event.kind == "prefill":
            self._num_prompt = event.num_causal
        if self._shape is not None:
            cost = event_cost(self._shape, event, lane, self._num_prompt)
            fields["cost"] = [cost.rows, cost.flops, cost.weight_bytes, cost.cache_bytes]
        return self._line("step", lane=lane, tokens=self._new_tokens(), **fields)

    def end(
        self,
        lane: str,
        finish: Finish,
        text: str = "",
        verdict: Mapping[str, Any] | None = None,
    ) -> str:
        """The lane is complete; `text` is its whole decoded answer.

        verdict: {"right": bool, "words": sentence} where something could check the answer.
        """
        return self._line("end", lane=lane, finish=finish, text=text, verdict=verdict)

    def timing(self, seconds: Sequence[float], ntp_seconds: Sequence[float]) -> str:
        """Engine seconds of the run and of next-token prediction, each time it was made."""
        times, ntp_times = ([round(each * 1e6) for each in lane] for lane in (seconds, ntp_seconds))
        return self._line("timing", times=times, ntp_times=ntp_times)

    def _index(self, token_id: int) -> int:
        if token_id not in self._indexes:
            self._indexes[token_id] = len(self._indexes)
            self._unsent.append(token_id)
        return self._indexes[token_id]

    def _new_tokens(self) -> list[list[Any]]:
        tokens = [[token_id, self._token_text(token_id)] for token_id in self._unsent]
        self._unsent.clear()
        return tokens

    def _event_fields(self, event: StepEvent) -> dict[str, Any]:
        return {
            "kind": event.kind if event.kind != "decode" else None,
            "context": [event.num_cached, event.num_causal],
            "block": [event.block.start, event.block.size],
            "masked": [
                [item.position, scaled_entropy(item.entropy), *self._top(item)]
                for item in event.masked
            ],
            "reveals": self._reveals(event),
            "committed": [self._index(token_id) for token_id in event.committed],
            "draft": [self._index(token_id) for token_id in event.draft],
            "hindsight": [
                [
                    item.position,
                    scaled(item.probability),
                    self._index(item.argmax_id),
                    scaled(item.argmax_probability),
                ]
                for item in event.hindsight
            ],
            "time": round(event.seconds * 1e6),
            "predrafts": [
                [
                    predraft.block.start,
                    predraft.block.size,
                    int(predraft.is_used),
                    *map(self._index, predraft.token_ids),
                ]
                for predraft in event.predrafts
            ],
        }

    def _reveals(self, event: StepEvent) -> list[list[int]]:
        """[position, token] in rank order; the probability only if "masked" does not hold it."""
        recorded = {item.position: item.top_token_ids for item in event.masked}
        rows = []
        for item in sorted(event.reveals, key=lambda item: item.rank):
            row = [item.position, self._index(item.token_id)]
            if item.token_id not in recorded.get(item.position, ()):
                row.append(scaled(item.probability))
            rows.append(row)
        return rows

    def _top(self, item: MaskedPosition) -> list[int]:
        """Token, probability, token, ... best first; what would read 0.0 % is left out."""
        flat: list[int] = []
        for token_id, probability in zip(item.top_token_ids, item.top_probabilities, strict=True):
            if flat and probability < MIN_SHOWN_PROBABILITY:
                break
            flat += (self._index(token_id), scaled(probability))
        return flat

    def _line(self, line_type: str, **fields: Any) -> str:
        body = {"run": self._run_id, "seq": self._sequence, "type": line_type}
        body.update({key: value for key, value in fields.items() if value not in ([], "", None)})
        self._sequence += 1
        return wire_json(body)


def _settings(config: DecodeConfig) -> dict[str, Any]:
    """What the form sets; how drafts are made only of verify, which alone makes some."""
    settings: dict[str, Any] = {
        "strategy": config.strategy,
        "solver": {"name": solver_name(config.solver), **solver_parameters(config.solver)},
        "block_size": config.block_size,
        "max_new_tokens": config.max_new_tokens,
        "seed": config.seed or None,
        "repetition_penalty": None if config.repetition_penalty == 1 else config.repetition_penalty,
    }
    if config.strategy == "verify":
        settings["num_predrafts"] = config.num_predrafts or None
        settings["draft_threshold"] = config.draft_threshold
        settings["row_policy"] = None if config.row_policy == "fixed" else config.row_policy
    return settings


def scaled(value: float) -> int:
    """`value` in wire units."""
    return round(value * UNITS)


def scaled_entropy(nats: float) -> float:
    """`nats` in wire units, to four digits at least: a bound near 0 adds up the smallest."""
    units = float(f"{nats * UNITS:.4g}")
    return round(nats * UNITS) if units >= 1000 else int(units) if units.is_integer() else units


def wire_json(body: Mapping[str, Any]) -> str:
    """One line of JSON that is safe inside markup and scripts, whatever text it carries."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = text.translate(UNSAFE)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate; JSON can escape it
        return "".join(c if not "\ud800" <= c <= "\udfff" else f"\\u{ord(c):04x}" for c in text)
    return text


def _ends(trace: Trace) -> tuple[int, ...]:
    """What ends an answer; of a trace that does not say it, the token that ended this one."""
    if trace.end_token_ids or trace.finish != "end_of_sequence":
        return trace.end_token_ids
    return trace.token_ids[-1:]


def replay(
    run_id: str,
    lanes: Mapping[str, Trace],
    *,
    verdicts: Mapping[str, Mapping[str, Any]] | None = None,
    about: str = "",
    timing: Mapping[str, Sequence[float]] | None = None,
) -> str:
    """All lines of a recorded run, a forward pass of each lane in turn; the first is the main one.

    verdicts: of lanes by name, see `RunWire.end`. about: a sentence shown beside the run. timing:
    {"seconds": [...], "ntpSeconds": [...]} of the same decode made again.
    """
    first = next(iter(lanes.values()))
    texts = {key: text for trace in lanes.values() for key, text in trace.tokens.items()}
    wire = RunWire(run_id, texts.__getitem__, first.shape)
    # A trace made by hand may have no texts for them.
    has_prompt = all(token_id in texts for token_id in first.prompt_token_ids)
    lines = [
        wire.start(
            first.prompt,
            first.config,
            lanes,
            is_recorded=True,
            model=first.model,
            end_token_ids={token_id for trace in lanes.values() for token_id in _ends(trace)},
            about=about,
            prompt_token_ids=first.prompt_token_ids if has_prompt else (),
            weights=first.weights,
        )
    ]
    for index in range(max(trace.num_forwards for trace in lanes.values())):
        for lane, trace in lanes.items():
            if index < trace.num_forwards:
                lines.append(wire.step(lane, trace.events[index]))
            if index == trace.num_forwards - 1:
                verdict = (verdicts or {}).get(lane)
                lines.append(wire.end(lane, trace.finish, trace.text, verdict))
    if timing:
        lines.append(wire.timing(timing["seconds"], timing["ntpSeconds"]))
    return "\n".join(lines)
