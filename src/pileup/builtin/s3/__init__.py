"""S3: targets, and who pileup is for them."""
