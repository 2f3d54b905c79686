"""Measurement of accuracy and forward passes on held-out examples.

from sbd_core.evaluation import evaluate
result = evaluate(model, ["math", "json"], config, limit=100)
print(result)
result.to_data()
"""

from sbd_core.evaluation.api import Evaluation, evaluate
from sbd_core.evaluation.scoring import Sample

__all__ = ["Evaluation", "Sample", "evaluate"]
