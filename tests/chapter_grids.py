"""What the notebooks of the chapters ask for, in the functions that tests share.

A notebook types its protocols out, and no code of the package repeats them. A test compares what is
here with what the recorded results of MovieLens 1M were asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recbias.book.chapters.offline_option_taxonomy import setup as options
from recbias.data.ratings import exact
from recbias.experiment.grid import Grid

REMOVED = (0, 30, 60, 90)
"""Percent of the test ratings removed in BCC17 Fig. 3, left, and all of chapter 2."""

Texts = dict[str, str]


def lemma_protocols(
    min_rating: float,
    *,
    removed: Iterable[int] = REMOVED,
    sizes: Iterable[int] = (100, 400, 700, 1000),
) -> tuple[Texts, Texts]:
    """Chapter 1, Fig. 3: thinned test sets (left) and larger target sets (right)."""
    rule = "TI-NN-1R-shared t={} rel>=" + exact(min_rating)
    sizes, removed = tuple(sizes), tuple(removed)
    rules = {f"removed {share}%": rule.format(sizes[0]) for share in removed}
    rules |= {f"t={size}": rule.format(size) for size in sizes}
    return rules, {f"removed {share}%": f"observed removed={share}%" for share in removed if share}


def sparsity_protocols(
    min_rating: float, *, removed: Iterable[int] = REMOVED
) -> tuple[Texts, Texts]:
    """Chapter 2: protocols, and the side of the test under each."""
    designs = {
        "AR": f"TI-AN-AR rel>={exact(min_rating)}",
        "liked": f"TI-AN-AR rel>={exact(min_rating)} users=relevant",
        "all-1R": f"TI-AN-1R rel>={exact(min_rating)}",
    }
    shares = tuple(removed)
    rules = {_less(label, share): text for label, text in designs.items() for share in shares}
    tests = {
        _less(label, share): f"observed removed={share}%"
        for label in designs
        for share in shares
        if share
    }
    return {**rules, "sizes": designs["all-1R"]}, tests


def _less(label: str, share: int) -> str:
    return f"{label} removed {share}%" if share else label


def baseline_protocols(min_rating: float, labels: Iterable[str]) -> Texts:
    """Chapters 2 to 4: rankings that are the same for everybody."""
    rules = {label: "TI-AN-1R" if "1R" in label else "TI-AN-AR" for label in labels}
    rules |= {"AI": "AI-AN-AR"} if "AI" in rules else {}
    return {label: f"{rule} rel>={exact(min_rating)}" for label, rule in rules.items()}


def popularity_protocols(min_rating: float) -> Texts:
    """Chapter 3."""
    return {label: f"TI-AN-{label[-2:]} rel>={exact(min_rating)}" for label in ("AR", "all-1R")}


def concentration_protocols(min_rating: float) -> Texts:
    """Chapter 6."""
    return {"full": f"AI-AN-AR rel>={exact(min_rating)} users=tested"}


# -- chapter 7 -------------------------------------------------------------------------------------


def start_protocols(min_rating: float) -> Texts:
    """The paper's starting configuration, and one change each."""
    start = f"AI-AN-AR rel>={exact(min_rating)}"
    return {
        "full": f"{start} users=trained",
        "condensed": f"{start} condensed users=trained",
        "everybody": start,
        "relevant": f"{start} users=relevant",
        "looser": f"AI-AN-AR rel>={exact(min_rating - 1)} users=trained",
        "by ratings": f"{start} users=trained weights=ratings",
        "by positives": f"{start} users=trained weights=relevant",
        "geometric": f"{start} users=trained statistic=geometric",
        "median": f"{start} users=trained statistic=median",
    }


def start_grid(dataset: str, min_rating: float, *, seed: int, n_seeds: int | None = None) -> Grid:
    """Tables 2 to 4, Figure 6."""
    measured = options.metrics_of(dataset, min_rating)
    return Grid(
        dataset, options.systems_of(options.SYSTEMS, min_rating, dataset, n_seeds),
        start_protocols(min_rating), measured, split="ratio 0.5", seed=seed,
        compare=options.compared(measured), replicates=options.combined(measured),
    )  # fmt: skip


def ratio_grid(
    dataset: str, min_rating: float, ratio: int, *, seed: int, n_seeds: int | None = None
) -> Grid:
    """One share of training ratings (Figures 2 to 4)."""
    both = ("P@10", "nDCG@10")
    protocols = {label: start_protocols(min_rating)[label] for label in ("full", "condensed")}
    return _grid(
        dataset, options.systems_of(options.SYSTEMS, min_rating, dataset, n_seeds), protocols,
        {"full": (*both, "judged@10"), "condensed": both}, split=options.split_of(ratio), seed=seed,
    )  # fmt: skip


def fill_grid(dataset: str, min_rating: float, *, seed: int) -> Grid:
    """What is made of items without a score: half of the ratings, all users (Figure 7)."""
    start = f"AI-AN-AR rel>={exact(min_rating)} condensed"
    protocols = {label: f"{start}{policy}" for label, policy in options.FILLS.items()}
    names = tuple(map(options.fill_name, options.SIZES))
    return _grid(
        dataset, options.systems_of(names, min_rating, dataset), protocols,
        dict.fromkeys(protocols, ("P@10", "nDCG@10", "Served@1", "Served@10")), split="ratio 0.5",
        seed=seed, select="keep=50%",
    )  # fmt: skip


def overlap_grid(dataset: str, min_rating: float, *, seed: int, n_seeds: int | None = None) -> Grid:
    """What averages make of users without neighbours (Figure 8)."""
    start = start_protocols(min_rating)["full"]
    protocols = {"full": start, "reduced": f"{start} coverage=reduced"}
    names = tuple(f"{options.KNN} k=10 overlap={overlap}" for overlap in options.OVERLAPS)
    return _grid(
        dataset,
        options.systems_of((*names, *options.READINGS), min_rating, dataset, n_seeds), protocols,
        dict.fromkeys(protocols, ("P@10", "nDCG@10", "Served@1", "Served@10")), split="ratio 0.5",
        seed=seed,
    )  # fmt: skip


def _grid(
    dataset: str,
    systems: tuple[options.System, ...],
    protocols: Texts,
    metrics: Mapping[str, tuple[str, ...]],
    **more: object,
) -> Grid:
    return Grid(dataset, systems, protocols, metrics, replicates=options.combined(metrics), **more)  # type: ignore[arg-type]
