"""Language models behind one small protocol: loading, tokenizing, backends of forward passes."""
