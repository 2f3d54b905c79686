"""Train commands under FSDP on the CPU, which accelerate by itself offers on accelerators only.

The first command is stopped after a step, as by Ctrl-C.
All else is accelerate's own: how it shards the model and what it makes of the optimizers.
"""

import json
import os
import sys
from typing import Any

import pytest
from accelerate import Accelerator, FullyShardedDataParallelPlugin
from accelerate.state import AcceleratorState, PartialState
from accelerate.utils import DistributedType
from torch.distributed.tensor import DTensor

from sbd_core.__main__ import main
from sbd_core.training import train as training
from tests.core.cli.commands import run_all
from tests.core.training.tiny_training import signalled_at


class ShardingAccelerator(Accelerator):
    """An Accelerator that believes `accelerate launch --use_fsdp` has started it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for state in (PartialState, AcceleratorState):
            state._shared_state["distributed_type"] = DistributedType.FSDP
        self.state._shared_state["fsdp_plugin"] = FullyShardedDataParallelPlugin(
            fsdp_version=2, auto_wrap_policy="transformer_based_wrap"
        )

    def prepare(self, *parts: Any) -> Any:
        prepared = super().prepare(*parts)
        assert all(isinstance(weight, DTensor) for weight in prepared[0].parameters())
        return prepared


training.Accelerator = ShardingAccelerator  # type: ignore[misc]

if __name__ == "__main__":
    first, *others = json.loads(sys.argv[1])
    with signalled_at(1, pytest.MonkeyPatch()):
        assert main(first) == 130
    status = run_all(json.dumps(others))
    sys.stdout.flush()
    # DTensor's caches keep the process group alive, and a thread of gloo's that wakes while the
    # interpreter is taken down aborts the process.
    os._exit(status)
