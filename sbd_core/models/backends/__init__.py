"""Which forward runs: transformers' own modules, fused Llama, CUDA graphs, ONNX Runtime."""
