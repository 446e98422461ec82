"""What the end-to-end tests have in common; the fixtures are in conftest.py."""

import pytest

# Before the modules are imported: a failed expectation of theirs shows its values.
pytest.register_assert_rewrite("harness.program")

from harness.calls import Caller
from harness.files import build_clock, build_plugin, write
from harness.program import Process, Result, Rpcurl, http3_rpcurl, messages, names, pkg_config_of_sources, shown_on, wait_until
from harness.proxy import Proxy
from harness.servers import (
    STARTS_WITHOUT_TLS, QuietHandler, RawServer, Server, announced_address, closed_port, first_line, http_server, pump, relay, silent,
    without_tls,
)  # fmt: skip
from harness.session import Prompt
from harness.settings import (
    ALL_TESTS, FAILURES, GENERATED, HTTP3_LIBCURL, PATIENCE_SECONDS, ROOT, RPCURL, SERVERS, VENV, server_module,
)  # fmt: skip
from harness.wire import delimited, envelope, varint
