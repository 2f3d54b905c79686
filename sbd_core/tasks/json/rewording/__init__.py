"""Other words for what a request for JSON and its text say."""
