"""What a deal says: typed terms, records and their checks.

Nothing here reads files, simulates or prints.
"""
