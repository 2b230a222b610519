"""XRootD: target, clients beside the engine's own, launcher, settings, monitor."""
