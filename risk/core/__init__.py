"""What every risk shares: the protocol, months, random streams, computed values."""
