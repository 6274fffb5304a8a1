"""How long a run will take, from the shape of its table and from what a worker's core can do.

Each file counts the work of one part, phase by phase, as the code of that part does it. What
depends on the data (how many configurations are worth a look, when a fit has converged, how many
features are kept) is taken as it was on the tables of `make bench-cost`.
"""
