"""What a rerun is asked for, held against its data before a kernel starts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recbias.datasets import dataset_info, is_path, load_dataset
from recbias.errors import ConfigError
from recbias.splits import SplitRule
from recbias.testset import dataset_splits, warn_of_other_share

__all__ = ["check_data", "check_out"]


def check_data(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Refuse a table that cannot be read, and parameters that no data, or not these, can have.

    Parameters
    ----------
    values : mapping of str to object
        ``dataset``, and the parameters that were changed, typed.
    defaults : mapping of str to object
        All parameters of the page with their defaults.

    Raises
    ------
    ConfigError
        If the split is no rule, or the table cannot be split so; if no rating is as high as
        ``min_rating``.
    DataError
        If the table cannot be read.
    MissingData
        If there is no such file.
    """
    dataset, least = values["dataset"], values.get("min_rating")
    asked = {**defaults, **values}
    rule = SplitRule.parse(str(asked["split"] or "k-fold 5")) if "split" in asked else None
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
    if is_path(dataset) and rule is not None:
        warn_of_other_share(dataset_splits(loaded, str(rule), seed=asked.get("seed", 1)))


def check_out(out: Path) -> None:
    """Refuse a place where no page could be written, before hours are spent on it.

    Parameters
    ----------
    out : Path
        Where a page goes; its folders need not be there.

    Raises
    ------
    ConfigError
        If it is a folder, has another suffix than ``.html`` or ``.ipynb``, or lies in a file or a
        folder that cannot be written.
    """
    if out.is_dir():
        raise ConfigError(f"--out {out} is a folder\nname a file in it: {out / 'page.html'}")
    if out.suffix not in (".html", ".ipynb"):
        raise ConfigError(f"--out {out}: name a file that ends in .html or .ipynb")
    folder = next(each for each in out.absolute().parents if os.path.lexists(each))
    if not folder.is_dir():
        raise ConfigError(f"--out {out}: {folder} is a file, so that no folder can be made there")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"--out {out}: nothing can be written in {folder}\nname another place")
