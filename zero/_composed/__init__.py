"""Operators composed of others, in plain Python. Their public names are those of `zero`."""
