"""llama.cpp beside our strategies, where llama-cpp-python is installed; never a dependency."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sbd_core.benchmark.methods import Method
from sbd_core.errors import ArgumentError
from sbd_core.models.hf_model import HuggingFaceModel

NAME = "llama.cpp, 8 bits"


@cache
def silent_llama_cpp() -> tuple[Any, Any]:
    """The module, which else logs every weight, and what keeps it silent. Raises ImportError."""
    import llama_cpp

    def log(level: int, text: bytes, data: object) -> None:
        """Says nothing."""

    callback = llama_cpp.llama_log_callback(log)
    llama_cpp.llama_log_set(callback, None)
    return llama_cpp, callback  # which C holds without a reference


def by_llama_cpp(
    model: HuggingFaceModel, gguf: Path, max_new_tokens: int, num_threads: int
) -> Method:
    """Greedy next-token prediction by llama.cpp with 8-bit weights (Q8_0).

    gguf: the model's weights in a format of llama.cpp. Raises ArgumentError.
    """
    try:
        llama_cpp, _ = silent_llama_cpp()
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

    def answer(prompt: Sequence[int]) -> tuple[int, ...]:
        reader.reset()
        reader.eval(list(prompt))
        tokens: list[int] = []
        while len(tokens) < max_new_tokens:
            tokens.append(reader.sample(temp=0.0, repeat_penalty=1.0))
            if tokens[-1] in model.end_token_ids:
                break
            reader.eval(tokens[-1:])
        return tuple(tokens)

    return Method(NAME, answer)
