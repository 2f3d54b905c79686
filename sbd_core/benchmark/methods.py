"""The methods that bench() compares: transformers' generate(), llama.cpp and our strategies.

Each method answers a prompt greedily and counts its forward passes. bench() times it.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import torch

from sbd_core.config import MAX_ROWS, DecodeConfig, StrategyName
from sbd_core.decoding.api import generate
from sbd_core.errors import ArgumentError
from sbd_core.models.backends.llama.weights import has_known_shape
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.solvers import EntropyBound
from sbd_core.trace import Trace

GENERATE = "transformers generate()"
LLAMA_CPP = "llama.cpp, 8 bits"
LOOK_UP_TOKENS = 10
GAMMAS = (0.1, 0.35)
BENCH_ROWS = (7, MAX_ROWS)
"""Largest numbers of rows of a forward pass with which verify is timed."""
ONNX_DTYPES: tuple[Literal["float32", "int8"], ...] = ("float32", "int8")


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """The answer of one method to one prompt.

    num_forwards: number of forward passes of the model, prefill included.
    num_draft_forwards: number of forward passes of an assistant model.
    trace: our engine's record of the decode; None for another library.
    """

    token_ids: tuple[int, ...]
    num_forwards: int
    num_draft_forwards: int = 0
    trace: Trace | None = None

    @property
    def num_rows(self) -> int | None:
        """Rows (input positions) of all forward passes after the prefill; None if unknown."""
        costs = None if self.trace is None else self.trace.costs
        return None if costs is None else sum(cost.rows for cost in costs[1:])


Ask = Callable[[Sequence[int]], TimedAnswer]


@dataclass(frozen=True, slots=True)
class Method:
    """A method to time. name: its name in the tables. answer: the function that is timed."""

    name: str
    answer: Ask


def ours(model: HuggingFaceModel, max_new_tokens: int) -> dict[str, DecodeConfig]:
    """Configs of our strategies that the model can run, as {name in the tables: config}."""

    def config(strategy: StrategyName, block_size: int = 16, gamma: float = 0.1) -> DecodeConfig:
        return DecodeConfig(
            strategy=strategy,
            solver=EntropyBound(gamma=gamma),
            block_size=block_size,
            max_new_tokens=max_new_tokens,
            top_k_recorded=0,
        )

    configs = {"ntp": config("ntp")}
    if model.mask_token_id is None or model.block_range is None:
        return configs
    low, high = model.block_range
    for gamma in GAMMAS:
        configs[f"sbd, gamma {gamma}, k={high}"] = config("sbd", high, gamma)
    size = high if model.adapter is None else max(low, high // 4)
    for rows in BENCH_ROWS:
        way = replace(config("verify", size), max_rows=rows)
        configs[f"verify, k={size}, {rows} rows"] = way
    return configs


def by_engine(model: HuggingFaceModel, configs: Mapping[str, DecodeConfig]) -> list[Method]:
    """Make a method of our engine from each config. configs: {name of the method: config}."""

    def asking(config: DecodeConfig) -> Ask:
        def ask(prompt: Sequence[int]) -> TimedAnswer:
            trace = generate(model, prompt, config)
            return TimedAnswer(trace.token_ids, trace.num_forwards, trace=trace)

        return ask

    return [Method(name, asking(config)) for name, config in configs.items()]


def in_each_dtype(model: HuggingFaceModel) -> tuple[dict[str, HuggingFaceModel], list[str]]:
    """Copy the model into each dtype of ONNX Runtime.

    Returns ({dtype: model}, lines that say which dtypes were left out, and why). Raises
    ArgumentError for a model that ONNX Runtime cannot run here.
    """
    from sbd_core.models.backends.onnx.build import OnnxUnavailable, build

    if model.device != "cpu" or not has_known_shape(model.model):
        rule = "must be Llama-shaped and on a CPU for dtypes to be measured"
        raise ArgumentError("model", rule, model.name)
    layers = model.adapter.layers if model.adapter else None
    models_by_dtype: dict[str, HuggingFaceModel] = {}
    left_out = []
    for dtype in ONNX_DTYPES:
        twin = copy.copy(model)
        vars(twin).pop("exactness", None)
        try:
            twin.backend = build(model.model, dtype, layers)
        except OnnxUnavailable as error:
            if not models_by_dtype:
                raise ArgumentError("model", "must run in ONNX Runtime here", str(error)) from error
            left_out.append(f"{dtype}: left out, {error}")
            continue
        models_by_dtype[dtype] = twin
    return models_by_dtype, left_out


def by_transformers(
    model: HuggingFaceModel, max_new_tokens: int, assistant: HuggingFaceModel | None = None
) -> list[Method]:
    """Make the methods of transformers' generate(): plain, with prompt look-up, with an assistant.

    assistant: smaller model that drafts; None leaves this method out.
    Raises ArgumentError if the assistant's tokenizer is not the model's.
    """
    if assistant is not None and assistant.tokenizer.get_vocab() != model.tokenizer.get_vocab():
        raise ArgumentError("assistant", f"must have the tokenizer of {model.name}", assistant.name)
    own = as_loaded(model)
    common: dict[str, Any] = {"do_sample": False, "max_new_tokens": max_new_tokens}
    if model.mask_token_id is not None:
        common["suppress_tokens"] = [model.mask_token_id]  # as ours does
    # A copy, so that a model that is its own assistant is counted separately.
    helper = None if assistant is None else copy.deepcopy(as_loaded(assistant))

    def asking(**options: Any) -> Ask:
        def ask(prompt: Sequence[int]) -> TimedAnswer:
            ids = torch.tensor([list(prompt)], device=own.device)
            with torch.inference_mode(), _counted(own) as passes, _counted(helper) as drafts:
                mask = torch.ones_like(ids)
                output = own.generate(ids, attention_mask=mask, **common, **options)
            return TimedAnswer(tuple(output[0, len(prompt) :].tolist()), len(passes), len(drafts))

        return ask

    methods = [
        Method(GENERATE, asking()),
        Method(f"{GENERATE}, prompt look-up", asking(prompt_lookup_num_tokens=LOOK_UP_TOKENS)),
    ]
    if helper is not None:
        methods.append(Method(f"{GENERATE}, assistant", asking(assistant_model=helper)))
    return methods


@contextmanager
def _counted(model: Any) -> Iterator[list[None]]:
    """Yield a list that grows by one item per forward pass. It stays empty if `model` is None."""
    seen: list[None] = []
    if model is None:
        yield seen
        return
    handle = model.register_forward_pre_hook(lambda *_: seen.append(None))
    try:
        yield seen
    finally:
        handle.remove()


def as_loaded(model: HuggingFaceModel) -> Any:
    """Return the transformers model, or a copy of it, in which all weights are contiguous.

    Our fused forward pass changes the layout of weights, which would slow generate() down.
    """
    if all(parameter.is_contiguous() for parameter in model.model.parameters()):
        return model.model
    own = copy.deepcopy(model.model)
    for parameter in own.parameters():
        parameter.data = parameter.data.contiguous()
    return own


@cache
def _silent_llama_cpp() -> tuple[Any, Any]:
    """Import llama_cpp and silence its log. Returns (module, log callback). Raises ImportError."""
    import llama_cpp

    def log(level: int, text: bytes, data: object) -> None:
        """Ignore a log message."""

    callback = llama_cpp.llama_log_callback(log)
    llama_cpp.llama_log_set(callback, None)
    return llama_cpp, callback  # the callback must live on, as C holds no reference


def by_llama_cpp(
    model: HuggingFaceModel, gguf: Path, max_new_tokens: int, num_threads: int
) -> Method:
    """Make the method of llama.cpp: next-token prediction with 8-bit weights (Q8_0).

    gguf: file of the model's weights in llama.cpp's format.
    Raises ArgumentError if the file does not fit the model or llama.cpp is not installed.
    """
    try:
        llama_cpp, _ = _silent_llama_cpp()
    except ImportError as error:
        rule = "needs llama.cpp: pip install llama-cpp-python"
        raise ArgumentError("gguf", rule, str(gguf)) from error
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "8-bit.gguf"
        options = llama_cpp.llama_model_quantize_default_params()
        options.ftype = llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0
        options.allow_requantize = True
        if not gguf.is_file() or llama_cpp.llama_model_quantize(
            str(gguf).encode(), str(file).encode(), options
        ):
            raise ArgumentError("gguf", "must be a GGUF file that llama.cpp can read", str(gguf))
        length = model.max_positions or 2048
        threads = {"n_threads": num_threads, "n_threads_batch": num_threads}
        reader = llama_cpp.Llama(str(file), n_ctx=length, use_mmap=False, verbose=False, **threads)
    # A base without the mask token has one row less.
    if reader.n_vocab() not in (model.vocabulary_size, model.mask_token_id):
        raise ArgumentError("gguf", f"must hold the weights of {model.name}", str(gguf))

    def ask(prompt: Sequence[int]) -> TimedAnswer:
        reader.reset()
        reader.eval(list(prompt))
        tokens: list[int] = []
        while True:
            tokens.append(reader.sample(temp=0.0, repeat_penalty=1.0))
            if tokens[-1] in model.end_token_ids or len(tokens) == max_new_tokens:
                return TimedAnswer(tuple(tokens), len(tokens))
            reader.eval(tokens[-1:])

    return Method(LLAMA_CPP, ask)
