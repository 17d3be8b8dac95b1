"""Defects put into the engine from outside, to see whether the golden corpus alone finds them."""
