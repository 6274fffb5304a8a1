"""One fit on many machines: the engine whose blocks live on the workers of a Dask cluster."""
