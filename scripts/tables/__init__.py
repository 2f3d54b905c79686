"""The parts of scripts.write_tables: results files in, Markdown out."""
