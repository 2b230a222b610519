"""The computing element ARC CE: target, launcher, settings, monitor."""
