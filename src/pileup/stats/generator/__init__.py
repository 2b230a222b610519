"""Whether pileup itself was the bottleneck, and what it costs."""
