"""Any program as a test or a monitor, and how programs are run."""
