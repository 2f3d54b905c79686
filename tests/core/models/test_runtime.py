"""Torch's threads between forward passes of a model that has threads of its own."""

from types import SimpleNamespace

import torch

from sbd_core.models.runtime import one_thread_between_passes


def test_blocks_that_overlap_leave_as_many_threads_as_there_were():
    model, before = SimpleNamespace(has_own_threads=True), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        first, second = one_thread_between_passes(model), one_thread_between_passes(model)
        first.__enter__()
        second.__enter__()
        assert torch.get_num_threads() == 1
        first.__exit__(None, None, None)
        assert torch.get_num_threads() == 1
        second.__exit__(None, None, None)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
