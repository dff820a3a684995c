"""One rule to a module. Each has an `ID`, and `find(deal)` that yields what it raises."""
