"""The batch system Slurm: target, launcher, settings, monitor."""
