"""Sources: files, data frames and lists, turned into baskets in time order."""

from omba.sources.reading import read_baskets, stream_baskets
from omba.sources.stream import BasketStream

__all__ = ["BasketStream", "read_baskets", "stream_baskets"]
