"""What all tests share: hypothesis without deadlines, since kernels are compiled on first use."""

from hypothesis import settings

settings.register_profile("omba", deadline=None)
settings.load_profile("omba")
