"""Who pileup is for a target, and whom it believes: tokens, certificates, authorities."""
