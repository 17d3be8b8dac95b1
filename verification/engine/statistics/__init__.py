"""Figures of agreement from tables of counts. Pure: the same counts give the same figures."""
