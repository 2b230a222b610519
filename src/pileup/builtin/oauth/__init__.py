"""Token issuers (OAuth 2.0): the kind of target, its tests, and tokens that are renewed during a run."""
