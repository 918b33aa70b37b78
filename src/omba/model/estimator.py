"""Estimator: settings, tags and looks of a model, in scikit-learn's manner."""

from __future__ import annotations

from typing import Any, Self

from omba.settings import SETTINGS, Value, as_plain, check


class Estimator:
    """A learner whose settings are its attributes."""

    n_windows: int

    def _reset(self) -> None:
        """Forget what was learned; the learner tells how."""

    def get_params(self, deep: bool = True) -> dict[str, Value]:
        """Every setting and its value.

        Parameters
        ----------
        deep
            Not used; scikit-learn hands it on.

        >>> from omba import OMBA
        >>> OMBA(dim=50).get_params()["dim"]
        50
        """
        return {name: getattr(self, name) for name in SETTINGS}

    def set_params(self, **params: Any) -> Self:
        """Change settings and begin anew: what was learned so far is dropped.

        Parameters
        ----------
        params
            Settings by name.

        >>> from omba import OMBA
        >>> OMBA().set_params(dim=50)
        OMBA(dim=50)
        """
        check(params)
        for name, value in params.items():
            setattr(self, name, value)
        self._reset()
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator: no target, and nothing that is known beforehand of its input."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __sklearn_is_fitted__(self) -> bool:
        return self.n_windows > 0

    def __repr__(self) -> str:
        changed = [f"{n}={as_plain(v)!r}" for n, v in self.get_params().items() if v != SETTINGS[n].default]
        return f"{type(self).__name__}({', '.join(changed)})"
