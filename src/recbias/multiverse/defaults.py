"""The options that are crossed where a reader names none: fixed before any result of theirs.

They were chosen from the table of decisions (`recbias.experiment.decisions`), by who says that they
used them, and committed before the first multiverse was computed. A decision has two to six of
them; the first is where a comparison starts. What is not there: samples of other sizes and shared
samples, which cost a pass over the scores each; dispersion and popularity of lists, by which nobody
is better; medians, whose users cannot be exchanged.
"""

from __future__ import annotations

from recbias.data.datasets import Dataset
from recbias.data.datasets.liked import step_below_top, told_apart
from recbias.data.ratings import exact

__all__ = ["default_options"]

_BEFORE_THRESHOLD = {
    # all (CCM20); half of them (CCM20); the usual filter of rare items
    "A1": ("", "data: keep=50%", "data: items>=5"),
    # CCM20; one of the folds of BCC17 and MCCRS20; the usual rule where ratings are few; BCC17's
    # answer to popularity; BCC17; the same for each user
    "A2": (
        "split: ratio 0.5",
        "split: ratio 0.2",
        "split: leave-out 1",
        "split: uniform 0.2",
        "split: temporal 0.2",
        "split: temporal-user 0.2",
    ),
    # BCC17; MCCRS20; who could be served at all; CCM20
    "B1": ("", "users=tested", "users=relevant", "users=trained"),
    # all of CCM20
    "B2": ("", "unscored=random", "unscored=popularity", "unscored=average-rating"),
    # MCCRS20 and CCM20; both too; BCC17; BCC17
    "C1": ("AI-AN-AR", "condensed", "TI-AN-AR", "TI-NN-1R t=100"),
    # CCM20; BCC17, MCCRS20 and CCM20; CCM20; MCCRS20; half as deep; the order of judged items
    "C2": (
        "metric: nDCG@10",
        "metric: P@10",
        "metric: RBP(0.8)",
        "metric: antiP@10",
        "metric: nDCG@5",
        "metric: AUC",
    ),
}
_AFTER_THRESHOLD = {
    # CCM20's g1; BCC17; CCM20's g2
    "C2 gain": ("gain: binary", "gain: linear", "gain: exp"),
    # BCC17 and CCM20; all others CCM20
    "C3": ("", "statistic=geometric", "weights=ratings", "weights=relevant"),
    # both of CCM20
    "C4": ("", "coverage=reduced"),
    # CCM20; BCC17
    "D": ("pairs: t", "pairs: wilcoxon"),
}


def default_options(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """Give the options of each decision that are crossed by default.

    Only thresholds follow the data: one step below the top of the scale (MCCRS20, CCM20), the step
    above (BCC17) and the one below, as far as the scale has them and a rating reaches them. Of two
    that like the same ratings, as on merged stars, one is there.

    Parameters
    ----------
    dataset
        Loaded data set.

    Returns
    -------
    dict of str to tuple of str
        As `recbias.multiverse.universes` takes them. Decisions have the names of CCM20; what that
        paper discusses as parts of one, the metric, is three of them.

    References
    ----------
    CCM20 Sec. 3; setups of BCC17 Sec. 3.3, MCCRS20 Sec. 5, CCM20 Sec. 4.

    Examples
    --------
    >>> from recbias import load_dataset
    >>> options = default_options(load_dataset("synthetic"))
    >>> options["C2 threshold"], min(map(len, options.values())), max(map(len, options.values()))
    (('rel>=4', 'rel>=5', 'rel>=3'), 2, 6)
    """
    scale, values = dataset.ratings.scale, dataset.ratings.value
    usual = step_below_top(scale, values)
    others = [other for other in (usual + 1, usual - 1) if scale.minimum < other <= values.max()]
    thresholds = tuple(f"rel>={exact(number)}" for number in told_apart((usual, *others), values))
    return {**_BEFORE_THRESHOLD, "C2 threshold": thresholds, **_AFTER_THRESHOLD}
