"""Whether pileup itself was the limit, and what it costs."""
