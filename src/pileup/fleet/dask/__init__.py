"""Places on the workers of a Dask cluster: Dask finds and watches them, and carries the bytes of the wire to them."""
