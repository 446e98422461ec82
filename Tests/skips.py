"""A plugin of pytest for skipped tests.

With RPCURL_SKIPS=fail in the environment, a test that is skipped fails the run, unless EXPECTED lists it: what a machine lacks
must not look like a success. Each such test is one line at the end of the output.
"""

import os
import re

import pytest

# The tests that are skipped on each machine, by a pattern of their name, with the reason that they give.
EXPECTED = {
    # The call has ended, and only its output has not: no deadline is left to test.
    r"EndToEnd/test_floods\.py::test_deadline_in_a_flood_of_messages\[": "after the end of a call, output waits for its reader",
    # A combination of parameters that no server has.
    r"EndToEnd/test_record\.py::test_all_kinds_of_calls_are_replayed\[": "the gRPC server speaks protobuf only",
    # The program of packages has another C library than that of each day, which loads two libraries more.
    r"EndToEnd/test_instructions\.py::test_commands_take_as_many_instructions_as_before$": "the counts are of a program that loads other libraries",
    # A random schema that buf, with which results are compared, does not accept.
    r"EndToEnd/test_diff_oracle\.py::test_random_changes_break_the_same_rules\[": "buf refuses the schema of seed",
    # .proto files of other projects, which are not part of the sources.
    r"EndToEnd/test_corpus\.py::test_descriptors_are_those_of_protoc$": "RPCURL_CORPUS names no directory",
    r"EndToEnd/test_corpus\.py::test_refused_files_are_refused_at_the_same_line$": "RPCURL_CORPUS names no directory",
}
# The tests of what the libcurl of RPCURL_LIBCURL, which may be an old one, cannot do.
OF_OTHER_LIBCURL = "this libcurl "
# The tests of what is too large for each run.
OF_ALL_TESTS = "make test-all "

LINES = pytest.StashKey[list[str]]()


def unexpected(reports, environment) -> list[str]:
    """A line for each skipped test that is not expected."""
    lines = []
    for report in reports:
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if environment.get("RPCURL_LIBCURL") and reason.startswith(OF_OTHER_LIBCURL):
            continue
        if environment.get("RPCURL_TESTS") != "all" and reason.startswith(OF_ALL_TESTS):
            continue
        if not any(re.search(name, report.nodeid) and reason.startswith(known) for name, known in EXPECTED.items()):
            lines.append(f"skipped, which RPCURL_SKIPS=fail does not allow: {report.nodeid}: {reason}")
    return lines


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Only of the process that reports: a worker of pytest-xdist has no results of the others."""
    config = session.config
    if os.environ.get("RPCURL_SKIPS") != "fail" or hasattr(config, "workerinput"):
        return
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    config.stash[LINES] = unexpected(reporter.stats.get("skipped", []), os.environ)
    if config.stash[LINES] and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in terminalreporter.config.stash.get(LINES, []):
        terminalreporter.write_line(line, red=True)
