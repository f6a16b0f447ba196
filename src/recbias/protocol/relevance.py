"""Relevance: from a rating in the test set to relevant or not, and to a gain.

Both say something about judged pairs only. A pair without a test rating is unjudged: it has no
value here, and a gain of 0 where a ranking metric needs one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import exact
from recbias.errors import ConfigError, unknown_name

_NAMES = ("binary", "linear", "exp", "ranksys", "steps", "err")


def relevant(values: npt.NDArray[np.float64], min_rating: float) -> npt.NDArray[np.bool_]:
    """Tell which ratings make their item relevant.

    Parameters
    ----------
    values : float64 array (n,)
        Ratings.
    min_rating : float
        The smallest relevant rating.

    Returns
    -------
    bool array (n,)
        True where the value is at or above `min_rating`.

    Examples
    --------
    >>> relevant(np.array([3.5, 4.0, 5.0]), 4)
    array([False,  True,  True])
    """
    return values >= min_rating


@dataclass(frozen=True)
class GainMap:
    r"""How much a rating r is worth in a list, as a value that prints and parses back.

    With the threshold :math:`\theta` (`min_rating`) and the top of the scale :math:`r_{max}`:

    ========  =======================================================================
    binary    1 if :math:`r \ge \theta`, else 0
    linear    r if :math:`r \ge \theta`, else 0
    exp       :math:`\max(0, (2^{r-1} - 1) / (2^{r_{max}-1} - 1))`, without a threshold
    err       :math:`\max(0, (2^{r-1} - 1) / 2^{r_{max}-1})`, without a threshold
    ranksys   :math:`2^{r-\theta+1} - 1` if :math:`r \ge \theta`, else 0
    steps     :math:`r-\theta+1` if :math:`r \ge \theta`, else 0
    ========  =======================================================================

    ``exp`` and ``err`` are clamped at 0 because half stars go below 1. They differ by a factor, so
    that nDCG is the same; ``err`` stays below 1, the chance that a rating satisfies a reader.

    Parameters
    ----------
    name : {"binary", "linear", "exp", "err", "ranksys", "steps"}
        Which map.

    Raises
    ------
    ConfigError
        If there is no map of that name.

    References
    ----------
    CCM20 (``binary``, ``exp``, and ``err`` after O. Chapelle et al., CIKM 2009); BCC17 Fig. 8
    (``linear``); the RankSys framework (``ranksys``); the code of TOIS21 (``steps``).

    Examples
    --------
    >>> GainMap("ranksys").gains(np.array([3.0, 4.0, 5.0]), min_rating=4)
    array([0., 1., 3.])
    >>> GainMap.parse("exp").gains(np.array([1.0, 3.0, 5.0]), min_rating=4, rating_max=5)
    array([0. , 0.2, 1. ])
    """

    name: str

    def __post_init__(self) -> None:
        if self.name not in _NAMES:
            raise unknown_name("gain map", self.name, _NAMES)

    def __str__(self) -> str:
        return self.name

    @classmethod
    def parse(cls, text: str) -> GainMap:
        """Read a gain map from its printed form; ConfigError if there is none of that name."""
        return cls(text)

    def gains(
        self,
        values: npt.NDArray[np.float64],
        *,
        min_rating: float,
        rating_max: float | None = None,
    ) -> npt.NDArray[np.float64]:
        """Map ratings to gains.

        Parameters
        ----------
        values : float64 array (n,)
            Ratings.
        min_rating : float
            The smallest relevant rating; ``exp`` and ``err`` do not look at it.
        rating_max : float, optional
            Top of the rating scale, above 1; only ``exp`` and ``err`` need it.

        Returns
        -------
        float64 array (n,)
            Gains, none negative.

        Raises
        ------
        ConfigError
            If the map is ``exp`` or ``err`` and `rating_max` is None or not above 1; if a gain
            would be negative (``linear`` with a threshold below 0) or too large for a number.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            gains = self._mapped(values, min_rating, rating_max)
        if not (np.isfinite(gains) & (gains >= 0)).all():
            raise ConfigError(
                f"gain map '{self.name}' with ratings from {exact(values.min())} to "
                f"{exact(values.max())}: a gain would be below 0 or infinite\n"
                "use the gain map 'binary', or 'steps' for any scale"
            )
        return gains

    def _mapped(
        self, values: npt.NDArray[np.float64], min_rating: float, rating_max: float | None
    ) -> npt.NDArray[np.float64]:
        if self.name in ("exp", "err"):
            if rating_max is None or not rating_max > 1:
                raise ConfigError(
                    f"gain map '{self.name}' with the largest rating {rating_max}: expected a "
                    "rating scale that ends above 1\n"
                    "use the gain map 'binary' for data without stars, or 'ranksys', 2^r - 1"
                )
            top = np.exp2(rating_max - 1) - (self.name == "exp")
            return np.maximum(0.0, (np.exp2(values - 1) - 1) / top)
        if self.name == "binary":
            return relevant(values, min_rating).astype(np.float64)
        above = values - min_rating + 1
        gain = {"linear": values, "steps": above, "ranksys": np.exp2(above) - 1}[self.name]
        return np.where(relevant(values, min_rating), gain, 0.0)
