"""What the end-to-end tests have in common; the fixtures are in conftest.py."""

import pytest

# Before the modules are imported: a failed expectation of theirs shows its values.
pytest.register_assert_rewrite("harness.program")

from harness.calls import Caller
from harness.program import HTTP3Rpcurl, Process, Result, Rpcurl, pkg_config_of_sources, wait_until
from harness.servers import QuietHandler, RawServer, Server, announced_address, first_line, http_server, pump, relay
from harness.settings import (
    ALL_TESTS, FAILURES, GENERATED, HTTP3_LIBCURL, PATIENCE_SECONDS, ROOT, RPCURL, SERVERS, VENV, server_module,
)  # fmt: skip
from harness.wire import delimited, envelope, varint
