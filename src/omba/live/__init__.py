"""Live: baskets from any source into a journal, learned window by window as event time moves on, and published."""

from omba.live.inbox import Inbox, Receipt
from omba.live.learner import Learner
from omba.live.process import LearnerProcess, start
from omba.live.status import status

__all__ = ["Inbox", "Learner", "LearnerProcess", "Receipt", "start", "status"]
