"""From logs to statements: importers, records of a statement, the statement itself, claims, comparisons."""
