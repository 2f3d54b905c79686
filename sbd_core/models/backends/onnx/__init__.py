"""Forward passes by ONNX Runtime on the CPU: a graph of loaded weights, and its use."""
