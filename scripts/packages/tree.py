"""The files of a package, from what `make install-built` installed below /usr."""

import shutil
from pathlib import Path

from packages import documents
from packages.components import Component

DOCUMENTS = "share/doc/rpcurl"


class Tree:
    """A directory that becomes a package, as a copy of installed files."""

    def __init__(self, installed: Path, place: Path) -> None:
        if place.exists():
            shutil.rmtree(place)
        shutil.copytree(installed, place, symlinks=True)
        self.root = place
        # The note of `make uninstall`: the package manager has its own.
        self.remove("share/rpcurl/directories")

    def path(self, name: str) -> Path:
        return self.root / name

    def files(self) -> list[Path]:
        return sorted(path for path in self.root.rglob("*") if not path.is_dir())

    def remove(self, name: str) -> None:
        self.path(name).unlink(missing_ok=True)
        self.prune(self.path(name).parent)

    def prune(self, folder: Path) -> None:
        """Removes directories that are empty."""
        while folder != self.root and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent

    def move(self, old: str, new: str) -> None:
        self.path(new).parent.mkdir(parents=True, exist_ok=True)
        self.path(old).rename(self.path(new))
        self.prune(self.path(old).parent)

    def keep(self, patterns: list[str], kept: bool = True) -> None:
        """Keeps the files that match a pattern, or with `kept` false the others."""
        for path in self.files():
            name = path.relative_to(self.root)
            if any(name.match(pattern) or str(name).startswith(pattern) for pattern in patterns) != kept:
                self.remove(str(name))

    def add_documents(self, version: str, components: list[Component]) -> None:
        folder = self.path(DOCUMENTS)
        (folder / "THIRD-PARTY-NOTICES").write_text(documents.notice(components))
        (folder / "rpcurl.spdx.json").write_text(documents.bill(self.path("bin/rpcurl"), version, components))
