"""Evaluations beside the one that counts: stored whole, and nothing follows from them.

No run, task, review, remediation or notice is touched; what they cost is told to their hold.
"""
