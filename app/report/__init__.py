"""Pictures and words about a result, made from its document alone."""
