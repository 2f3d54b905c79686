"""Backends, which make forward passes: transformers, fused Llama, CUDA graphs and ONNX Runtime."""
