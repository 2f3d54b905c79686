"""The model behind one small protocol, a Hugging Face adapter, and a scripted double."""
