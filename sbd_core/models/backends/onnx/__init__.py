"""The ONNX Runtime backend for CPUs: it exports a loaded model as ONNX graphs, and runs these."""
