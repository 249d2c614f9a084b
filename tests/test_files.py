"""Files that are whole or absent."""

import hashlib
import os

import pytest

from termsieve.files import (
    END_BYTES,
    MARK,
    checksum,
    fingerprint,
    keep_file,
    kept_file,
    leftovers,
    whole_file,
    write_whole,
)


def test_a_file_is_written_whole(tmp_path):
    write_whole(tmp_path / "a.txt", b"new")
    write_whole(tmp_path / "a.txt", b"newer")
    assert (tmp_path / "a.txt").read_bytes() == b"newer"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_what_fails_on_the_way_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def interrupted():
        with whole_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, function):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, function, full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_planted_link_is_replaced_and_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    (tmp_path / "a.txt").symlink_to(victim)
    write_whole(tmp_path / "a.txt", b"new")
    assert victim.read_bytes() == b"mine"
    assert not (tmp_path / "a.txt").is_symlink()


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


def test_only_files_with_the_mark_are_leftovers(tmp_path):
    (tmp_path / f".a.txt.0123{MARK}").touch()
    (tmp_path / ".draft.tmp").touch()
    (tmp_path / f".link{MARK}").symlink_to(tmp_path / ".draft.tmp")
    (tmp_path / f".folder{MARK}").mkdir()
    assert [path.name for path in leftovers(tmp_path)] == [f".a.txt.0123{MARK}"]


def test_the_checksum_is_sha_256():
    assert checksum(b"abc") == hashlib.new("sha256", b"abc").hexdigest()


def changed_in_place(path, at, byte):
    """Change one byte of a file and give it back its time."""
    status = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(byte)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("at", [0, 10, -1])
def test_a_file_that_kept_size_and_time_is_known_by_its_ends(tmp_path, at):
    path = tmp_path / "large"
    path.write_bytes(bytes(4 * END_BYTES))
    before = fingerprint(path)
    assert fingerprint(path) == before
    changed_in_place(path, at % (4 * END_BYTES), b"x")
    assert fingerprint(path)[:2] == before[:2]
    assert fingerprint(path) != before


def test_the_middle_of_a_large_file_is_read_where_that_is_asked(tmp_path):
    path = tmp_path / "large"
    path.write_bytes(bytes(4 * END_BYTES))
    ends, whole = fingerprint(path), fingerprint(path, whole=True)
    changed_in_place(path, 2 * END_BYTES, b"x")
    assert fingerprint(path) == ends
    assert fingerprint(path, whole=True) != whole


def test_a_file_that_is_not_there_has_no_fingerprint(tmp_path):
    assert fingerprint(tmp_path / "none") is None


def test_what_is_kept_is_found_again_and_only_if_nobody_else_can_have_written_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert kept_file("script.js") is None
    keep_file("script.js", b"draw()")
    assert kept_file("script.js") == b"draw()"
    (kept,) = tmp_path.rglob("script.js")
    if not hasattr(os, "getuid"):
        return
    for path in (kept, kept.parent):
        rights = path.stat().st_mode
        path.chmod(rights | 0o020)
        assert kept_file("script.js") is None
        path.chmod(rights)
    assert kept_file("script.js") == b"draw()"
    elsewhere = tmp_path / "elsewhere.js"
    kept.rename(elsewhere)
    kept.symlink_to(elsewhere)
    assert kept_file("script.js") is None


@pytest.mark.parametrize("home", ["a file", "read-only"])
def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch, home):
    place = tmp_path / "cache"
    if home == "a file":
        place.write_text("")
    else:
        monkeypatch.setattr("termsieve.files.write_whole", refused)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    monkeypatch.setenv("LOCALAPPDATA", str(place))
    keep_file("script.js", b"draw()")
    assert kept_file("script.js") is None


def refused(*_):
    raise PermissionError("read-only")
