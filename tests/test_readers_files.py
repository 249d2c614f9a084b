"""Compressed files and archives that are cut short or damaged: one sentence with the file's name."""

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zipfile
from functools import cache, partial

import pytest

from termsieve import count, read
from termsieve.errors import FormatError, TermsieveError
from termsieve.readers.files import contents, read_bytes

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# Documents of a few lines each, different ones, so that no cut gives the same content.
DOCUMENTS = {f"{'ab'[i % 2]}/{i}.txt": f"word{i * i} word{i * 7919} also{i}\n" * 3 for i in range(40)}
TABLE = "text,label\n" + "".join(f"word{i * i} word{i * 7919},{'ab'[i % 2]}\n" for i in range(4_000))
PACKED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": partial(zstd.compress, options={zstd.CompressionParameter.checksum_flag: 1}),
}


@cache
def packed_table(ending):
    return PACKED[ending](TABLE.encode())


def zipped(method):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, text in DOCUMENTS.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def tarred():
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, text in DOCUMENTS.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


ARCHIVES = {
    "stored.zip": zipped(zipfile.ZIP_STORED),
    "deflated.zip": zipped(zipfile.ZIP_DEFLATED),
    "lzma.zip": zipped(zipfile.ZIP_LZMA),
    "plain.tar": tarred(),
    **{f"packed.tar.{ending}": pack(tarred()) for ending, pack in PACKED.items()},
}


def refused(path, reading):
    with pytest.raises(TermsieveError) as error:
        reading(path)
    message = str(error.value)
    assert path.name in message
    assert "\n" not in message
    return error.value


@pytest.mark.parametrize("reading", [read, count])
@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("missing", [1, 5, 0.1, 0.5, 0.9])
def test_a_packed_table_that_is_cut_short(tmp_path, ending, missing, reading):
    whole = packed_table(ending)
    cut = missing if isinstance(missing, int) else int(missing * len(whole))
    path = tmp_path / f"table.csv.{ending}"
    path.write_bytes(whole[:-cut])
    assert "damaged or truncated" in str(refused(path, reading))


@pytest.mark.parametrize("ending", PACKED)
def test_a_packed_table_with_a_changed_bit(tmp_path, ending):
    whole = bytearray(packed_table(ending))
    path = tmp_path / f"table.csv.{ending}"
    for place in range(len(whole) // 4, len(whole), len(whole) // 7):
        whole[place] ^= 4
        path.write_bytes(whole)
        refused(path, read)
        whole[place] ^= 4
    path.write_bytes(whole)
    assert len(read(path).texts) == 4_000


@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_an_archive_that_is_cut_short(tmp_path, name, share):
    path = tmp_path / name
    whole = ARCHIVES[name]
    for cut in (int(share * len(whole)), int(share * len(whole)) // 512 * 512):  # a tar has blocks of 512
        path.write_bytes(whole[:cut])
        refused(path, lambda path: read(path, format="folder"))
    path.write_bytes(whole)
    assert contents(path) == {name: text.encode() for name, text in sorted(DOCUMENTS.items())}


@pytest.mark.parametrize("ending", PACKED)
def test_the_checksum_behind_a_tar_is_looked_at(tmp_path, ending):
    path = tmp_path / f"packed.tar.{ending}"
    path.write_bytes(ARCHIVES[path.name][:-2])
    assert "damaged or truncated" in str(refused(path, contents))


def test_a_zip_with_a_compression_that_nobody_knows(tmp_path):
    changed = bytearray(ARCHIVES["deflated.zip"])
    changed[8] = changed[changed.find(b"PK\x01\x02") + 10] = 99
    (tmp_path / "odd.zip").write_bytes(changed)
    assert "compression that cannot be read" in str(refused(tmp_path / "odd.zip", read))


def test_a_zip_with_a_password(tmp_path):
    changed = bytearray(ARCHIVES["deflated.zip"])
    changed[6] |= 1
    changed[changed.find(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "locked.zip").write_bytes(changed)
    assert isinstance(refused(tmp_path / "locked.zip", read), FormatError)


def test_zstd_frames_one_behind_the_other(tmp_path):
    path = tmp_path / "several.zst"
    parts = [b"one " * 50_000, b"", b"two"]
    path.write_bytes(b"".join(map(PACKED["zst"], parts)))
    assert read_bytes(path) == b"".join(parts)
