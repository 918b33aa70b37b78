"""Baskets in columns, over a growing vocabulary, cut into windows."""

from omba.baskets.baskets import Basket, Baskets
from omba.baskets.clock import Clock, Moment
from omba.baskets.label import find_label
from omba.baskets.row_report import Report
from omba.baskets.vocabulary import Label, Vocabulary
from omba.baskets.windows import Every

__all__ = ["Basket", "Baskets", "Clock", "Every", "Label", "Moment", "Report", "Vocabulary", "find_label"]
