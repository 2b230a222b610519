"""HTTP and WebDAV: targets, the test of one request, curl as a client."""
