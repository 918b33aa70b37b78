"""Service: the model over HTTP, and the dashboard beside it."""
