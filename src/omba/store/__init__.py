"""What is kept of a model on disk: its folder, with snapshots, history and journal."""

from omba.store.folder import ModelFolder
from omba.store.history import Entry, History, Keep

__all__ = ["Entry", "History", "Keep", "ModelFolder"]
