"""What steers loads by what is measured: pure arithmetic, stepped from outside; no clock, no thread, no I/O."""
