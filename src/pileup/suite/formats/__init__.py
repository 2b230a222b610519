"""A suite file to one tree and back, whatever its format: YAML, XML."""
