"""What must never be in the repository, and what every function with randomness keeps to."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import inspect
import os
import pkgutil
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import recbias
from recbias import line_up
from recbias._system.streams import stream
from recbias.audit import audit
from recbias.data.datasets import Dataset, dataset_info, registry
from recbias.data.datasets.download import downloads
from recbias.data.ratings import Ratings
from recbias.data.selection import Selection
from recbias.data.simulation import World, make_world
from recbias.errors import MissingData
from recbias.experiment.cells import rank_seed, rank_split, reduce_positions
from recbias.experiment.measurement import measure
from recbias.experiment.outcomes import paired_tests
from recbias.experiment.reduction import resampled_draws
from recbias.experiment.results import SIMULATIONS
from recbias.metrics import parse_metric
from recbias.metrics.by_chance import by_chance
from recbias.multiverse.agreement import tried_signs
from recbias.multiverse.kinds import drawn
from recbias.protocol.splits import Split, SplitRule, k_fold, leave_out, ratio, uniform
from recbias.protocol.targets import TargetRule, Targets, popularity_groups
from recbias.protocol.testset import TestSet, dataset_splits, kept_rows, reduced_split
from recbias.ranking import RankTable, rank, rank_once, rank_unscored, target_lists, top_items
from recbias.recommenders import Popularity, algorithm, algorithms
from recbias.recommenders.as_published.file_order import PLSAInFileOrder
from recbias.recommenders.as_published.poisson_factorisation import initial_means
from recbias.recommenders.as_published.wbpr import UnpopularNegativesSampler
from recbias.recommenders.non_negative import starting_gammas
from recbias.recommenders.pairwise import GroupSampler, TripleSampler
from recbias.stats.comparison import subsampled_tests, subsampled_wins
from recbias.stats.resampling import bootstrap_weights, draw_weights
from recbias.testing import check_recommender
from recbias.theory import draw_lists
from recbias.trust import Shape, fit_relation, which_metric

ROOT = Path(__file__).parents[1]

# ------------------------------------------------------------------------------ no data set in git

LARGEST = 3 * 2**19
"""1.5 MiB; only what is listed here may be larger, with its reason."""
MAY_BE_LARGE: dict[str, str] = {}
PACKED = {".7z", ".bz2", ".gz", ".h5", ".npy", ".npz", ".pickle", ".pkl", ".rar", ".xz", ".zip"}
RATING = re.compile(rb"^\W?\w+\W?(::|[\t,; ])\W?\w+\W?\1-?\d+(\.\d+)?(\1[\d.]+)?\s*$")
MATRIX = re.compile(rb"^\s*[0-5](\s+[0-5]){99,}\s*$")


def tracked() -> list[Path]:
    """List what git tracks; where there is no git, every file that it would not ignore."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
        )
        names = [name for name in listed.stdout.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = []
    if not names:
        ignored = {".venv", "_build", "__pycache__", ".git", "downloads", "cells", ".hypothesis"}
        paths = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
        names = [str(path) for path in paths if not ignored & set(path.parts)]
        names = [name for name in names if not re.search(r"(^|/)\.[a-z_]+_cache/", name)]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def fault(path: Path, name: str) -> str | None:
    """Say why a file looks like a data set."""
    size = path.stat().st_size
    if size > LARGEST and name not in MAY_BE_LARGE:
        return f"{size:,} bytes"
    if path.name in published_names():
        return "has the name of a publisher's file"
    if path.suffix in PACKED:
        return "is packed"
    content = path.read_bytes()
    for kind in ("sha256", "md5"):
        if hashlib.new(kind, content).hexdigest() in published_checksums():
            return "is a publisher's file"
    if path.suffix == ".parquet":
        columns = pq.read_schema(path).names
        kept = columns in (["replicates"], ["rows", "replicates"])
        return None if kept else f"has the columns {columns}"
    lines = [line for line in content.splitlines() if len(line) < 5000]
    if sum(bool(RATING.match(line)) for line in lines if len(line) < 100) >= 200:
        return "has rows of user, item, rating"
    if sum(bool(MATRIX.match(line)) for line in lines) >= 20:
        return "has a matrix of ratings"
    return None


@cache
def published_names() -> set[str]:
    files = [name for info in registry().values() for names in info.files for name in names]
    addresses = [info.address for info in registry().values() if info.address]
    return {text.rsplit("/", 1)[-1] for text in files + addresses}


@cache
def published_checksums() -> set[str]:
    known = {
        "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490"
    }  # u.data of ml-100k
    for info in registry().values():
        with contextlib.suppress(MissingData):  # placed by hand: no checksum is known
            known |= {wanted.checksum.partition(":")[2] for wanted in downloads(info)}
    return known


def test_no_data_set_is_in_the_repository() -> None:
    faults = {str(path.relative_to(ROOT)): fault(path, str(path.relative_to(ROOT)))
              for path in tracked()}  # fmt: skip
    assert len(faults) > 100
    assert {name: why for name, why in faults.items() if why} == {}


ROWS = [(user, item, 1 + (user + item) % 5) for user in range(20) for item in range(15)]
LOOKS_LIKE_DATA = {
    "u.data": b"",
    "ml-1m.zip": b"",
    "a.gz": b"",
    "big.txt": b"x" * (LARGEST + 1),
    "tabs.txt": b"".join(b"%d\t%d\t%d\t881250949\n" % row for row in ROWS),
    "colons.txt": b"".join(b"%d::%d::%d\r\n" % row for row in ROWS),
    "commas.csv": b"user,item,rating\n" + b"".join(b"%d,%d,%d.5\n" % row for row in ROWS),
    "labels.csv": b"".join(b'"u%d","i%d",%d\n' % row for row in ROWS),
    "blanks.md": b"".join(b"%d %d %d\n" % row for row in ROWS),
    "matrix.txt": (b"0 1 0 5 " * 50 + b"\n") * 20,
}


@pytest.mark.parametrize("name", LOOKS_LIKE_DATA)
def test_what_looks_like_data_would_be_noticed(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(LOOKS_LIKE_DATA[name])
    assert fault(path, name)


def test_a_renamed_publisher_s_file_would_be_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "renamed.bin"
    path.write_bytes(b"content")
    assert fault(path, path.name) is None
    checksums = {hashlib.sha256(b"content").hexdigest()}
    monkeypatch.setattr("test_hygiene.published_checksums", lambda: checksums)
    assert fault(path, path.name) == "is a publisher's file"


def test_without_git_the_tree_is_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    with_git = set(tracked())

    def no_git(*_: object, **__: object) -> None:
        raise FileNotFoundError("git")

    monkeypatch.setattr(subprocess, "run", no_git)
    assert with_git <= set(tracked())


def test_downloads_and_cells_are_ignored() -> None:
    lines = (ROOT / ".gitignore").read_text().splitlines()
    assert {"/data/downloads/", "/data/cells/"} <= set(lines)


# ------------------------------------------------------------------------------ no code from data


def without_origin(files: Iterable[str], table: str) -> list[str]:
    """Name the files that no row of the table names, and rows that name no file."""
    rows = re.findall(r"^\| `(\S+)` \| (?:made|read|written) \| .{4,} \|$", table, re.MULTILINE)
    named = {row: re.compile(re.escape(row).replace(r"\*", "[^/]*")) for row in rows}
    lost = [name for name in files if not any(row.fullmatch(name) for row in named.values())]
    idle = [row for row in named if not any(named[row].fullmatch(name) for name in files)]
    return [*lost, *idle]


def results_without_provenance(folder: Path) -> list[str]:
    """Name results that do not say what computed them, and tables that belong to none."""
    said = re.compile(r'"content_hash": "\w{64}".*"provenance": \{[^}]*"python"', re.DOTALL)
    results = {path for path in folder.glob("*/*/*.json") if path.parts[-3] != SIMULATIONS}
    tables = folder.glob("*/*/*.parquet")
    silent = [path for path in results if not said.search(path.read_text(encoding="utf-8"))]
    return [str(path) for path in silent] + [
        str(path) for path in tables if not path.with_suffix(".json").is_file()
    ]


def test_every_recorded_file_says_where_it_comes_from(tmp_path: Path) -> None:
    names = [path.relative_to(ROOT).as_posix() for path in tracked()]
    files = [name for name in names if name.startswith(("data/", "benchmarks/"))]
    table = (ROOT / "data/README.md").read_text(encoding="utf-8")
    assert len(files) > 500
    not_yet = ["data/proof/*.json"]  # until a part of `make prove` was run
    assert set(without_origin(files, table)) <= set(not_yet)
    planted = ["data/recorded/new.csv", "data/published/criteria/deep/a.yaml", "benchmarks/a.csv"]
    assert set(without_origin([*files, *planted], table)) - set(not_yet) == set(planted)
    lost = without_origin(files, table.replace("`data/page_costs.csv` | made", "`data/x` | made"))
    assert set(lost) - set(not_yet) == {"data/page_costs.csv", "data/x"}
    recorded = ROOT / "data/recorded"
    assert results_without_provenance(recorded) == []
    (folder := tmp_path / "ml-100k" / "systems").mkdir(parents=True)
    result = (recorded / "ml-100k/systems/models.json").read_text(encoding="utf-8")
    (folder / "a.json").write_text(result)
    assert results_without_provenance(tmp_path) == []
    (folder / "a.json").write_text(result.replace('"provenance"', '"else"'))
    (folder / "b.parquet").touch()
    assert len(results_without_provenance(tmp_path)) == 2


def test_the_linter_refuses_code_from_data() -> None:
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
    wanted = {"S102", "S202", "S301", "S307", "S506", "TID"}  # exec ... yaml.load, bans
    assert wanted <= set(ruff["select"])
    assert not wanted & set(ruff["ignore"])
    banned = {"pickle", "numpy.load", "joblib.load", "torch.load"}
    assert banned <= set(ruff["flake8-tidy-imports"]["banned-api"])
    for pattern, ignored in ruff["per-file-ignores"].items():
        assert not wanted & set(ignored), pattern
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text()
        if path.name == "inside.py":  # answers of students are code, and run here, behind walls
            text = text.replace("# noqa: S102 - locked in for it", "", 1)
        assert not re.search(r"noqa(: *(.*S\d|TID)|\s*$)", text), path


# ------------------------------------------------------------------------------ randomness


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["from recbias.ranking import rank_once", "from recbias.experiment import engine"]
)
def test_the_linter_refuses_a_chapter_that_ranks_by_itself(line: str, tmp_path: Path) -> None:
    """The twin of the clean code, which `make lint` looks at."""
    copy = tmp_path / "src"
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    chapter = copy / "recbias/book/chapters/popularity_bias/skew.py"
    text = chapter.read_text(encoding="utf-8")
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--contract"]
    environment = {**os.environ, "PYTHONPATH": str(copy)}

    def lint() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, "chapters-ask-experiments"],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert lint().returncode == 0
    chapter.write_text(text.replace("import pandas as pd", f"import pandas as pd\n{line}"))
    broken = lint()
    assert broken.returncode == 1
    assert "popularity_bias.skew -> recbias." in broken.stdout


def random_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """List the public functions and methods that take a generator or a seed."""
    for module_info in pkgutil.walk_packages(recbias.__path__, "recbias."):
        if module_info.name.startswith(("recbias.claims", "recbias.book")):
            continue  # a chapter hands the grid's seed on, to functions that are called here
        module = importlib.import_module(module_info.name)
        public = [name for name in vars(module) if not name.startswith("_")]
        for name in getattr(module, "__all__", public):
            thing = getattr(module, name)
            if getattr(thing, "__module__", None) != module.__name__:
                continue
            parts = {name: thing}
            if inspect.isclass(thing):
                parts = {
                    f"{name}.{part}": getattr(thing, part)
                    for part in vars(thing)
                    if not part.startswith("_") and callable(getattr(thing, part))
                }
            for part, function in parts.items():
                if inspect.isfunction(function) or inspect.ismethod(function):
                    parameters = inspect.signature(function).parameters
                    if {"rng", "seed"} & set(parameters):
                        yield f"{module.__name__.removeprefix('recbias.')}.{part}", function


WORLD = make_world(seed=3, n_users=120, n_items=150, n_ratings=1700)
RATINGS = WORLD.ratings
ACTIVE = RATINGS.take(RATINGS.user_counts()[RATINGS.user] > 1)
SPLIT = ratio(RATINGS, rng=np.random.default_rng(0))
DATASET = Dataset(RATINGS, dataset_info("synthetic"), "made here")
POPULARITY = Popularity().fit(SPLIT.train)


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _fit_all(seed: int) -> list[Any]:
    """Fit every algorithm, those that draw nothing too."""
    models = [algorithm(name)().fit(SPLIT.train, rng=_rng(seed)) for name in algorithms()]
    return [model.score(np.arange(RATINGS.n_users)) for model in models]


def _no_scores(users: Any) -> np.ndarray:
    return np.zeros((len(users), SPLIT.train.n_items), dtype=bool)


ONE_TARGET_SET = [Targets(TargetRule.parse("TI-NN-1R t=20"), 4.0)]
CALLS: dict[str, Callable[[int], Any]] = {
    "experiment.outcomes.paired_tests": lambda seed: paired_tests(
        np.linspace(0, 1, 40)[None],
        np.full((1, 40), 0.4),
        np.ones((1, 40)),
        ("bootstrap",),
        seed=seed,
    )[1][0],
    "experiment.reduction.resampled_draws": lambda seed: resampled_draws("uniform 0.2", 3, seed),
    "stats.resampling.bootstrap_weights": lambda seed: bootstrap_weights(50, 3, rng=_rng(seed)),
    "stats.resampling.draw_weights": lambda seed: draw_weights(3, 50, rng=_rng(seed)),
    "experiment.cells.rank_seed": lambda seed: np.array(rank_seed(seed, 0)),
    "experiment.measurement.measure": lambda seed: (
        measure(POPULARITY, SPLIT, "RR", protocol="TI-NN-AR N=9 rel>=4", seed=seed)["RR"].drawn
    ),
    "metrics.by_chance.by_chance": lambda seed: by_chance(
        RATINGS, [parse_metric("CI@3")], min_rating=4, n_draws=1, seed=seed
    )["value"].to_numpy(),
    "ranking.drawn.target_lists": lambda seed: target_lists(
        POPULARITY,
        SPLIT,
        np.full(SPLIT.test.n_users, 5),
        min_rating=4,
        n_sampled=9,
        seed=seed,
    )[0],
    "ranking.passes.rank": lambda seed: rank(POPULARITY, SPLIT, ONE_TARGET_SET, seed=seed),
    "ranking.passes.rank_once": lambda seed: rank_once(POPULARITY, SPLIT, seed=seed)[0].list_items,
    "ranking.unscored.rank_unscored": lambda seed: (
        rank_unscored(_no_scores, SPLIT, "random", seed=seed).list_items
    ),
    "ranking.passes.top_items": lambda seed: top_items(
        POPULARITY, SPLIT, cutoff=30, candidates="AI", seed=seed
    ),
    "experiment.cells.rank_split": lambda seed: (
        rank_split(POPULARITY, SPLIT, seed=seed)[0].list_items
    ),
    "experiment.cells.reduce_positions": lambda seed: (
        reduce_positions(
            rank_once(POPULARITY, SPLIT, seed=0)[0], SPLIT, TestSet(removed=50), seed=seed
        ).item
    ),
    "recommenders.as_published.file_order.InFileOrder.fit": lambda seed: (
        PLSAInFileOrder(n_iterations=1).fit(SPLIT.train, rng=_rng(seed)).topics
    ),
    "recommenders.as_published.poisson_factorisation.initial_means": lambda seed: list(
        initial_means(5, 4, 3, seed)
    ),
    "recommenders.as_published.wbpr.UnpopularNegativesSampler.draw": lambda seed: list(
        UnpopularNegativesSampler(SPLIT.train).draw(50, rng=_rng(seed))
    ),
    "recommenders.base.Algorithm.fit": _fit_all,
    "recommenders.non_negative.starting_gammas": lambda seed: list(
        starting_gammas(5, 3, 0.3, 1.0, rng=_rng(seed))
    ),
    "recommenders.pairwise.GroupSampler.draw": lambda seed: list(
        GroupSampler(SPLIT.train, 3).draw(
            SPLIT.train.user[:50], SPLIT.train.item[:50], rng=_rng(seed)
        )
    ),
    "recommenders.pairwise.TripleSampler.draw": lambda seed: list(
        TripleSampler(SPLIT.train).draw(50, rng=_rng(seed))
    ),
    "recommenders.pairwise.TripleSampler.negatives": lambda seed: TripleSampler(
        SPLIT.train
    ).negatives(np.arange(50), rng=_rng(seed)),
    "data.simulation.preferences.make_world": lambda seed: make_world(
        seed=seed, n_users=120, n_items=150, n_ratings=1700
    ),
    "data.simulation.truth.World.sample": lambda seed: WORLD.sample(5, rng=_rng(seed)),
    "protocol.splits.SplitRule.splits": lambda seed: SplitRule.parse("ratio 0.3").splits(
        RATINGS, rng=_rng(seed)
    ),
    "protocol.splits.k_fold": lambda seed: k_fold(RATINGS, 2, rng=_rng(seed)),
    "protocol.splits.leave_out": lambda seed: leave_out(ACTIVE, rng=_rng(seed)),
    "protocol.splits.ratio": lambda seed: ratio(RATINGS, rng=_rng(seed)),
    "protocol.splits.uniform": lambda seed: uniform(RATINGS, rng=_rng(seed)),
    "_system.streams.stream": lambda seed: stream(seed, "a", 1).integers(2**60, size=3),
    "data.selection.Selection.rows": lambda seed: Selection(keep=50).rows(RATINGS, seed=seed),
    "data.selection.Selection.of": lambda seed: Selection(keep=50).of(DATASET, seed=seed).ratings,
    "protocol.testset.dataset_splits": lambda seed: dataset_splits(DATASET, "k-fold 2", seed=seed),
    "protocol.testset.kept_rows": lambda seed: kept_rows(
        TestSet(removed=50), 99, seed=seed, fold=0
    ),
    "protocol.testset.reduced_split": lambda seed: reduced_split(
        SPLIT, TestSet(removed=50), popularity_groups(SPLIT.train, 1), seed=seed
    ),
    "stats.comparison.subsampled_wins": lambda seed: np.array(
        subsampled_wins(np.arange(40) % 7, np.arange(40) % 5, size=9, n_samples=50, rng=_rng(seed))
    ),
    "stats.comparison.subsampled_tests": lambda seed: np.array(
        subsampled_tests(np.arange(40) % 7, np.arange(40) % 5, size=9, n_samples=50, rng=_rng(seed))
    ),
    "recommenders.contract.check_recommender": lambda seed: check_recommender(
        Popularity, seed=seed
    ),
    "theory.chance_lists.draw_lists": lambda seed: draw_lists(
        RATINGS, np.ones(RATINGS.n_items), 3, rng=_rng(seed)
    ),
    "multiverse.kinds.drawn": lambda seed: np.array(
        list(drawn({name: tuple("abcdef") for name in "ABC"}, seed).values())
    ),
    "multiverse.agreement.tried_signs": lambda seed: (
        tried_signs(
            "world(users=60,items=80)",
            line_up("ccm20")[:3],
            {
                "C2": ("metric: P@1", "metric: P@2", "metric: RR", "metric: AUC"),
                "C1": ("condensed",),
            },
            seed,
        ).signs
    ),
    "trust.answer.Shape.worlds": lambda seed: np.array(
        Shape(120, 150, 0.05, 0.5, 4).worlds((-0.5, 0.5), 3, seed=seed)
    ),
    "audit.auditing.audit": lambda seed: np.array(
        audit(
            "world(users=60,items=80)",
            "Popularity",
            "Random",
            split="ratio 0.5",
            seed=seed,
            options={"C1": ("AI-AN-AR", "condensed")},
        ).record["multiverse"]["curve"]
    ),
    "trust.answer.which_metric": lambda seed: np.array(
        which_metric(RATINGS, 4, n_worlds=20, seed=seed).relation.interval
    ),
    "trust.relation.fit_relation": lambda seed: np.array(
        fit_relation(RATINGS, 4, seed=seed).sampling
    ),
}
NOT_CALLED = {
    "audit.design.own_design": "keeps a seed, and draws nothing",
    "recommenders.elsewhere.FromScores.fit": "reads what was computed elsewhere",
    "recommenders.base.Recommender.fit": "a protocol without a body",
    "recommenders.pairwise.Sampler.draw": "a protocol without a body",
    "data.simulation.truth.Truth.sample": "a protocol without a body",
}
DRAWS_NOTHING = {"recommenders.contract.check_recommender": "returns None"}


def content(result: Any) -> bytes:
    """Give the bytes of whatever the functions return."""
    match result:
        case None:
            return b""
        case list():
            return b"|".join(map(content, result))
        case World():
            return content(result.ratings)
        case Ratings():
            return result.content_hash.encode()
        case Split():
            return content([result.train, result.test, result.test_items])
        case RankTable():
            return content([result.rank, result.condensed_rank, result.n_targets])
        case np.ndarray():
            return result.tobytes()
    raise TypeError(type(result))


def _global_state() -> str:
    return repr(np.random.get_state(legacy=False))  # noqa: NPY002 - to see that it stays


def test_every_random_function_is_known_here() -> None:
    found = {name for name, _ in random_functions()}
    assert found == set(CALLS) | set(NOT_CALLED)


TAKE_LONG = {"trust.answer.which_metric", "audit.auditing.audit"}
"""Calls that others here are most of, for every draw that they make."""


def test_tests_reach_no_other_machine() -> None:
    with socket.socket() as asked, pytest.raises(AssertionError, match=r"machine: 192\.0\.2\.1"):
        asked.connect(("192.0.2.1", 80))  # of nobody (RFC 5737)
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] if n in TAKE_LONG else []) for n in CALLS],
)
def test_seeds_are_obeyed_and_the_global_state_is_left_alone(name: str) -> None:
    before = _global_state()
    first, again, other = (content(CALLS[name](seed)) for seed in (1, 1, 2))
    assert first == again
    assert (first == other) == (name in DRAWS_NOTHING)
    assert _global_state() == before


def test_a_generator_is_asked_for_by_keyword() -> None:
    for name, function in random_functions():
        parameters = inspect.signature(function).parameters
        if "rng" in parameters:
            assert parameters["rng"].kind is inspect.Parameter.KEYWORD_ONLY, name
