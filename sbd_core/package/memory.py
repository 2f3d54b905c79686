"""Whether an error says that memory ran out: torch has several ways to. Imports no torch."""

ADVICE = (
    "out of memory: ask for a smaller batch size, block size or answer, for dtype bfloat16, or use "
    "a smaller model or another device"
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the machine or the GPU had no more memory to give."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or (isinstance(error, RuntimeError) and "can't allocate memory" in str(error))
    )
