"""The plugins of the soak: one that is loaded again unchanged, and one whose file alternates between two builds."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HEADERS = ROOT / "Sources" / "CPlugins" / "include"

# A plugin is loaded again in one of so many rounds: each load keeps 3 kB, since a plugin may use its host at any time.
ROUNDS_OF_PLUGIN = 50
# A file that was built again is loaded beside the former one, which may be in use, so each version keeps a descriptor and
# memory: the file, its data, and what the dynamic loader has of it. So many versions are loaded, one in so many rounds.
REBUILDS, ROUNDS_OF_BUILD = 100, 3
FILES_OF_BUILD, KILOBYTES_OF_BUILD = 1, 26

# The options of the plugin `stamp`, which adds a header to each call.
STAMP = "header=x-stamp:soak"

SOURCE = r"""
#include <rpcurl/plugin.h>
static int32_t load(const rpcurl_host *host, void **plugin) {
  (void)host;
  *plugin = 0;
  return RPCURL_OK;
}
static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)state, (void)call;
  host->header_set(host, token, RPCURL_TEXT("x-build"), RPCURL_TEXT("%s"));
  return RPCURL_OK;
}
static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "build", .load = load, .request_start = request_start};
RPCURL_PLUGIN(plugin)
"""


def build(directory: Path) -> dict[str, Path]:
    """Two builds of a plugin that adds the header x-build; by its value."""
    result = {}
    for value in ("one", "two"):
        source, result[value] = directory / f"{value}.c", directory / f"{value}.so"
        source.write_text(SOURCE % value)
        subprocess.run(["cc", "-shared", "-fPIC", f"-I{HEADERS}", "-o", result[value], source], check=True)
    return result


@dataclass
class Plugins:
    """The plugins of a session; either may be absent."""

    # The plugin `stamp`.
    stamp: Path | None
    # The builds, and the file that they replace.
    builds: dict[str, Path]
    file: Path
    # How often that file was replaced after the session loaded it.
    rebuilds: int = 0

    @property
    def build(self) -> str:
        return list(self.builds)[self.rebuilds % len(self.builds)]

    @property
    def headers(self) -> dict[str, str]:
        """The headers that the plugins add to each call."""
        return ({"x-stamp": "soak"} if self.stamp else {}) | ({"x-build": self.build} if self.builds else {})

    async def load(self, session) -> None:
        if self.stamp:
            await session.quiet(f"plugin load {self.stamp},{STAMP}\n", "plugin")
        if self.builds:
            shutil.copyfile(self.builds[self.build], self.file)
            await session.quiet(f"plugin load {self.file}\n", "build")

    async def reload(self, session, number: int) -> None:
        """Load again what is due in a round."""
        if self.stamp and number % ROUNDS_OF_PLUGIN == 1:
            await session.quiet("plugin reload stamp\n", f"plugin {number}")
        if self.builds and number % ROUNDS_OF_BUILD == 0 and self.rebuilds < REBUILDS:
            self.rebuilds += 1
            # In place, as by a build that overwrites a file in use.
            shutil.copyfile(self.builds[self.build], self.file)
            await session.quiet("plugin reload build\n", f"build {number}")
