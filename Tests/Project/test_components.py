"""The projects that packages name, from the archives of which the linker took members."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from packages import components  # noqa: E402


@pytest.fixture
def built(tmp_path):
    """The directory of what scripts/http3-libraries builds."""
    place = tmp_path / "libcurl" / "http3"
    (place / "lib" / "pkgconfig").mkdir(parents=True)
    return place


def test_a_program_without_libcurl_is_not_packaged(tmp_path):
    (tmp_path / "rpcurl.archives").write_text("members\textracted\tarchive\n")
    with pytest.raises(components.Unknown, match="built without curl and openssl"):
        components.linked(tmp_path)


@pytest.mark.parametrize(
    ("archive", "name"), [("libnghttp3.a", "nghttp3"), ("libngtcp2.a", "ngtcp2"), ("libngtcp2_crypto_ossl.a", "ngtcp2")]
)
def test_libraries_of_http3_are_described(tmp_path, built, archive, name):
    (built / "lib" / "pkgconfig" / f"lib{name}.pc").write_text(f"Name: lib{name}\nVersion: 1.2.3\n")
    (built / f"LICENSE-{name}").write_text(f"The licence of {name}")
    found = components.of_archive(built / "lib" / archive, tmp_path)
    assert (found.name, found.version, found.licence, found.text) == (name, "1.2.3", "MIT", f"The licence of {name}")
    assert found.purl == f"pkg:github/ngtcp2/{name}@v1.2.3"


def test_other_archives_beside_libcurl_are_unknown(tmp_path, built):
    with pytest.raises(components.Unknown, match="libother.a is linked in"):
        components.of_archive(built / "lib" / "libother.a", tmp_path)
