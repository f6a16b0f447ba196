"""What a rerun is asked for, held against its data before a kernel starts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recbias.book.choosing import largest_pool
from recbias.data.datasets import Dataset, dataset_info, is_path, load_dataset, top_rating
from recbias.data.ratings import exact
from recbias.errors import ConfigError
from recbias.protocol.splits import Split, SplitRule, warn_of_other_share
from recbias.protocol.testset import dataset_splits

LEAST_TESTED = 10
"""Ratings that the test of each fold has to have."""
_LISTED = 10
"""Items of a list that pages look at which have no other cutoff."""


def check_data(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Refuse a table that cannot be read, and parameters that no data, or not these, can have."""
    dataset, least = values["dataset"], values.get("min_rating")
    params = {**defaults, **values}
    rule = SplitRule.parse(str(params["split"] or "k-fold 5")) if "split" in params else None
    if not is_path(dataset):
        highest = dataset_info(dataset).scale.maximum
        title = dataset
    else:
        loaded = load_dataset(dataset)
        highest, title = float(loaded.ratings.value.max()), loaded.title
    if least is not None and least > highest:
        raise ConfigError(
            f"parameter min_rating is {least!r}, but no rating of {title} is above {highest!r}\n"
            "give one that some ratings reach"
        )
    if is_path(dataset):
        _check_size(loaded, params)
        # A page that tries all shares, a tenth among them.
        if "n_seeds" in params and rule is None:
            dataset_splits(loaded, "ratio 0.9", seed=params.get("seed", 1))
        if rule is not None:
            folds = dataset_splits(loaded, str(rule), seed=params.get("seed", 1))
            warn_of_other_share(folds)
            if "cutoff" in params:  # what ranks lists and takes ratings away
                _check_folds(loaded, folds, top_rating(loaded) if least is None else least, values)


def _check_size(loaded: Dataset, params: Mapping[str, Any]) -> None:
    """Refuse a table in which there is nothing to compare, to learn from or to list."""
    ratings, cutoff = loaded.ratings, params.get("cutoff", 1)
    for count, what in ((ratings.n_users, "user"), (ratings.n_items, "item")):
        if count < 2:
            raise ConfigError(
                f"{loaded.title} has one {what}: expected two at least\n"
                f"a page needs a table with more of them; see the column of {what}s in "
                f"`recbias data info`"
            )
    if ratings.user_counts().max() < 2:
        raise ConfigError(
            f"{loaded.title}: no user has two ratings, so that nobody has one to train on and one "
            "to test with\na page needs a table in which some do"
        )
    if "workers" in params and "cutoff" not in params and ratings.n_items < _LISTED:
        raise ConfigError(
            f"{loaded.title} has {ratings.n_items} items, and this page looks at the first "
            f"{_LISTED} of a list\ngive a table with as many at least"
        )
    if cutoff > ratings.n_items:
        raise ConfigError(
            f"parameter cutoff is {cutoff}, but {loaded.title} has {ratings.n_items} items\n"
            f"give one of at most so many: -p cutoff {ratings.n_items}"
        )


def _check_folds(
    loaded: Dataset, folds: Sequence[Split], min_rating: float, values: Mapping[str, Any]
) -> None:
    """Refuse tests with nothing to find or to tell apart, or of which too little would be left."""
    if not any((fold.test.value >= min_rating).any() for fold in folds):
        raise ConfigError(
            f"{loaded.title}: no test rating reaches {exact(min_rating)}, from which on an item is "
            "relevant\ngive a lower threshold, -p min_rating NUMBER, or another split"
        )
    pool = largest_pool(folds, min_rating=min_rating)
    if pool < 1:
        raise ConfigError(
            f"{loaded.title}: in a fold nobody has an item to rank but relevant ones, so that no "
            "list can be better than another\ngive a higher threshold, -p min_rating NUMBER, or a "
            "table in which not everybody rated everything"
        )
    for name, most in (("size", pool + 1), ("n_sampled", pool)):
        if (value := values.get(name)) is not None and value > most:
            raise ConfigError(
                f"parameter {name} is {value}, but in a fold of {loaded.title} no user has more "
                f"than {pool} items to sample from\ngive one of at most {most}"
            )
    fewest = min(len(fold.test) for fold in folds)
    if fewest < LEAST_TESTED:
        raise ConfigError(
            f"{loaded.title}: {fewest} ratings are in the test of a fold, expected {LEAST_TESTED} "
            f"at least, as nine of ten are taken away\n"
            "give a table with more ratings, or a split that tests more: -p split 'k-fold 2'"
        )


def check_out(out: Path) -> None:
    """Refuse a place where no page could be written, before hours are spent on it."""
    if out.is_dir():
        raise ConfigError(f"--out {out} is a folder\nname a file in it: {out / 'page.html'}")
    if out.suffix not in (".html", ".ipynb"):
        raise ConfigError(f"--out {out}: name a file that ends in .html or .ipynb")
    folder = next(parent for parent in out.absolute().parents if os.path.lexists(parent))
    if not folder.is_dir():
        raise ConfigError(f"--out {out}: {folder} is a file, so that no folder can be made there")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"--out {out}: nothing can be written in {folder}\nname another place")
