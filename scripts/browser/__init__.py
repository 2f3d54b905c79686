"""Commands about the engine that decodes in the visitor's browser."""
