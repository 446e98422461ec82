"""What packages state about other projects' code: a notice with the licences, and a bill of materials in SPDX 2.3."""

import hashlib
import json
from pathlib import Path

from packages import clock
from packages.components import Component

RULE = "=" * 100 + "\n"
# What a program does not need to start, and loads when it is used first.
LOADED = {
    "zstd": "compression", "brotli": "compression", "libidn2": "host names that are not ASCII", "libedit": "line editing"
}  # fmt: skip


def notice(components: list[Component]) -> str:
    """The licences of what is linked in."""
    head = "rpcurl contains code of these projects:\n\n" + "".join(
        f"  {' '.join([component.name, component.version]).strip():30} {component.licence}\n" for component in components
    )  # fmt: skip
    texts = (
        f"\n{RULE}{' '.join([component.name, component.version]).strip()}\n{component.home}\n{RULE}\n{component.text.strip()}\n"
        for component in components
    )
    return head + "".join(texts)


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def package(identifier: str, name: str, version: str, licence: str, home: str, purl: str) -> dict:
    entry = {
        "SPDXID": identifier, "name": name, "downloadLocation": home or "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION",
    }  # fmt: skip
    if version:
        entry["versionInfo"] = version
    if purl:
        entry["externalRefs"] = [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}
        ]
    return entry


def relation(first: str, kind: str, second: str) -> dict:
    return {"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second}


def file_entry(identifier: str, name: str, file: Path) -> dict:
    return {
        "SPDXID": identifier, "fileName": f"./{name}", "fileTypes": ["BINARY"],
        "checksums": [
            {"algorithm": "SHA1", "checksumValue": hashlib.sha1(file.read_bytes()).hexdigest()},
            {"algorithm": "SHA256", "checksumValue": sha256(file)},
        ],
        "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION",
    }  # fmt: skip


def with_libraries(text: str, root: Path, files: list[Path], libc: Component) -> str:
    """A bill of materials of the program, with the files of the C library that are in the package too."""
    document, identifier = json.loads(text), f"SPDXRef-{libc.name}"
    document["documentNamespace"] += "-libc"
    document["files"][0]["fileName"] = "./usr/bin/rpcurl"
    document["packages"].append(package(identifier, libc.name, libc.version, libc.licence, libc.home, libc.purl))
    document["relationships"].append(relation("SPDXRef-program", "DYNAMIC_LINK", identifier))
    for number, file in enumerate(files):
        document["files"].append(file_entry(f"{identifier}-{number}", str(file.relative_to(root)), file))
        document["relationships"].append(relation(f"{identifier}-{number}", "GENERATED_FROM", identifier))
    return json.dumps(document, indent=1) + "\n"


def bill(program: Path, version: str, components: list[Component]) -> str:
    """The bill of materials of the program."""
    own, file = "SPDXRef-rpcurl", "SPDXRef-program"
    parts = {f"SPDXRef-{c.name.replace(' ', '-').replace('_', '-')}": c for c in components}
    loaded = {f"SPDXRef-loaded-{name}": name for name in LOADED}
    packages = [package(own, "rpcurl", version, "Apache-2.0", "", f"pkg:generic/rpcurl@{version}")]
    packages += [package(i, c.name, c.version, c.licence, c.home, c.purl) for i, c in parts.items()]
    packages += [package(i, name, "", "NOASSERTION", "", "") for i, name in loaded.items()]
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", own), relation(file, "GENERATED_FROM", own)]
    relations += [relation(file, "STATIC_LINK", i) for i in parts]
    relations += [relation(i, "OPTIONAL_DEPENDENCY_OF", own) for i in loaded]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"rpcurl-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/rpcurl-{version}-{sha256(program)[:32]}",
        "creationInfo": {"created": clock.iso(), "creators": [f"Tool: rpcurl-package-{version}"]},
        "packages": packages,
        "files": [file_entry(file, "bin/rpcurl", program)],
        "relationships": relations,
    }  # fmt: skip
    return json.dumps(document, indent=1) + "\n"
