"""Wheels of packages that no index has, and a folder of them in place of an index."""

from __future__ import annotations

from hashlib import sha256
from zipfile import ZipFile, ZipInfo


def wheel(folder, name, version="1.0", *, requires=(), files=None, points="", tag="py3-none-any"):
    """Write a wheel; returns its path.

    Args:
        folder: where.
        name: of the distribution, and of its one module where no `files` are given.
        version: of it.
        requires: its requirements.
        files: contents by path.
        points: its entry points of rewards, as `name = module:attribute` lines.
        tag: for which interpreters and platforms.
    """
    folder.mkdir(exist_ok=True)
    record = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-{tag}.whl"
    needs = "".join(f"Requires-Dist: {each}\n" for each in requires)
    contents = {f"{name}.py": f"VERSION = {version!r}\nTAG = {tag!r}\n"} if files is None else files
    contents = contents | {
        f"{record}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{record}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    if points:
        contents[f"{record}/entry_points.txt"] = f"[reward_functions]\n{points}\n"
    listed = "".join(f"{each},,\n" for each in (*contents, f"{record}/RECORD"))
    with ZipFile(path, "w") as archive:
        for each, content in (contents | {f"{record}/RECORD": listed}).items():
            archive.writestr(ZipInfo(each), content)  # without the time: equal wheels, equal hashes
    return path


def hash_of(path):
    """As a requirements file writes it."""
    return f"--hash=sha256:{sha256(path.read_bytes()).hexdigest()}"
