"""Texts that hold a rule: pinned by people, beside those that stand in the file."""
