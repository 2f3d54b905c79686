"""Backends of the forward pass: transformers' modules, fused Llama, CUDA graphs, ONNX Runtime."""
