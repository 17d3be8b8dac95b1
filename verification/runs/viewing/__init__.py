"""Viewers: submitted content as people read it, beside its source."""
