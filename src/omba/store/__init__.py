"""What is kept on disk beside the model: the history of its rules."""

from omba.store.history import Entry, History, Keep

__all__ = ["Entry", "History", "Keep"]
