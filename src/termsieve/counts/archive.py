"""Named arrays become an npz archive; an archive whose checksums are right becomes arrays again."""

from __future__ import annotations

import io
import math
import os
import tokenize
import zipfile
import zlib
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
# The errors that the standard library raises for damaged archives.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    tokenize.TokenError,
    EOFError,
    KeyError,
    NotImplementedError,
    OverflowError,
    RecursionError,
    RuntimeError,
    SyntaxError,
    TypeError,
    UnicodeError,
)
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def write_arrays(file: BinaryIO, arrays: Arrays) -> None:
    """Write arrays as an npz archive, which holds a CRC-32 of each."""
    # numpy.savez of NumPy 2.0 leaves its archive open when writing fails.
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_arrays(file: str | os.PathLike[str] | BinaryIO) -> Arrays:
    """Return the arrays of an npz archive; ValueError if anything in it has changed.

    Each array is read to its end, so that its checksum is verified. No array may be larger than the archive.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            stored = all(info.compress_type == zipfile.ZIP_STORED for info in members)
            if not stored or sum(info.file_size for info in members) > _size(archive):
                raise ValueError("its arrays are larger than the archive")
            return {info.filename.removesuffix(".npy"): _array(archive.read(info)) for info in members}
    except DAMAGE as error:
        raise ValueError(str(error).splitlines()[0] if str(error) else type(error).__name__) from error


def _size(archive: zipfile.ZipFile) -> int:
    assert archive.fp is not None
    return archive.fp.seek(0, os.SEEK_END)


def _array(raw: bytes) -> NDArray[Any]:
    file = io.BytesIO(raw)
    version = npy.read_magic(file)
    if version not in HEADERS:
        raise ValueError(f"it has an array of the unknown version {version}")
    shape, fortran, dtype = HEADERS[version](file)
    n_items = math.prod(shape)
    if fortran or dtype.hasobject or n_items * dtype.itemsize != len(raw) - file.tell():
        raise ValueError("it has an array of another size than it says")
    if n_items == 0:
        return np.empty(shape, dtype)
    return np.frombuffer(raw, dtype, offset=file.tell()).reshape(shape).copy()
