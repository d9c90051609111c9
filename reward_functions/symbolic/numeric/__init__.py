"""Values with proven error bounds, and equality tested at points."""
