"""What other systems lack or do otherwise, simulated: Windows has no flock, resource or O_NOFOLLOW."""

import os
import sys
from types import SimpleNamespace

import pytest

from termsieve.files import write_whole
from termsieve.machine import processor_count
from termsieve.studies.runner import _used
from termsieve.studies.store import Store


@pytest.fixture
def windows(monkeypatch):
    """No module and no flag that only Unix has, and folders that cannot be opened."""
    for name in ("fcntl", "resource"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("O_NOFOLLOW", "O_DIRECTORY", "sched_getaffinity"):
        monkeypatch.delattr(os, name, raising=False)
    opened = os.open

    def refuse_folders(path, *words, **options):
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *words, **options)

    monkeypatch.setattr(os, "open", refuse_folders)


@pytest.mark.usefixtures("windows")
def test_files_are_written_whole_where_folders_cannot_be_synced(tmp_path):
    write_whole(tmp_path / "note.txt", b"whole")
    assert (tmp_path / "note.txt").read_bytes() == b"whole"
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]


@pytest.mark.usefixtures("windows")
def test_a_study_can_be_written_without_flock(tmp_path):
    store = Store(tmp_path / "results")
    store.close()
    assert (tmp_path / "results" / "rows").is_dir()


@pytest.mark.usefixtures("windows")
def test_processors_and_use_without_unix():
    assert processor_count() == (os.cpu_count() or 1)
    assert _used() == {}


def test_macos_reports_memory_in_bytes(monkeypatch):
    usage = SimpleNamespace(ru_utime=1.0, ru_stime=0.5, ru_maxrss=512 * 2**20)
    fake = SimpleNamespace(getrusage=lambda who: usage, RUSAGE_SELF=0, RUSAGE_CHILDREN=1)
    monkeypatch.setitem(sys.modules, "resource", fake)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert _used() == {"cpu_seconds": 3.0, "peak_memory_mb": 512.0, "largest_worker_mb": 512.0}
    usage.ru_maxrss = 512 * 2**10
    monkeypatch.setattr(sys, "platform", "linux")
    assert _used()["peak_memory_mb"] == 512.0
