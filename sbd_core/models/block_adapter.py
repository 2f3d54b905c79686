"""An adapter that only the rows of a block read: its values, its sampler head, and its folder.

After gated LoRA (Samragh et al. 2025, arXiv 2507.11851): each linear layer W of the base becomes
W x + B A x for the rows of a block, masked or revealed, and stays W x for causal rows. Next-token
prediction, the KV cache and the logits that verify checks by are then the base's own. Unlike in the
paper, weights are added; the base's stay as they are. The sampler head reweighs a block's row once
the token before it is known.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.functional import linear, rms_norm, silu

from sbd_core.config import Calibration, StrategyName
from sbd_core.errors import ArgumentError, ModelError, one_line, shown
from sbd_core.json_node import json_of
from sbd_core.models.model_folder import ADAPTER_INFO, DEFAULT_CPU_DTYPE
from sbd_core.sampling import top

FORMAT_VERSION = 1
LINEARS = {
    "q": "self_attn.q_proj",
    "k": "self_attn.k_proj",
    "v": "self_attn.v_proj",
    "o": "self_attn.o_proj",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}
"""Linear layers that an adapter adds to: {name here: name in a layer of a Llama-shaped model}."""
GROUPS = {
    "query_key_value": ("q", "k", "v"),
    "out": ("o",),
    "gate_up": ("gate", "up"),
    "down": ("down",),
}
"""Linear layers with the same input, which forward passes compute as one."""
MOST_BYTES = 9_000_000
"""Largest file in bytes, as some hosts refuse files of 10 MB."""


Pairs = Sequence[tuple[Tensor, Tensor]]
"""A (rank, in) and B (out, rank) of linear layers side by side."""
AdapterLayers = Sequence[Mapping[str, tuple[Tensor, Tensor]]]
"""Per layer, {name in LINEARS: (A, B)}."""


def side_by_side(pairs: Pairs) -> tuple[Tensor, Tensor]:
    """Join the (A, B) of linear layers with the same input to one (A, B).

    If all have the same A, it is kept once and the B are stacked; else the B are block-diagonal.
    """
    downs, ups = zip(*pairs, strict=True)
    if all(torch.equal(down, downs[0]) for down in downs[1:]):
        return downs[0], torch.cat(ups)
    return torch.cat(downs), torch.block_diag(*ups)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockAdapterInfo:
    """Description of an adapter in its folder.

    base: name of the base model (sbd_core.models.bases) or its hub id.
    base_digest: digest of the base's weights; Fingerprint.values of peft_adapter.py.
    rank: of every B A. block_range: smallest and largest trained block size.
    mask_token, mask_token_id: the token whose row is added to the embedding.
    repetition_penalty: the penalty that its training text was written under.
    trained: facts of the training, such as masked tokens seen and minutes.
    strategy: what the adapter was trained for, and so the default.
    cpu_dtype: default dtype of the weights on a CPU.
    calibration: of its drafts; None is Calibration().
    """

    base: str
    base_digest: str
    rank: int
    block_range: tuple[int, int]
    mask_token: str
    mask_token_id: int
    repetition_penalty: float
    trained: Mapping[str, Any]
    strategy: StrategyName = "verify"
    cpu_dtype: str = DEFAULT_CPU_DTYPE
    calibration: Calibration | None = None

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "BlockAdapterInfo":
        """Read JSON data. Raises ValueError, KeyError, TypeError or ArgumentError."""
        low, high = told["block_range"]
        how_right = told.get("calibration")
        values = {
            "block_range": (int(low), int(high)),
            "calibration": None if how_right is None else Calibration(**how_right),
        }
        return cls(**{**told, **values})


@dataclass(frozen=True, slots=True)
class BlockAdapter:
    """An adapter. layers[i][name]: A (rank, in) and B (out, rank) of one of LINEARS.

    mask_embedding: (hidden,). sampler: the `into` and `out` of a SamplerHead, None without.
    """

    info: BlockAdapterInfo
    layers: tuple[Mapping[str, tuple[Tensor, Tensor]], ...]
    mask_embedding: Tensor
    sampler: tuple[Tensor, Tensor] | None = None

    def sampler_head(self, model: Any) -> "SamplerHead | None":
        """The adapter's sampler head, None without; model: the transformers model it belongs to."""
        if self.sampler is None:
            return None
        into, out = (part.to(model.device, torch.float32) for part in self.sampler)
        embedding, head = model.get_input_embeddings(), model.get_output_embeddings()
        return SamplerHead(into, out, embedding.weight.detach(), head.weight.detach())

    @classmethod
    def of(cls, info: BlockAdapterInfo, tensors: Mapping[str, Tensor]) -> "BlockAdapter":
        """The adapter of tensors(), other tensors ignored. Raises KeyError, ValueError."""
        layers: dict[int, dict[str, tuple[Tensor, Tensor]]] = {}
        for key in tensors:
            if key.startswith("layers.") and key.endswith(".A"):
                _, index, name, _ = key.split(".")
                pair = tensors[key], tensors[f"{key[:-1]}B"]
                layers.setdefault(int(index), {})[name] = pair
        ordered = tuple(layers[index] for index in range(len(layers)))
        into, out = tensors.get("sampler.into"), tensors.get("sampler.out")
        sampler = None if into is None or out is None else (into, out)
        return cls(info, ordered, tensors["mask_embedding"], sampler)

    def tensors(self) -> dict[str, Tensor]:
        """All tensors by the names that they are stored under."""
        tensors = {"mask_embedding": self.mask_embedding}
        for index, layer in enumerate(self.layers):
            for name, (down, up) in layer.items():
                tensors[f"layers.{index}.{name}.A"] = down
                tensors[f"layers.{index}.{name}.B"] = up
        if self.sampler is not None:
            tensors["sampler.into"], tensors["sampler.out"] = self.sampler
        return tensors


def write_block_adapter(adapter: BlockAdapter, folder: Path) -> None:
    """Write an adapter in bf16 into an existing folder, in files small enough for any host."""
    files: list[dict[str, Tensor]] = [{}]
    size = 0
    for name, tensor in adapter.tensors().items():
        for part_name, part in _parts(name, tensor.detach().to("cpu", torch.bfloat16)):
            bytes_of_part = part.numel() * 2
            if files[-1] and size + bytes_of_part > MOST_BYTES:
                files.append({})
                size = 0
            files[-1][part_name] = part.contiguous()
            size += bytes_of_part
    for old in folder.glob("block_adapter-*.safetensors"):
        old.unlink()
    names = [
        f"block_adapter-{n:05}-of-{len(files):05}.safetensors" for n in range(1, len(files) + 1)
    ]
    for name, tensors in zip(names, files, strict=True):
        save_file(tensors, folder / name)
    data = {"format_version": FORMAT_VERSION, "files": names, **asdict(adapter.info)}
    (folder / ADAPTER_INFO).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def _parts(name: str, tensor: Tensor) -> list[tuple[str, Tensor]]:
    """Split a tensor by rows where it is larger than a file may be."""
    num_rows = max(1, MOST_BYTES * tensor.shape[0] // max(1, tensor.numel() * 2))
    if num_rows >= tensor.shape[0]:
        return [(name, tensor)]
    return [(f"{name}#{i}", part) for i, part in enumerate(tensor.split(num_rows))]


def read_info(folder: Path) -> tuple[BlockAdapterInfo, list[str]]:
    """The info of an adapter's folder and the names of its weight files. Raises ModelError."""
    place = shown(str(folder / ADAPTER_INFO))
    try:
        data = json_of((folder / ADAPTER_INFO).read_text(encoding="utf-8"))
        version = data.pop("format_version")
        files = data.pop("files")
        info = BlockAdapterInfo.of(data)
        low, high = info.block_range
        is_list_of_names = isinstance(files, list) and all(
            isinstance(name, str) and Path(name).name == name for name in files
        )
        if version != FORMAT_VERSION or not is_list_of_names or not 1 <= low <= high:
            raise ValueError("another format")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ArgumentError) as error:
        raise ModelError(f"model: {place} is damaged, or of a newer version of sbd_core") from error
    return info, files


def read_block_adapter(folder: Path) -> BlockAdapter:
    """The adapter of a folder. Raises ModelError for one that is damaged or not whole."""
    info, files = read_info(folder)
    stored: dict[str, Tensor] = {}
    for name in files:
        try:
            with safe_open(folder / name, "pt") as file:
                stored.update({key: file.get_tensor(key) for key in file.keys()})  # noqa: SIM118
        except (OSError, SafetensorError) as error:
            raise ModelError(
                f"model: {shown(str(folder / name))} is damaged: {one_line(error)}"
            ) from error
    try:
        return BlockAdapter.of(info, _joined(stored))
    except (KeyError, ValueError) as error:
        raise ModelError(
            f"model: {shown(str(folder))} lacks {shown(error.args[0])} of its block adapter"
        ) from error


def _joined(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Tensors that were stored in pieces, whole again."""
    whole = {name: tensor for name, tensor in stored.items() if "#" not in name}
    for name in sorted({name.split("#")[0] for name in stored if "#" in name}):
        count = sum(other.startswith(f"{name}#") for other in stored)
        whole[name] = torch.cat([stored[f"{name}#{i}"] for i in range(count)])
    return whole


NUM_ANCHORS = 1024
"""Number of tokens from whose logits a row's hidden state is recovered."""
NUM_CANDIDATES = 96
"""Number of likeliest tokens of a row that a sampler head reweighs."""
MAX_KEPT_TOKENS = 512
"""Number of tokens whose part of `into @ x` is cached, as most drafted tokens come again."""


class SamplerHead:
    """A small head that reweighs a block's row once the token before it is known.

    With h the row's hidden state after the last norm, e the embedding of the token before and
    x = [h, e], each over its root mean square: h becomes h + out @ (silu(gate) * up), where
    [gate, up] = into @ x. Logits are linear in h, so h is recovered from those of the anchors,
    whatever the backend.
    """

    def __init__(self, into: Tensor, out: Tensor, embedding: Tensor, head: Tensor) -> None:
        """Shapes: into (2 width, 2 hidden), out (hidden, width), the others (vocab, hidden)."""
        # Transposed, as a CPU multiplies few rows by it in two thirds of the time.
        self._of_hidden, self._of_token = (part.t().contiguous() for part in into.chunk(2, 1))
        self._kept: dict[int, Tensor] = {}
        self._out = out
        self._embedding, self._head = embedding, head
        size = head.shape[0]
        step = max(1, size // NUM_ANCHORS)
        self._anchors = torch.arange(0, size, step, device=head.device)
        rows = head[self._anchors].double()
        inverse = torch.linalg.pinv(rows.t() @ rows, hermitian=True) @ rows.t()
        self._back = inverse.float().contiguous()

    @torch.inference_mode()
    def begin(self, logits: Tensor) -> "SamplerWalk":
        """Prepare to reweigh the rows of `logits` (rows, vocab), before any of them is changed."""
        hidden = linear(logits[:, self._anchors], self._back)
        likeliest = top(logits, min(NUM_CANDIDATES, logits.shape[1]))[0]
        weights = self._head.index_select(0, likeliest.view(-1))
        return SamplerWalk(
            logits,
            _normed(hidden) @ self._of_hidden,
            likeliest,
            weights.float().view(*likeliest.shape, -1),
            self,
        )

    def change(self, of_hidden: Tensor, token_id: int) -> Tensor:
        """The change of a hidden state after a token. of_hidden: the state's part of `into @ x`."""
        kept = self._kept.get(token_id)
        if kept is None:
            kept = _normed(self._embedding[token_id].float()) @ self._of_token
            if len(self._kept) >= MAX_KEPT_TOKENS:
                self._kept.clear()
            self._kept[token_id] = kept
        gate, up = (of_hidden + kept).chunk(2)
        return self._out.mv(silu(gate) * up)


@dataclass(frozen=True, slots=True)
class SamplerWalk:
    """Rows whose likeliest tokens a SamplerHead reweighs, one after the other.

    logits (rows, vocab). of_hidden (rows, 2 width): the hidden states' part of `into @ x`.
    likeliest (rows, n): token ids. weights (rows, n, hidden): their rows of the output layer.
    """

    logits: Tensor
    of_hidden: Tensor
    likeliest: Tensor
    weights: Tensor
    head: SamplerHead

    @torch.inference_mode()
    def add_to(self, row: int, token_id: int) -> None:
        """Reweigh the logits of a row in place, now that `token_id` stands before its position."""
        change = self.head.change(self.of_hidden[row], token_id)
        self.logits[row].index_add_(0, self.likeliest[row], self.weights[row] @ change)


def _normed(x: Tensor) -> Tensor:
    return rms_norm(x, x.shape[-1:])


def sampler_change(hidden: Tensor, before: Tensor, into: Tensor, out: Tensor) -> Tensor:
    """The change (.., hidden) that a SamplerHead of `into` and `out` makes to hidden states.

    hidden, before (.., hidden): the states, and the embeddings of the tokens before them.
    """
    gate, up = linear(torch.cat([_normed(hidden), _normed(before)], -1), into).chunk(2, -1)
    return linear(silu(gate) * up, out)
