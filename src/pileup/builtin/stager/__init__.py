"""Worker nodes with a stager each, XRootD with frm_xfrd, over one practice tape library."""
