"""Feature selection by a low-rank model of the joint distribution; a pure library."""
