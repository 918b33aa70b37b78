"""The learner: one embedding space for products and users, kept current window by window."""

from omba.model.omba import OMBA

__all__ = ["OMBA"]
