"""Every solver at several settings: the curves of accuracy against tokens a forward pass."""

from collections.abc import Iterator

from sbd_core.config import (
    ConfidenceThreshold,
    EntropyBound,
    EntropyBoundByConfidence,
    EntropyBoundByMargin,
    EntropyBoundFromLeft,
    EntropyThreshold,
    Factor,
    LeftToRight,
    Random,
    Solver,
    TopK,
)

BOUNDS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5)
THRESHOLDS = (0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
CONFIDENCES = (0.99, 0.95, 0.9, 0.8, 0.7, 0.5)
FACTORS = (0.1, 0.25, 0.5, 1.0, 1.5)
COUNTS = (1, 2, 4, 8, 16)


def sweep_solvers() -> Iterator[tuple[str, float, Solver]]:
    """(name of the curve, its parameter, the solver) for every point of the sweep."""
    for gamma in BOUNDS:
        yield "entropy-bound", gamma, EntropyBound(gamma)
        yield "entropy-bound-by-confidence", gamma, EntropyBoundByConfidence(gamma)
        yield "entropy-bound-by-margin", gamma, EntropyBoundByMargin(gamma)
        yield "entropy-bound-from-left", gamma, EntropyBoundFromLeft(gamma)
    for gamma in THRESHOLDS:
        yield "entropy-threshold", gamma, EntropyThreshold(gamma)
    for tau in CONFIDENCES:
        yield "confidence-threshold", tau, ConfidenceThreshold(tau)
    for factor in FACTORS:
        yield "factor", factor, Factor(factor)
    for k in COUNTS:
        yield "top-k", k, TopK(k)
        yield "random", k, Random(k)
        yield "left-to-right", k, LeftToRight(k)
