"""Measurement of accuracy and forward passes on held-out examples and on open requests.

from sbd_core.evaluation import evaluate
evaluate(model, ["math", "json"], config, limit=100)["rows"]
"""

from sbd_core.evaluation.api import evaluate
from sbd_core.evaluation.harness import Answer, Harness

__all__ = ["Answer", "Harness", "evaluate"]
