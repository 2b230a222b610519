"""ROOT files and histograms: data sets that are generated in place, and queries of them."""
