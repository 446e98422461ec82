#!/usr/bin/env python3
"""Write the certificates of the TLS tests to a directory.

    ca.pem                          the authority that signed what follows
    server.pem, server-key.pem      for localhost, 127.0.0.1 and ::1
    client.pem, client-key.pem      for tests of client authentication
    other-ca.pem                    an authority that signed none of them
    other-client.pem, other-client-key.pem   a client that the server must refuse
"""

import argparse
from pathlib import Path

import trustme


def write_pair(directory: Path, name: str, certificate: trustme.LeafCert) -> None:
    chain = b"".join(blob.bytes() for blob in certificate.cert_chain_pems)
    (directory / f"{name}.pem").write_bytes(chain)
    key = directory / f"{name}-key.pem"
    key.touch(mode=0o600)
    key.write_bytes(certificate.private_key_pem.bytes())


def write_certificates(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    authority = trustme.CA()
    other = trustme.CA()
    authority.cert_pem.write_to_path(str(directory / "ca.pem"))
    other.cert_pem.write_to_path(str(directory / "other-ca.pem"))
    write_pair(directory, "server", authority.issue_cert("localhost", "127.0.0.1", "::1"))
    for name, issuer in (("client", authority), ("other-client", other)):
        write_pair(directory, name, issuer.issue_cert("client@demo.test", common_name="client"))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path, metavar="DIR")
    write_certificates(parser.parse_args().directory)


if __name__ == "__main__":
    main()
