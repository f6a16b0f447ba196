from __future__ import annotations

import errno
import hashlib
import json
import os
import resource
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recbias.errors import ConfigError, NoSpaceError, StoreError
from recbias.experiment import documents, store
from recbias.experiment.store import (
    canonical_json,
    digest,
    frame_from_json,
    frame_to_json,
    platform_record,
    read_arrays,
    read_document,
    write_arrays,
    write_atomically,
    write_document,
)
from recbias.stats.resampling import rounded_replicates

KEY = "0123456789abcdef" * 4
ARRAYS = {
    "rank": np.random.default_rng(1).integers(0, 3000, 2000).astype(np.int32),
    "value": np.array([0.1, -0.0, np.nan, np.inf]),
    "empty": np.empty(0, np.int32),
    "long": np.array([2**62]),
    "single": np.array([0.1], np.float32),
    "flag": np.array([True, False]),
    "above": np.random.default_rng(2).integers(0, 900, (300, 7)).astype(np.int16),
    "shares": np.array([[0.1, -0.0, np.nan], [np.inf, 5e-324, -1e308]]),
    "flags": np.array([[True], [False], [True]]),
    "no rows": np.empty((0, 3), np.uint8),
    "no.columns": np.empty((5, 0), np.float32),
    "half": np.array([0.5, 65504.0], np.float16),
    "bytes": np.arange(-128, 128).astype(np.int8),
    "large": np.array([2**64 - 1], np.uint64),
    "wide": np.array([[2**63, 1]], np.uint64),
}
DOCUMENT: dict[str, Any] = {
    "kind": "table",
    "key": KEY,
    "dataset": {"name": "ml-1m", "title": "MovieLens 1M", "feedback": "explicit"},
    "parameters": {"seed": 1, "protocols": {"b": "AR rel>=5", "a": "1R rel>=5"}},
    "provenance": {"numpy": "2.0", "blas": ["openblas"]},
    "times": {"seconds": 1.5, "date": "2026-01-01"},
    "body": {
        "values": {
            "dtypes": {"system": "str", "value": "float64"},
            "columns": {"system": ["x", "y"], "value": [0.1, None]},
        }
    },
}


@pytest.fixture
def artefact(tmp_path: Path) -> Path:
    path = tmp_path / "a" / "b.parquet"
    write_arrays(path, ARRAYS, key=KEY, provenance={"seed": 1, "why": None})
    return path


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "c.json"
    write_document(path, **DOCUMENT)
    return path


@pytest.fixture
def with_sidecar(tmp_path: Path) -> Path:
    path = tmp_path / "d.json"
    sidecar = write_arrays(path.with_suffix(".parquet"), ARRAYS, key=KEY, provenance={})
    write_document(path, **DOCUMENT, sidecar=sidecar)
    return path


def same(found: dict[str, np.ndarray]) -> bool:
    return list(found) == list(ARRAYS) and all(
        found[name].dtype == values.dtype
        and found[name].shape == values.shape
        and found[name].tobytes() == values.tobytes()
        for name, values in ARRAYS.items()
    )


def accepted(path: Path, contents: Iterable[bytes]) -> int:
    """Count the damaged contents of an artefact that are not refused as such."""
    count = 0
    for content in contents:
        path.write_bytes(content)
        try:
            read_arrays(path, key=KEY)
        except StoreError as error:
            count += "damaged artefact" not in str(error)
        except Exception:  # any other error is one that nobody expects
            count += 1
        else:
            count += 1
    return count


def flipped(good: bytes, bits: Iterable[int]) -> Iterable[bytes]:
    for bit in bits:
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        yield bytes(bad)


def footer_of(content: bytes) -> int:
    """Find where the metadata of a Parquet file begin; their length stands before its last word."""
    return len(content) - 8 - int.from_bytes(content[-8:-4], "little")


# ---- keys


def test_equal_records_have_one_text_and_one_digest() -> None:
    left, right = {"a": 1, "b": [0.1, None]}, {"b": (0.1, None), "a": 1}
    assert canonical_json(left) == canonical_json(right) == '{"a":1,"b":[0.1,null]}'
    assert digest(left) == digest(right) == digest(canonical_json(left).encode())
    assert digest({"a": 1.0}) != digest({"a": 1})
    # The value that sha256 has in any other program.
    assert digest(b"abc").startswith("ba7816bf8f01cfea")


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_record_holds_no_number_that_json_lacks(number: float) -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        digest({"a": number})


# ---- arrays


def test_arrays_come_back_bit_by_bit(artefact: Path) -> None:
    found, provenance = read_arrays(artefact, key=KEY)
    assert same(found)
    assert provenance == {"seed": 1, "why": None}


def test_equal_arrays_give_equal_files(artefact: Path, tmp_path: Path) -> None:
    write_arrays(tmp_path / "again", ARRAYS, key=KEY, provenance={"why": None, "seed": 1})
    assert (tmp_path / "again").read_bytes() == artefact.read_bytes()


def test_an_artefact_of_another_key_is_refused(artefact: Path) -> None:
    with pytest.raises(StoreError, match="key 0123456789ab, expected ffffffffffff; delete it"):
        read_arrays(artefact, key="f" * 64)


def test_arrays_are_free_to_be_changed_and_in_row_order(artefact: Path) -> None:
    found, _ = read_arrays(artefact, key=KEY)
    for values in found.values():
        assert values.flags.writeable
        assert values.flags.c_contiguous
        assert values.base is None


def test_any_memory_layout_can_be_written(tmp_path: Path) -> None:
    table = np.arange(12, dtype=np.int32).reshape(3, 4)
    arrays = {
        "columns": np.asfortranarray(table),
        "part": table[:, ::2],
        "every second": table[1][::2],
        "big endian": table.astype(">i4"),
    }
    write_arrays(tmp_path / "a", arrays, key=KEY, provenance={})
    found, _ = read_arrays(tmp_path / "a", key=KEY)
    for name, values in arrays.items():
        assert np.array_equal(found[name], values), name
        assert found[name].dtype == np.int32


@pytest.mark.parametrize(
    "values",
    [
        np.array(1.0),
        np.zeros((2, 2, 2)),
        np.array(["a"]),
        np.array([None]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.zeros(2, np.complex128),
        np.zeros(2, np.longdouble),
    ],
)
def test_what_cannot_be_stored_is_refused_by_name(values: np.ndarray, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"array 'x' of .* cannot be stored; give numbers"):
        write_arrays(tmp_path / "a", {"x": values}, key=KEY, provenance={})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arrays", [{}, {"a": np.empty(0)}, {"a": np.empty((0, 2))}])
def test_there_may_be_nothing_to_store(arrays: dict[str, np.ndarray], tmp_path: Path) -> None:
    write_arrays(tmp_path / "a", arrays, key=KEY, provenance={})
    found, _ = read_arrays(tmp_path / "a", key=KEY)
    assert {name: values.shape for name, values in found.items()} == {
        name: values.shape for name, values in arrays.items()
    }


def test_other_programs_read_an_artefact(artefact: Path) -> None:
    pq.read_table(artefact).validate(full=True)
    frame = pd.read_parquet(artefact)
    assert frame["rank"].to_numpy().tobytes() == ARRAYS["rank"].tobytes()
    assert np.array_equal(frame["value"][:4], ARRAYS["value"], equal_nan=True)
    assert frame["value"][4:].isna().all()
    row = np.frombuffer(frame["above"][299], np.int16)
    assert np.array_equal(row, ARRAYS["above"][299])


def test_the_checksum_is_that_of_the_file_with_zeros_in_its_place(artefact: Path) -> None:
    content = artefact.read_bytes()
    written = (
        pq.read_metadata(artefact).metadata[b"recbias.checksum"].removeprefix(b"recbias-sha256:")
    )
    assert len(written) == 64
    assert content.count(written) == 1
    zeros = content.replace(written, b"0" * 64)
    assert hashlib.sha256(zeros).hexdigest().encode() == written


def test_words_that_look_like_a_checksum_are_content(tmp_path: Path) -> None:
    word = "recbias-sha256:" + "0" * 64
    arrays = {word: np.frombuffer(word.encode() * 3, np.uint8)}
    write_arrays(tmp_path / "a", arrays, key=word, provenance={word: word})
    found, provenance = read_arrays(tmp_path / "a", key=word)
    assert bytes(found[word]) == word.encode() * 3
    assert provenance == {word: word}


def test_writing_returns_the_hash_of_the_file(tmp_path: Path) -> None:
    sha256 = write_arrays(tmp_path / "a", ARRAYS, key=KEY, provenance={})
    assert sha256 == hashlib.sha256((tmp_path / "a").read_bytes()).hexdigest()


@pytest.mark.parametrize("kept", [0, 3, 200, -9, -1])
def test_a_truncated_artefact_is_refused(artefact: Path, kept: int) -> None:
    artefact.write_bytes(artefact.read_bytes()[:kept])
    with pytest.raises(StoreError, match=r"b\.parquet: damaged artefact .*delete it and rerun"):
        read_arrays(artefact, key=KEY)


@pytest.mark.slow
def test_any_flipped_bit_is_noticed(artefact: Path) -> None:
    good = artefact.read_bytes()
    rng = np.random.default_rng(2)
    outside = [*range(8 * 64), *range(8 * footer_of(good), 8 * len(good))]
    anywhere = rng.choice(8 * len(good), 4000, replace=False).tolist()
    assert accepted(artefact, flipped(good, outside + anywhere)) == 0
    assert accepted(artefact, [good]) == 1


def test_any_truncation_insertion_or_appendix_is_noticed(artefact: Path) -> None:
    good = artefact.read_bytes()
    rng = np.random.default_rng(3)
    cuts = rng.choice(len(good), 150, replace=False).tolist()
    damaged = [good[:cut] for cut in cuts] + [good[cut:] for cut in cuts if cut]
    damaged += [good[:cut] + b"\0" + good[cut:] for cut in cuts]
    damaged += [good + b"\0", good + good[-8:], good + good, good.replace(b"recbias", b"RECBIAS")]
    assert accepted(artefact, damaged) == 0


def test_without_the_checksum_damage_would_pass(
    artefact: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = artefact.read_bytes()
    bits = range(8 * 40, 8 * footer_of(good), 389)
    assert accepted(artefact, flipped(good, bits)) == 0
    monkeypatch.setattr(store, "_checksum", lambda content, place: content[place : place + 64])
    assert accepted(artefact, flipped(good, bits)) > len(bits) / 2


def test_swapped_artefacts_are_refused(tmp_path: Path) -> None:
    paths = {key: tmp_path / key[:1] for key in ("a" * 64, "b" * 64)}
    for key, path in paths.items():
        write_arrays(path, ARRAYS, key=key, provenance={})
    (tmp_path / "a").rename(tmp_path / "c")
    (tmp_path / "b").rename(tmp_path / "a")
    (tmp_path / "c").rename(tmp_path / "b")
    for key, path in paths.items():
        with pytest.raises(StoreError, match=f"expected {key[:12]}; delete it"):
            read_arrays(path, key=key)


def test_another_parquet_file_is_refused(artefact: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    for table in (
        pa.table({"rank": [1, 2]}),
        pa.table({"rank": [1, 2]}).replace_schema_metadata({"recbias.key": KEY}),
        pa.table({"rank": [1]}).replace_schema_metadata(
            {"recbias.key": KEY, "recbias.checksum": "recbias-sha256:" + "0" * 64}
        ),
    ):
        pq.write_table(table, path)
        with pytest.raises(StoreError, match="damaged artefact"):
            read_arrays(path, key=KEY)


@pytest.mark.parametrize(
    "arrays", ["{}", "[]", "null", "{", '{"rank": ["int64", 7]}', '{"rank": ["int8", 2]}']
)
def test_an_artefact_of_another_version_is_refused(
    arrays: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checksum of its own makes no artefact of a file whose arrays are described otherwise."""
    path = tmp_path / "a"
    real = store.canonical_json
    monkeypatch.setattr(
        store, "canonical_json", lambda record: arrays if "rank" in record else real(record)
    )
    write_arrays(path, {"rank": np.arange(2)}, key=KEY, provenance={})
    with pytest.raises(StoreError, match="damaged artefact"):
        read_arrays(path, key=KEY)


def test_a_missing_artefact_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"none\.parquet: .*No such file"):
        read_arrays(tmp_path / "none.parquet", key=KEY)


# ---- documents


def test_a_document_comes_back_as_it_was_written(document: Path) -> None:
    record = read_document(document)
    assert {name: record[name] for name in DOCUMENT} == DOCUMENT
    assert list(record["parameters"]["protocols"]) == ["b", "a"]
    assert record["sidecar"] is None
    assert set(record) == {*DOCUMENT, "sidecar", "digest"}


def test_a_document_has_a_line_per_name_and_per_column(document: Path) -> None:
    lines = [line.strip() for line in document.read_text().splitlines()]
    assert '"value": [0.1, null]' in lines
    assert '"title": "MovieLens 1M",' in lines
    assert '"blas": ["openblas"]' in lines


def test_tuples_and_numbers_as_names_are_written_as_they_will_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    body = {"counts": {5: (1, 2)}, "empty": [{}, []], "more": [[1, [2]], "text"]}
    write_document(path, **{**DOCUMENT, "body": body})
    assert read_document(path)["body"] == {
        "counts": {"5": [1, 2]},
        "empty": [{}, []],
        "more": [[1, [2]], "text"],
    }


def test_names_that_are_one_as_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="stands twice"):
        write_document(tmp_path / "x.json", **{**DOCUMENT, "body": {5: 1, "5": 2}})
    assert list(tmp_path.iterdir()) == []


def edit(*names: str | int, to: object) -> Callable[[dict[str, Any]], object]:
    """Make an edit of a document that sets one entry."""

    def change(record: Any) -> None:
        for name in names[:-1]:
            record = record[name]
        record[names[-1]] = to

    return change


def reverse(record: dict[str, Any]) -> None:
    record["parameters"]["protocols"] = dict(reversed(record["parameters"]["protocols"].items()))


EDITS = {
    "kind": edit("kind", to="checks"),
    "key": edit("key", to="f" * 64),
    "title": edit("dataset", "title", to="MovieLens 10M"),
    "feedback": edit("dataset", "feedback", to="implicit"),
    "parameter": edit("parameters", "seed", to=2),
    "parameter's type": edit("parameters", "seed", to=1.0),
    "order of protocols": reverse,
    "provenance": edit("provenance", "numpy", to="2.1"),
    "more provenance": edit("provenance", "scipy", to="1.0"),
    "value": edit("body", "values", "columns", "value", 0, to=0.1000000001),
    "no body": edit("body", to={}),
    "sidecar": edit("sidecar", to="f" * 64),
    "digest": edit("digest", to="f" * 64),
    "no digest": edit("digest", to=None),
    "a further entry": edit("note", to="fine"),
}


def notices(document: Path, change: Callable[[dict[str, Any]], object]) -> bool:
    record = json.loads(document.read_text())
    change(record)
    document.write_text(json.dumps(record))
    try:
        read_document(document)
    except StoreError as error:
        return "c.json: changed after it was computed" in str(error)
    return False


@pytest.mark.parametrize("change", EDITS.values(), ids=EDITS)
def test_any_edit_of_a_document_is_noticed(
    document: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    assert not notices(document, lambda record: None)
    assert notices(document, change)


def test_a_digest_over_key_and_body_alone_would_let_edits_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def digest_of_few(record: dict[str, Any]) -> str:
        return digest({"key": record["key"], "body": record["body"]})

    monkeypatch.setattr(documents, "_document_digest", digest_of_few)
    path = tmp_path / "c.json"
    write_document(path, **DOCUMENT)
    content = path.read_text()
    noticed = set()
    for name, change in EDITS.items():
        path.write_text(content)
        if name != "sidecar" and notices(path, change):
            noticed.add(name)
    assert noticed == {"key", "value", "no body", "digest", "no digest"}


def test_times_may_be_annotated(document: Path) -> None:
    assert not notices(document, edit("times", "seconds", to=2))
    assert not notices(document, edit("times", to={}))
    edited = json.loads(document.read_text())
    document.write_text(json.dumps({**edited, "times": "long"}))
    with pytest.raises(StoreError, match=r"not a result .*times are no record"):
        read_document(document)
    record = json.loads(document.read_text())
    del record["times"]
    document.write_text(json.dumps(record))
    with pytest.raises(StoreError, match=r"not a result .*without times"):
        read_document(document)


@pytest.mark.slow
def test_a_flipped_bit_of_a_document_changes_nothing_or_is_noticed(document: Path) -> None:
    good = document.read_bytes()
    expected = read_document(document)
    del expected["times"]
    refused = 0
    for bad in flipped(good, range(8 * len(good))):
        document.write_bytes(bad)
        try:
            found = read_document(document)
        except StoreError:
            refused += 1
        else:  # in its times, or a space that is now another
            del found["times"]
            assert found == expected
    assert refused > 4 * len(good)


def test_a_name_that_stands_twice_is_refused(document: Path) -> None:
    text = document.read_text()
    document.write_text(text.replace('"seed": 1', '"seed": 2,\n"seed": 1'))
    with pytest.raises(StoreError, match=r"not a result .*stands twice"):
        read_document(document)


def test_a_document_needs_the_file_that_belongs_to_it(with_sidecar: Path) -> None:
    assert len(read_document(with_sidecar)["sidecar"]) == 64
    sidecar = with_sidecar.with_suffix(".parquet")
    good = sidecar.read_bytes()
    write_arrays(sidecar, {"rank": np.arange(3)}, key=KEY, provenance={})
    other = sidecar.read_bytes()
    for content in (other, good[:-1], b""):
        sidecar.write_bytes(content)
        with pytest.raises(StoreError, match=r"d\.parquet: not the file .*d\.json .*restore it"):
            read_document(with_sidecar)
    sidecar.unlink()
    with pytest.raises(StoreError, match=r"d\.parquet: missing, .*d\.json needs it; restore it"):
        read_document(with_sidecar)
    sidecar.write_bytes(good)
    read_document(with_sidecar)


def test_a_document_that_is_too_deep_is_refused(document: Path) -> None:
    document.write_text("[" * 100_000)
    with pytest.raises(StoreError, match="not a result"):
        read_document(document)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "1", "null", '{"key": 1}', '{"key": 1, "body": 2}', "\xff", '"text"']
)
def test_what_is_no_document_is_refused(document: Path, text: str) -> None:
    document.write_bytes(text.encode("latin-1"))
    with pytest.raises(StoreError, match=r"c\.json: not a result .*restore it"):
        read_document(document)


def test_a_missing_document_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"none\.json: missing result; restore it, or record it"):
        read_document(tmp_path / "none.json")


def test_a_document_holds_no_number_that_json_lacks(document: Path) -> None:
    before = document.read_bytes()
    with pytest.raises(ValueError, match="Out of range float"):
        write_document(document, **{**DOCUMENT, "body": {"values": [np.nan]}})
    assert document.read_bytes() == before


# ---- tables in documents


def through_a_document(frame: pd.DataFrame, folder: Path) -> pd.DataFrame:
    path = folder / "table.json"
    write_document(path, **{**DOCUMENT, "body": {"values": frame_to_json(frame)}})
    return frame_from_json(read_document(path)["body"]["values"])


FRAME = pd.DataFrame(
    {
        "system": ["a", 'ü\n"', ""],
        "value": [0.1 + 0.2, np.nan, -0.0],
        "bound": [np.inf, -np.inf, 5e-324],
        "n_users": [1, -(2**63), 2**63 - 1],
        "agrees": [True, False, True],
        "share": np.array([0.1, np.nan, np.inf], np.float32),
        "rank": np.array([1, 2, 3], np.uint8),
    }
)


@pytest.mark.parametrize(
    "frame",
    [
        FRAME,
        FRAME[:0],
        FRAME[["value"]].assign(value=np.nan),
        FRAME[["system"]].assign(system=pd.Series(["a", None, "b"], dtype=FRAME["system"].dtype)),
        pd.DataFrame(),
        pd.DataFrame({"value": []}),
    ],
    ids=["rows", "no rows", "nan", "missing text", "nothing", "no values"],
)
def test_a_table_comes_back_bit_by_bit(frame: pd.DataFrame, tmp_path: Path) -> None:
    found = through_a_document(frame, tmp_path)
    pd.testing.assert_frame_equal(found, frame, check_exact=True)
    for name in frame.columns:
        if frame[name].dtype.kind == "f":
            assert found[name].to_numpy().tobytes() == frame[name].to_numpy().tobytes()


def test_objects_that_are_texts_come_back_as_texts(tmp_path: Path) -> None:
    frame = pd.DataFrame({"system": pd.Series(["a", None], dtype=object)})
    found = through_a_document(frame, tmp_path)["system"]
    assert found[0] == "a"
    assert found.isna().tolist() == [False, True]
    assert found.dtype == pd.DataFrame({"system": ["a"]})["system"].dtype


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"x": [1, 2]}, index=[1, 2]), "without names of rows"),
        (pd.DataFrame(index=range(3)), "without names of rows"),
        (pd.DataFrame({1: [1]}), "expected texts, each of them once"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "expected texts, each of them once"),
        (pd.DataFrame({"x": [1, "a"]}, dtype=object), "column 'x' of object cannot be stored"),
        (pd.DataFrame({"x": pd.Categorical(["a"])}), "column 'x' of category cannot be stored"),
        (pd.DataFrame({"x": pd.array([1, None], dtype="Int64")}), "column 'x' of Int64"),
        (pd.DataFrame({"x": pd.to_datetime(["2020-01-01"])}), "column 'x' of datetime64"),
    ],
)
def test_a_table_that_would_not_come_back_is_refused(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        frame_to_json(frame)


@pytest.mark.parametrize(
    "record",
    [
        {},
        [],
        {"dtypes": {}, "columns": {"a": [1]}},
        {"dtypes": {"a": "int64", "b": "int64"}, "columns": {"a": [1], "b": [1, 2]}},
        {"dtypes": {"a": "int64"}, "columns": {"a": [None]}},
        {"dtypes": {"a": "no such"}, "columns": {"a": [1]}},
    ],
)
def test_what_is_no_table_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(StoreError, match="not a table"):
        frame_from_json(record)


# ------------------------------------------------------------------------------ replicates


finite = st.floats(-1e30, 1e30).filter(lambda x: x == 0 or abs(x) > 1e-30)


@settings(max_examples=400, deadline=None)
@given(st.lists(finite, min_size=1, max_size=30))
def test_rounded_replicates_are_near_ordered_and_stay(values: list[float]) -> None:
    drawn = np.array(values)
    found = rounded_replicates(drawn).astype(np.float64)
    assert (np.abs(found - drawn) <= 2.0**-16 * np.abs(drawn)).all()
    assert (rounded_replicates(found) == found).all()
    order = np.argsort(drawn, kind="stable")
    assert (np.diff(found[order]) >= 0).all()


def test_equal_replicates_stay_equal_whatever_row_they_are_in() -> None:
    # Twin: steps of a row's own, which were tried first, tell 0.1 in one row from 0.1 in another.
    first, second = np.array([0.1, 0.2, 0.7]), np.array([0.1, 0.1004, 0.09])
    assert rounded_replicates(first)[0] == rounded_replicates(second)[0]
    steps = [np.abs(row - row.mean()).max() / 32767 for row in (first, second)]
    own = [row.mean() + np.rint((row - row.mean()) / step) * step
           for row, step in zip((first, second), steps, strict=True)]  # fmt: skip
    assert own[0][0] != own[1][0]


def test_rounding_moves_no_interval_by_a_hundredth_of_its_error() -> None:
    rng = np.random.default_rng(3)
    for value, error in ((0.0823, 0.0009), (0.009995, 0.00002), (0.3, 0.002)):
        drawn = value + error * rng.normal(size=500)
        ends = np.quantile(drawn, [0.025, 0.975])
        rounded = np.quantile(rounded_replicates(drawn).astype(np.float64), [0.025, 0.975])
        assert np.abs(rounded - ends).max() < 0.01 * error


def test_half_the_bytes_of_rounded_replicates_compress_away(tmp_path: Path) -> None:
    drawn = 0.08 + 0.001 * np.random.default_rng(3).normal(size=(200, 500))
    for name, array in (("exact", drawn.astype(np.float32)), ("kept", rounded_replicates(drawn))):
        write_arrays(tmp_path / name, {"replicates": array}, key=KEY, provenance={})
    sizes = {name: (tmp_path / name).stat().st_size for name in ("exact", "kept")}
    assert sizes["kept"] < 16 / 8 * drawn.size
    assert sizes["kept"] < sizes["exact"]


def test_special_replicates_stay() -> None:
    found = rounded_replicates([[np.nan, np.inf, -np.inf, 0.0, -0.0]])
    np.testing.assert_array_equal(found, [[np.nan, np.inf, -np.inf, 0.0, -0.0]])
    assert rounded_replicates(np.empty((0, 500))).shape == (0, 500)


def test_a_file_is_made_with_its_folder_replaced_and_readable(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file"
    for content in (b"first", b"second"):
        write_atomically(path, content)
        assert path.read_bytes() == content
        assert [entry.name for entry in path.parent.iterdir()] == ["file"]
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("failure", [OSError(errno.EIO, "I/O error"), KeyboardInterrupt()])
@pytest.mark.parametrize("before", [b"before", None])
def test_a_failure_leaves_what_was_there(
    failure: BaseException, before: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    if before:
        path.write_bytes(before)

    def fail(source: str, target: Path) -> None:
        assert Path(source).read_bytes() == b"after"
        raise failure

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(type(failure)):
        write_atomically(path, b"after")
    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == ([before] if before else [])


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(
            NoSpaceError, match=r"100,000 bytes did not fit: File too large\nmake room"
        ):
            write_atomically(path, bytes(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [b"before"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o500)
    user = os.geteuid()
    if user == 0:  # Permissions do not bind the superuser.
        os.seteuid(65534)
    try:
        with pytest.raises(PermissionError, match=f"Permission denied: .*{folder.name}"):
            write_atomically(folder / "file", b"after")
    finally:
        os.seteuid(user)
        folder.chmod(0o700)
    assert list(folder.iterdir()) == []


def test_a_file_in_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"before")
    with pytest.raises(OSError, match=r"(File exists|Not a directory): .*file"):
        write_atomically(tmp_path / "file" / "below", b"after")
    with pytest.raises(OSError, match=str(tmp_path)):
        write_atomically(tmp_path, b"after")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def _write_often(folder: str, writer: int) -> int:
    """Write artefacts that another process writes too, and read whatever is there."""
    valid = 0
    for number in range(50):
        path = Path(folder) / f"{number}.parquet"
        values = np.full(3000, writer, np.int32)
        write_arrays(path, {"rank": values}, key=KEY, provenance={"writer": writer})
        found, provenance = read_arrays(path, key=KEY)
        valid += bool((found["rank"] == provenance["writer"]).all())
    return valid


@pytest.mark.slow
def test_two_processes_that_write_the_same_artefacts_leave_valid_ones(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        valid = list(pool.map(_write_often, [str(tmp_path)] * 2, [1, 2]))
    assert valid == [50, 50]
    assert len(list(tmp_path.iterdir())) == 50
    for path in tmp_path.iterdir():
        found, provenance = read_arrays(path, key=KEY)
        assert (found["rank"] == provenance["writer"]).all()


def test_the_platform_record_names_what_bits_depend_on() -> None:
    record = platform_record()
    assert {"recbias", "python", "machine", "numpy", "scipy", "numba", "implicit"} < set(record)
    assert record["numpy"] == np.__version__
    lock = Path(__file__).parents[2] / "requirements.lock"
    assert record["lock"] == hashlib.sha256(lock.read_bytes()).hexdigest()
    assert json.loads(canonical_json(record)) == record
