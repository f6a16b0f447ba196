"""What a page chooses where its reader leaves it open: from which rating on, how large a sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from recbias.book.systems.line_up import relevance_threshold
from recbias.data.datasets import dataset_info, is_path, load_dataset, registry, top_rating
from recbias.data.datasets.liked import LEAST
from recbias.data.ratings import Ratings, exact
from recbias.errors import ConfigError
from recbias.experiment.run import Results
from recbias.metrics import Metric, parse_metric
from recbias.protocol.relevance import GainMap, relevant
from recbias.protocol.splits import Split
from recbias.protocol.targets import n_all_targets
from recbias.protocol.testset import dataset_splits

SIZE = 100
"""Size of a 1R target set in the papers: BCC17 Sec. 3."""

_FULL = 0.1
"""Share of the users who may have a smaller pool than what is called full."""


def choose_size(dataset: str, size: int | None, *, min_rating: float, split: str, seed: int) -> int:
    """Choose the size of a 1R target set: the papers', or what a reader's table can fill."""
    if size is not None or not is_path(dataset):
        return SIZE if size is None else size
    folds = dataset_splits(load_dataset(dataset), split, seed=seed)
    half = max(2, full_pool(folds[0], min_rating=min_rating) // 2)
    return min(SIZE, half, largest_pool(folds, min_rating=min_rating) + 1)


def full_pool(split: Split, *, min_rating: float) -> int:
    """Count the tested items that nine of ten users have to sample from."""
    test = split.test
    is_relevant = relevant(test.value, min_rating)
    positives = np.bincount(test.user[is_relevant], minlength=test.n_users)
    pools = (n_all_targets(split, "TI") - positives)[positives > 0]
    return int(np.quantile(pools, _FULL, method="lower")) if len(pools) else 0


def largest_pool(folds: Sequence[Split], *, min_rating: float) -> int:
    """Count the tested items that some user has to sample from, in the fold with fewest."""
    pools = []
    for fold in folds:
        positives = fold.test.user[relevant(fold.test.value, min_rating)]
        of_users = np.bincount(positives, minlength=fold.test.n_users)
        pools.append(int((n_all_targets(fold, "TI") - of_users).max()))
    return min(pools)


def lowest_rating(dataset: str) -> float:
    """Give a number that no rating is below.

    0, or of a table its lowest rating, if that is less.
    """
    return min(0.0, load_dataset(dataset).ratings.scale.minimum) if is_path(dataset) else 0.0


def written(**choices: float) -> dict[str, str]:
    """Write numbers as a page quotes them: whole ones with separators, all others exactly.

    Examples
    --------
    >>> written(size=1000, min_rating=-0.5, n_seeds=5)
    {'size': '1,000', 'min_rating': '-0.5', 'n_seeds': '5 seeds'}
    """
    texts = {
        name: f"{value:,}" if isinstance(value, int) and name != "cutoff" else exact(value)
        for name, value in choices.items()
    }
    if "n_seeds" in texts:
        texts["n_seeds"] += " seed" if choices["n_seeds"] == 1 else " seeds"
    return texts


def observed_items() -> dict[str, str]:
    """Say what items observed ratings are of, for pages on data with random judgments beside them.

    Examples
    --------
    >>> observed_items()["observed_cm100k"]
    'that users had known before'
    """
    infos = (dataset_info(name) for name in registry())
    return {f"observed_{info.name}": info.observed for info in infos if info.observed}


def threshold_note(results: Results) -> str:
    """Say that a threshold was taken from the data, if it was."""
    dataset = results.grid.dataset
    if not is_path(dataset):
        return ""
    ratings = load_dataset(dataset).ratings
    usual = ratings.scale.maximum
    reached = float((ratings.value >= usual).mean())
    chosen = {top_rating(dataset), relevance_threshold(dataset)}
    chosen &= {protocol.min_rating for protocol in results.grid.parsed.values()}
    if reached >= LEAST or not chosen:
        return ""
    min_rating = min(chosen)
    share = float((ratings.value >= min_rating).mean())
    return (
        f"The top of the scale, {exact(usual)}, is {100 * reached:.2g} % of the ratings, too few "
        f"to measure by. So what is relevant is taken **from the data**: {exact(min_rating)} or "
        f"more, {100 * share:.0f} % of the ratings. `-p min_rating NUMBER` sets another threshold."
    )


def measurable(dataset: str, metrics: Iterable[str], *, min_rating: float) -> tuple[str, ...]:
    """Choose the metrics that a reader's table can have."""
    asked = tuple(metrics)
    barred = _barred(dataset, asked, min_rating)
    return tuple(text for text in asked if text not in barred)


def left_out_metrics(dataset: str, metrics: Iterable[str], *, min_rating: float) -> str:
    """Say which metrics `measurable` leaves out, and why."""
    by_reason: dict[str, list[str]] = {}
    for text, reason in _barred(dataset, metrics, min_rating).items():
        by_reason.setdefault(reason, []).append(text)
    listed = "; ".join(f"{', '.join(texts)} ({reason})" for reason, texts in by_reason.items())
    return f"**Not measured**, as these data cannot have it: {listed}." if listed else ""


def _barred(dataset: str, metrics: Iterable[str], min_rating: float) -> dict[str, str]:
    """Say by metric why a reader's table, which is read once, cannot have it, where it cannot."""
    if not is_path(dataset):
        return {}
    ratings, barred = load_dataset(dataset).ratings, {}
    for text in metrics:
        metric = parse_metric(text)
        if metric.cutoff is not None and metric.cutoff > ratings.n_items:
            barred[text] = f"there are {ratings.n_items:,} items"
        elif not _has_gains(ratings, metric, min_rating):
            barred[text] = "ratings of this scale have no such gain"
    return barred


def _has_gains(ratings: Ratings, metric: Metric, min_rating: float) -> bool:
    gain = getattr(metric, "gain", None)
    if not isinstance(gain, GainMap):
        return True
    try:
        gain.gains(ratings.value, min_rating=min_rating, rating_max=ratings.scale.maximum)
    except ConfigError:
        return False
    return True
