"""How real servers of the field are started privately: configuration, certificates, tokens."""
