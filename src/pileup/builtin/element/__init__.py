"""A practice computing element: a service whose jobs are rows of a real MariaDB, before the practice batch system."""
