"""`make faults`: the service as real processes, broken at random, and a checker of what it did."""
