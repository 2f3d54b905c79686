"""The ONNX Runtime backend for CPUs: it writes a loaded model as a graph, and runs the graph."""
