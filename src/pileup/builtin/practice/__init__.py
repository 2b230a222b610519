"""Practice targets of known truth, as kinds of targets."""
