"""What scripts/generate-docs is made of: the command line as data, and what is written from it."""
