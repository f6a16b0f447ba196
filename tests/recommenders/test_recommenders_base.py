import json
import re

import numpy as np
import pytest

from recbias.errors import ConfigError, ContractError, DataError
from recbias.recommenders import (
    BiasedMF,
    Encoding,
    Popularity,
    System,
    UserKNN,
    WeightedMF,
    algorithm,
    algorithms,
    base,
    register,
)
from recommender_tables import small_table, table

ALGORITHMS = algorithms()


def test_a_system_is_a_value():
    short = System("kNN", "UserKNN", {"n_neighbours": 5})
    long = System("kNN", "UserKNN", {"normalised": False, "n_neighbours": np.int64(5)})
    assert short == long
    assert hash(short) == hash(long)
    assert short != System("kNN", "UserKNN", {"n_neighbours": 6})
    assert short != System("kNN", "UserKNN", {"n_neighbours": 5}, n_seeds=2)


def test_a_whole_number_for_a_real_parameter_makes_the_same_record():
    whole = System("MF", "WeightedMF", {"regularisation": 1})
    real = System("MF", "WeightedMF", {"regularisation": 1.0})
    assert json.dumps(whole.to_dict()) == json.dumps(real.to_dict())


def test_the_record_spells_out_defaults_and_comes_back():
    system = System("MF", "BiasedMF", {"n_factors": 3}, n_seeds=4)
    record = json.loads(json.dumps(system.to_dict()))
    assert record["parameters"]["learning_rate"] == BiasedMF().learning_rate
    assert System.from_dict(record) == system


def test_what_is_built_has_the_parameters():
    built = System("kNN", "UserKNN", {"n_neighbours": 7, "normalised": True}).build()
    assert isinstance(built, UserKNN)
    assert (built.n_neighbours, built.normalised) == (7, True)


def test_parameters_cannot_be_changed_afterwards():
    given = {"n_neighbours": 7}
    system = System("kNN", "UserKNN", given)
    given["n_neighbours"] = 8
    assert system.parameters["n_neighbours"] == 7
    with pytest.raises(TypeError):
        system.parameters["n_neighbours"] = 8  # type: ignore[index]


def test_replace_changes_name_and_given_parameters_only():
    system = System("a", "UserKNN", {"n_neighbours": 7, "min_overlap": 2}, n_seeds=3)
    changed = system.replace("b", min_overlap=4)
    assert changed == System("b", "UserKNN", {"n_neighbours": 7, "min_overlap": 4}, n_seeds=3)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"name": "a", "algorithm": "UserKNM"}, "unknown algorithm 'UserKNM': did you mean 'UserK"),
        ({"name": "a"}, "a system without 'algorithm'"),
        ({"name": "a", "algorithm": "Random", "seeds": 3}, "unknown key of a system 'seeds'"),
        ({"name": "a", "algorithm": "Random", "n_seeds": 0}, "n_seeds is 0, expected an integer"),
        ({"name": "a", "algorithm": "Random", "n_seeds": True}, "n_seeds is True"),
        (
            {"name": "a", "algorithm": "UserKNN", "parameters": {"n_neighbors": 3}},
            "unknown parameter of UserKNN 'n_neighbors': did you mean 'n_neighbours'?",
        ),
        (
            {"name": "a", "algorithm": "UserKNN", "parameters": {"n_neighbours": "3"}},
            "UserKNN: n_neighbours is '3', expected an integer >= 1",
        ),
    ],
)
def test_a_wrong_record_says_what_is_wrong(record, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        System.from_dict(record)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: UserKNN(n_neighbours=0), "n_neighbours is 0, expected an integer >= 1"),
        (lambda: UserKNN(n_neighbours=True), "n_neighbours is True, expected an integer"),
        (lambda: UserKNN(n_neighbours=2.0), "n_neighbours is 2.0, expected an integer"),
        (lambda: UserKNN(normalised=1), "normalised is 1, expected True or False"),
        (lambda: UserKNN(encoding="star"), "encoding is 'star': expected 'stars', 'binary-all'"),
        (lambda: UserKNN(encoding=5), "encoding is 5, expected text"),
        (lambda: UserKNN(regularisation=1), "regularisation is 1, expected 0 for summed scores"),
        (lambda: WeightedMF(regularisation=0), "regularisation is 0, expected a finite number > 0"),
        (lambda: WeightedMF(alpha=float("nan")), "alpha is nan, expected a finite number >= 0"),
        (lambda: WeightedMF(alpha=float("inf")), "alpha is inf, expected a finite number >= 0"),
        (lambda: WeightedMF(target="raw"), "target is 'raw', expected one of 'rating', 'binary'"),
        (lambda: BiasedMF(regularisation=-1), "regularisation is -1, expected a finite number"),
        (lambda: BiasedMF(learning_rate="0.1"), "learning_rate is '0.1', expected a finite number"),
    ],
)
def test_a_wrong_parameter_says_what_it_should_be(make, message):
    with pytest.raises(ConfigError) as caught:
        make()
    assert message in str(caught.value)


def test_a_name_belongs_to_one_class():
    @register
    class Mine(Popularity):
        pass

    assert algorithm("Mine") is Mine
    assert register(Mine) is Mine
    with pytest.raises(ConfigError, match="algorithm 'Popularity' exists already"):
        register(type("Popularity", (), {"__module__": "elsewhere"}))
    del base._ALGORITHMS["Mine"]


TEXTS = [
    "stars",
    "binary-all",
    "stars<4=1",
    "stars<3.5=2.48",
    "binary-pos>=4",
    "binary-zero>=3.5",
    "graded-pos>=4",
    "graded-zero>=4",
]


@pytest.mark.parametrize("text", TEXTS)
def test_encodings_print_as_they_parse(text):
    assert str(Encoding.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "binary",
        "stars<4",
        "stars<4=4",
        "stars<4=0",
        "stars<1.2.3=1",
        "binary-pos",
        "graded-all>=4",
        "graded-zero>4",
        "graded-zero>=4.4.4",
    ],
)
def test_other_encodings_are_refused(text):
    with pytest.raises(ConfigError, match="encoding is"):
        Encoding.parse(text)


@pytest.mark.parametrize(
    ("text", "items", "values"),
    [
        ("stars", [0, 1, 2, 3], [1, 3.5, 4, 5]),
        ("stars<4=2", [0, 1, 2, 3], [2, 2, 4, 5]),
        ("binary-all", [0, 1, 2, 3], [1, 1, 1, 1]),
        ("binary-pos>=4", [2, 3], [1, 1]),
        ("binary-zero>=4", [0, 1, 2, 3], [0, 0, 1, 1]),
        ("graded-pos>=3.5", [1, 2, 3], [1, 1.5, 2.5]),
        ("graded-zero>=4", [0, 1, 2, 3], [0, 0, 1, 2]),
    ],
)
def test_what_a_rating_counts(text, items, values):
    train = table([[1, 3.5, 4, 5, np.nan]])
    encoded = Encoding.parse(text).encode(train)
    assert (encoded.item.tolist(), encoded.value.tolist()) == (items, values)
    assert (encoded.n_users, encoded.n_items) == (1, 5)
    assert train.value.tolist() == [1, 3.5, 4, 5]


class Reads(Popularity):
    """Popularity of what an encoding leaves, in as many idle iterations as asked for."""

    encoding = "stars"
    n_iterations = 3

    def _fit(self, train, rng):
        super()._fit(train, rng)
        for iteration in self._iterations(self.n_iterations, train):
            self.iteration = iteration

    def _objective(self, train):
        return len(train) / self.iteration


def test_a_model_knows_only_what_its_encoding_keeps():
    model = Reads()
    model.encoding = "binary-pos>=4"
    model.fit(table([[4, 1, np.nan], [5, 2, np.nan]]))
    np.testing.assert_array_equal(model.score(np.array([0])), [[2, np.nan, np.nan]])


def test_an_encoding_that_keeps_nothing_is_refused():
    model = Reads()
    model.encoding = "binary-pos>=4"
    with pytest.raises(DataError, match="Reads: its encoding leaves no training"):
        model.fit(table([[1, 2]]))


def test_a_value_that_a_model_cannot_use_is_named():
    class Positive(Popularity):
        minimum_value = 1

    with pytest.raises(
        DataError, match=r"Positive: user 0 rates item 1 0.5 in 'small', but .* >= 1"
    ):
        Positive().fit(table([[1, 0.5]]))


def test_iterations_report_the_objective_when_asked():
    train, reports = table([[1, 2], [3, np.nan]]), []
    model = Reads().fit(train, on_iteration=lambda *report: reports.append(report))
    assert reports == [(1, 3.0), (2, 1.5), (3, 1.0)]
    assert model.objective(train) == 1.0
    model.fit(train)
    assert len(reports) == 3


def test_an_objective_is_refused_where_there_is_none():
    train = table([[1, 2]])
    with pytest.raises(ContractError, match="Popularity: objective before fit"):
        Popularity().objective(train)
    with pytest.raises(ContractError, match="Popularity has no objective"):
        Popularity().fit(train).objective(train)


@pytest.mark.parametrize("value", [np.nan, np.inf, -1e15])
def test_a_parameter_that_ran_away_is_refused(value):
    with pytest.raises(
        ConfigError, match="Popularity: training on 'small' has run away\ntake less"
    ):
        Popularity().refuse_runaway(table([[1.0]]), "take less", np.zeros(3), np.array([0, value]))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_no_ratings_are_refused_by_name(name):
    train = small_table()
    nothing = train.take(np.zeros(len(train), dtype=bool))
    with pytest.raises(DataError, match=f"{name}: no training ratings in 'small'"):
        algorithm(name)().fit(nothing)


def test_score_refuses_what_it_cannot_answer():
    train = small_table()
    with pytest.raises(ContractError, match="Popularity: score before fit"):
        Popularity().score(np.array([0]))
    fitted = Popularity().fit(train)
    with pytest.raises(ContractError, match="a user outside"):
        fitted.score(np.array([-1]))
    with pytest.raises(ContractError, match="a user outside"):
        fitted.score(np.array([train.n_users]))
    with pytest.raises(ContractError, match="no array of integers"):
        fitted.score(np.array([0.5]))
    with pytest.raises(ContractError, match="no array of integers"):
        fitted.score(np.array([[0]]))


def test_factor_scores_do_not_depend_on_blocks_or_chunks(monkeypatch):
    rng = np.random.default_rng(3)
    users, items = rng.normal(size=(90, 50)), rng.normal(size=(70, 50))
    whole = base.factor_scores(users, items)
    assert whole.dtype == np.float32
    np.testing.assert_allclose(whole, np.einsum("uf,if->ui", users, items), rtol=0, atol=1e-5)
    monkeypatch.setattr(base, "CHUNK_BYTES", 8 * 70 * 7)
    np.testing.assert_array_equal(base.factor_scores(users, items), whole)
    np.testing.assert_array_equal(base.factor_scores(users[13:14], items), whole[13:14])
