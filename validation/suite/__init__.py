"""What the studies of `ductile validate` share: running scenes, plots, checks and the report."""
