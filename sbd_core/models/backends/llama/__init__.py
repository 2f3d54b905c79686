"""The fused PyTorch forward pass of Llama-shaped models, and its replay as CUDA graphs."""
