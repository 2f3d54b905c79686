"""Models behind one small protocol: loading, tokenizer text, backends."""
