"""Times, bytes and rates in words."""


def time_words(seconds: float) -> str:
    """A time in the unit that suits it: 685 µs, 2.12 ms."""
    return _in_units(seconds, (1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def size_words(size: float) -> str:
    """Bytes in the unit that suits them: 15 GB, 134 MB."""
    return _in_units(size, (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def _in_units(value: float, *units: tuple[float, str]) -> str:
    """Three digits and the first unit that they reach, or the last one; never an exponent."""
    fitting = (each for each in units if float(f"{value / each[0]:.3g}") >= 1)
    size, unit = next(fitting, units[-1])
    shown = float(f"{value / size:.3g}")
    return f"{shown:,.0f} {unit}" if shown >= 100 else f"{shown:g} {unit}"


def rate_words(flops: float) -> str:
    """Operations a second: 165 TFLOP/s."""
    size, unit = (1e12, "TFLOP/s") if flops >= 1e12 else (1e9, "GFLOP/s")
    return f"{flops / size:,.4g} {unit}"
