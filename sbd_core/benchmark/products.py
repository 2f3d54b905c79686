"""The matrix products of a forward pass alone, in ONNX Runtime."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from onnx import TensorProto, helper
from torch import Tensor

from sbd_core.models.backends.onnx.build import products_are_exact, threads_of
from sbd_core.models.backends.onnx.export import GRAPH_FILE, MIDDLE, Exporter, Operand
from sbd_core.models.backends.onnx.forward import session_of
from sbd_core.models.backends.onnx.web_graph import LINEARS


class Products(Exporter):
    """Graph of x (rows, in; integers in int8) times every linear layer's weight; no adapter."""

    def groups(self) -> list[tuple[str, Sequence[Any]]]:
        """Names of the products, each with the linear layers (of one input) that it joins."""
        groups: list[tuple[str, Sequence[Any]]] = [("head", [self.model.lm_head])]
        for index, layer in enumerate(self.model.model.layers):
            for name, places in LINEARS.items():
                linears = [layer.get_submodule(place) for place in places.values()]
                groups.append((f"layer.{index}.{name}", linears))
        return groups

    def _nodes(self) -> None:
        for name, linears in self.groups():
            x = f"x.{linears[0].in_features}"
            scale = None if self.dtype == "float32" else "scaled later"
            self._multiplied(name, Operand(x, scale), partial(_weight, linears))

    def _inputs(self) -> list[Any]:
        kind = TensorProto.FLOAT if self.dtype == "float32" else TensorProto.UINT8
        sizes = sorted({linears[0].in_features for _, linears in self.groups()})
        make = helper.make_tensor_value_info
        return [make(f"x.{size}", kind, ["rows", size]) for size in sizes]

    def _outputs(self) -> list[Any]:
        make = helper.make_tensor_value_info
        return [
            make(name, TensorProto.FLOAT, ["rows", sum(each.out_features for each in linears)])
            for name, linears in self.groups()
        ]


def _weight(linears: Sequence[Any]) -> Tensor:
    """The weights of linear layers, one below the other."""
    return torch.cat([linear.weight.detach().float() for linear in linears])


def products_of(model: Any, dtype: Any) -> Callable[[int], None]:
    """Make a function that multiplies so many rows by all weights. dtype: one of methods.DTYPES."""
    exporter = Products(model, dtype)
    saturates = dtype == "int8" and not products_are_exact()
    with TemporaryDirectory() as folder:
        exporter.write(Path(folder))
        session = session_of(f"{folder}/{GRAPH_FILE}", threads_of(model), saturates=saturates)
    sizes = {each.name: each.shape[1] for each in session.get_inputs()}
    kind = np.float32 if dtype == "float32" else np.uint8

    def multiply(num_rows: int) -> None:
        session.run(
            None, {name: np.full((num_rows, size), MIDDLE, kind) for name, size in sizes.items()}
        )

    return multiply
