"""The static site: README, documents, manual, and the pages of the Swift libraries, made from the sources of each."""
