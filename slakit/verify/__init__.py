"""Checks a document that we made: it is made again from what it carries, and every difference is named.

`slakit.verify.verification.verify` does it. Nothing is imported here: the processes that look into a file start from
this package and need little of it.
"""
