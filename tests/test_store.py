from __future__ import annotations

import errno
import hashlib
import json
import os
import resource
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from recbias.errors import StoreError
from recbias.store import (
    canonical_json,
    digest,
    platform_record,
    read_arrays,
    read_document,
    write_arrays,
    write_atomically,
    write_document,
)

KEY = "0123456789abcdef" * 4
ARRAYS = {
    "rank": np.random.default_rng(1).integers(0, 3000, 2000).astype(np.int32),
    "value": np.array([0.1, -0.0, np.nan, np.inf]),
    "empty": np.empty(0, np.int32),
    "long": np.array([2**62]),
    "single": np.array([0.1], np.float32),
    "flag": np.array([True, False]),
}


@pytest.fixture
def artefact(tmp_path: Path) -> Path:
    path = tmp_path / "a" / "b.parquet"
    write_arrays(path, ARRAYS, key=KEY, provenance={"seed": 1, "why": None})
    return path


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "c.json"
    write_document(path, {"values": [0.1, None]}, key=KEY, context={"seed": 1})
    return path


def same(found: dict[str, np.ndarray]) -> bool:
    return list(found) == list(ARRAYS) and all(
        found[name].dtype == values.dtype and found[name].tobytes() == values.tobytes()
        for name, values in ARRAYS.items()
    )


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


@pytest.mark.parametrize("kept", [0, 3, 200, -9, -1])
def test_a_truncated_artefact_is_refused(artefact: Path, kept: int) -> None:
    artefact.write_bytes(artefact.read_bytes()[:kept])
    with pytest.raises(StoreError, match=r"b\.parquet: damaged artefact .*delete it and rerun"):
        read_arrays(artefact, key=KEY)


def test_a_flipped_bit_is_noticed(artefact: Path) -> None:
    good = artefact.read_bytes()
    footer = len(good) - 8 - int.from_bytes(good[-8:-4], "little")
    rng = np.random.default_rng(2)
    refused = 0
    for place in [*range(4, footer, 41), *range(footer, len(good), 5)]:
        bad = bytearray(good)
        bad[place] ^= 1 << int(rng.integers(8))
        artefact.write_bytes(bad)
        try:
            found, _ = read_arrays(artefact, key=KEY)
        except StoreError:
            refused += 1
        else:  # Where nobody looks, or in a name or type: then whoever asks for it misses it.
            assert same(found) or place >= footer
    assert refused > 100


def test_another_parquet_file_is_refused(artefact: Path, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "other.parquet"
    for table in (
        pa.table({"rank": [1, 2]}),
        pa.table({"rank": [1, 2]}).replace_schema_metadata({"recbias.key": KEY}),
        pa.table({"rank": [1]}).replace_schema_metadata(
            {"recbias.key": KEY, "recbias.provenance": "{}"}
        ),
    ):
        pq.write_table(table, path)
        with pytest.raises(StoreError, match="damaged artefact"):
            read_arrays(path, key=KEY)


# ---- documents


def test_a_document_comes_back_with_its_context(document: Path) -> None:
    record = read_document(document)
    assert record["body"] == {"values": [0.1, None]}
    assert (record["key"], record["seed"]) == (KEY, 1)


def test_context_may_be_annotated_but_key_and_body_may_not_change(document: Path) -> None:
    record = json.loads(document.read_text())
    document.write_text(json.dumps({**record, "seed": 2}))
    assert read_document(document)["seed"] == 2
    for change in (
        {"body": {"values": [0.1000000001, None]}},
        {"body": {}},
        {"key": "f" * 64},
        {"digest": "f" * 64},
        {"digest": None},
    ):
        document.write_text(json.dumps({**record, **change}))
        with pytest.raises(StoreError, match=r"c\.json: changed after it was computed"):
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
        write_document(document, {"values": [np.nan]}, key=KEY, context={})
    assert document.read_bytes() == before


# ---- writing


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
        with pytest.raises(OSError, match="File too large"):
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
    lock = Path(__file__).parents[1] / "requirements.lock"
    assert record["lock"] == hashlib.sha256(lock.read_bytes()).hexdigest()
    assert json.loads(canonical_json(record)) == record
