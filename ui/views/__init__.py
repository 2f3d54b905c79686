"""What the page shows: its views, its form, its head and its charts."""
