"""Answers prompts under several settings; all that is measured is computed from these answers."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import Prompt, generate, generate_batch
from sbd_core.errors import ArgumentError, require_integer
from sbd_core.models.protocol import SetBlockModel
from sbd_core.shared_work import Journal, Share
from sbd_core.trace import Trace

Settings = Mapping[str, tuple[SetBlockModel, DecodeConfig]]
"""{name in the tables: (model, config)}."""

ROUND = 4
"""Number of batches in a row under one name; in them the next text takes a finished one's place."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one prompt, and counts of its decode.

    seconds: time that the engine took.
    num_read: number of the answer's tokens that the causal head has scored.
    num_agreed: number of tokens, among those scored, that the causal head finds likeliest.
    """

    text: str
    token_ids: list[int]
    num_forwards: int
    seconds: float
    num_read: int
    num_agreed: int

    @classmethod
    def of(cls, trace: Trace) -> "Answer":
        """Make an Answer from the trace of a finished decode."""
        read = [item for event in trace.events for item in event.hindsight]
        return cls(
            text=trace.text,
            token_ids=list(trace.token_ids),
            num_forwards=trace.num_forwards,
            seconds=round(trace.seconds, 6),
            num_read=len(read),
            num_agreed=sum(item.token_id == item.argmax_id for item in read),
        )


Answers = dict[str, dict[str, list[Answer]]]
"""{task: {name of the settings: one answer per prompt}}."""
Key = tuple[str, int, str]
"""(task, number of the prompt, name of the settings)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """How answers are made.

    batch_size: number of texts decoded together.
    out: file that will hold the results. Beside it NAME.answers.jsonl keeps each answer as a line;
        answers found there are not made again. None keeps none.
    share: the prompts that this process answers; with several processes, `out` must be given.
    Raises ArgumentError.
    """

    batch_size: int = 32
    out: Path | None = None
    share: Share = field(default_factory=Share)

    def __post_init__(self) -> None:
        require_integer("batch_size", self.batch_size, 1)
        if self.share.num_processes > 1 and self.out is None:
            raise ArgumentError("out", "must be given to processes that share the work", None)

    def journal(
        self, models: Sequence[SetBlockModel], settings: object, prompts: object
    ) -> Journal | None:
        """The journal of one piece of work, None without `out`; see Journal."""
        if self.out is None:
            return None
        path = self.out.with_suffix(".answers.jsonl")
        return Journal(path, models, settings, prompts, self.share.rank)

    def answers(
        self,
        settings: Settings,
        prompts: Mapping[str, Sequence[Prompt]],
        journal: Journal | None = None,
    ) -> Answers:
        """Answer all prompts of all tasks under all settings, which take turns.

        prompts: {task: prompts}. journal: keeps the answers; see journal().
        Several processes answer a share each, and every one returns the answers of all.
        Raises ArgumentError.
        """
        from tqdm import tqdm

        wanted = {
            (task, i, n) for task in prompts for i in range(len(prompts[task])) for n in settings
        }
        known = {} if journal is None else _by_key(journal.rows())
        share, warm = self.share, set[str]()
        mine = {t: range(len(prompts[t]))[share.rank :: share.num_processes] for t in prompts}
        total = len(settings) * sum(map(len, mine.values()))
        with tqdm(total=total, unit="answer") as bar:
            for task, numbers in mine.items():
                for start in range(0, len(numbers), ROUND * self.batch_size):
                    part = numbers[start : start + ROUND * self.batch_size]
                    for name, (model, config) in settings.items():
                        missing = [each for each in part if (task, each, name) not in known]
                        texts = [prompts[task][each] for each in missing]
                        if texts and name not in warm:
                            warm.add(name)
                            generate(model, texts[0], config)
                        seeds = [seed_of(config.seed, task, text) for text in texts]
                        traces = generate_batch(
                            model, texts, config, batch_size=self.batch_size, seeds=seeds
                        )
                        made = {
                            (task, number, name): Answer.of(trace)
                            for number, trace in zip(missing, traces, strict=True)
                        }
                        known |= made
                        if journal is not None and made:
                            journal.add([_line(key, answer) for key, answer in made.items()])
                        bar.update(len(part))
        if journal is not None and share.num_processes > 1:
            known = _by_key(journal.wait(lambda lines: wanted <= _by_key(lines).keys()))
        return {
            task: {
                name: [known[task, number, name] for number in range(len(texts))]
                for name in settings
            }
            for task, texts in prompts.items()
        }


def _line(key: Key, answer: Answer) -> dict[str, Any]:
    return {"task": key[0], "number": key[1], "settings": key[2], **asdict(answer)}


def _by_key(lines: Sequence[dict[str, Any]]) -> dict[Key, Answer]:
    known = {}
    for line in lines:
        task, number, name, *answer = line.values()
        known[task, number, name] = Answer(*answer)
    return known


def seed_of(seed: int, task: str, prompt: Prompt) -> int:
    """Compute the decoding seed of a prompt from `seed`, its task and its text."""
    text = f"{seed}\0{task}\0{prompt}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
