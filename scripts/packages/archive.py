"""Archives that contain no time, owner or order of the machine that makes them."""

import gzip
import hashlib
import io
import tarfile
from pathlib import Path

from packages import clock


def tar(root: Path, top: str, directories: bool = True) -> bytes:
    """The files below a directory, below `top` in the archive.

    Without entries for `directories`, tar follows links to directories that exist where it unpacks, such as /lib.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in [root, *sorted(root.rglob("*"))]:
            if path.is_dir() and not directories:
                continue
            info = archive.gettarinfo(path, str(Path(top) / path.relative_to(root)))
            info.mtime, info.uid, info.gid, info.uname, info.gname = clock.epoch(), 0, 0, "root", "root"
            info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
            # Files that are the same on this machine are two files.
            if path.is_file() and not path.is_symlink():
                info.type, info.linkname, info.size = tarfile.REGTYPE, "", path.stat().st_size
                archive.addfile(info, io.BytesIO(path.read_bytes()))
            else:
                archive.addfile(info)
    return buffer.getvalue()


def compressed(data: bytes) -> bytes:
    """As gzip -9n."""
    return gzip.compress(data, 9, mtime=0)


def write_sums(folder: Path, files: list[Path], name: str) -> None:
    """A file for `sha256sum -c` in the folder."""
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder)}\n" for file in files]
    (folder / name).write_text("".join(lines))
