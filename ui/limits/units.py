"""Times, bytes and rates in words."""


def time_words(seconds: float) -> str:
    """A time in the unit that suits it: 685 µs, 2.12 ms."""
    for size, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def size_words(size: float) -> str:
    """Bytes in the unit that suits them: 15 GB, 134 MB."""
    for least, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= least:
            return f"{size / least:,.3g} {unit}"
    return f"{size / 1e3:,.3g} kB"


def rate_words(flops: float) -> str:
    """Operations a second: 165 TFLOP/s."""
    size, unit = (1e12, "TFLOP/s") if flops >= 1e12 else (1e9, "GFLOP/s")
    return f"{flops / size:,.4g} {unit}"
