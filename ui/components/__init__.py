"""The page's parts, one a file: they carry markup and scripts from assets/, decide nothing.

Each is a function that makes a plain gr.HTML: for every subclass, Gradio would write a .pyi file
beside its source and need a constructor that takes all of gr.HTML's arguments.
"""
