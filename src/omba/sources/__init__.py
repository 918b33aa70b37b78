"""Sources: files, data frames and lists, turned into baskets in time order."""

from omba.sources.reading import as_baskets, read_baskets, stream_baskets
from omba.sources.stream import BasketStream

__all__ = ["BasketStream", "as_baskets", "read_baskets", "stream_baskets"]
