"""`rpcurl load`: the schedule of calls, what is measured, thresholds, reports, and the script for k6."""

import csv
import io
import json
import math
import re
import signal
import socket
import struct
import threading
import time
import zlib
from base64 import b64decode

import pytest
import raw_http2
from harness import Result, relay, wait_until, write
from raw_http2 import OK, RESPONSE, STATUS_OK

HELLO, DELAY, COUNT, SUM, CHAT = (f"demo.v1.Demo/{name}" for name in ("Hello", "Delay", "Count", "Sum", "Chat"))
ADA = '{"name":"Ada"}'


class Load(Result):
    @property
    def report(self):
        return self.json() if self.out else None


@pytest.fixture
def load(rpcurl, descriptor_set):
    """`load(ADDRESS, METHOD, OPTIONS…)`: the result, with the report as `report`."""

    def run(address, method, *options, data=ADA, **keywords):
        words = ["--plaintext", "--descriptor-set", descriptor_set, "--format", "json", "-d", data]
        result = rpcurl("load", *words, *options, address, method, **keywords)
        return Load(result.code, result.out_bytes, result.err)

    return run


@pytest.fixture
def address(grpc_server):
    return f"localhost:{grpc_server.port}"


class PausingServer:
    """An HTTP/2 server that responds at once, but pauses once, for a second, after a number of calls."""

    def __init__(self, pause_after):
        self.pause_after = pause_after
        self.calls = 0

    def __call__(self, connection):
        # A response is three frames, of which the second would wait for the acknowledgement of the first.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        unread = 0
        try:
            raw_http2.read_exactly(connection, 24)
            raw_http2.Stream(connection, 0).frame(raw_http2.SETTINGS)
            while True:
                kind, flags, number, payload = raw_http2.read_frame(connection)
                unread += len(payload) if kind == raw_http2.DATA else 0
                if unread > 10_000:
                    raw_http2.Stream(connection, 0).frame(raw_http2.WINDOW_UPDATE, 0, struct.pack(">I", unread))
                    unread = 0
                if kind in (raw_http2.DATA, raw_http2.HEADERS) and flags & raw_http2.END_STREAM:
                    self.calls += 1
                    if self.calls == self.pause_after:
                        time.sleep(1)
                    stream = raw_http2.Stream(connection, number)
                    stream.headers(OK)
                    stream.data(RESPONSE)
                    stream.headers(STATUS_OK, end=True)
        except (EOFError, OSError):
            pass


# What starts a call


def test_closed_loop_makes_the_calls(load, address):
    report = load(address, HELLO, "--requests", 200, "--jobs", 8).succeeds().report
    assert (report["loop"], report["jobs"], report["calls"], report["errors"]) == ("closed", 8, 200, 0)
    assert report["statuses"] == [{"status": "ok", "calls": 200}]
    assert (report["sent_messages"], report["received_messages"]) == (200, 200)
    # Five bytes of the envelope, two of the field, and the name.
    assert report["sent_bytes"] == 200 * (5 + 2 + 3)
    # The time is in milliseconds.
    assert 200 / report["rate"] == pytest.approx(report["seconds"], abs=0.0006)
    assert sum(interval["calls"] for interval in report["intervals"]) == 200


def test_values_of_functions_are_new_for_each_call(load, address):
    result = load(address, HELLO, "--requests", 20, "--expand=files", data='{"name":"${uuid()}"}')
    assert (result.code, result.report["errors"]) == (0, 0)
    assert result.report["sent_bytes"] == 20 * (7 + 36)


def test_open_loop_makes_calls_at_its_rate(load, address):
    report = load(address, HELLO, "--rate", 50, "--duration", "2s").succeeds().report
    assert (report["loop"], report["intended_rate"], report["calls"], report["not_started"]) == ("open", 50, 100, 0)
    assert report["seconds"] >= 2


def test_ramp_and_warm_up_are_not_measured(load, address, tmp_path):
    result = load(
        address, HELLO, "--rate", 40, "--ramp", "1s", "--warm-up", "500ms", "--duration", "1s", "--use",
        f"metrics,format=json,file={tmp_path}/metrics.json")  # fmt: skip
    assert result.report["calls"] == 40
    (all_calls,) = json.loads((tmp_path / "metrics.json").read_text())["calls"]
    # 20 calls in the ramp, and 20 in the warm-up.
    assert all_calls["calls"] == 80


def received(server, method):
    """How many calls of a method a server has received."""
    return server.log().splitlines().count(f"received {method}")


def percentile(latencies, percent):
    """The latency that a part of the calls does not exceed."""
    return sorted(latencies)[max(-(-len(latencies) * percent // 100), 1) - 1]


def rounded(milliseconds):
    """A latency as a report has it: with three digits of a histogram, and of these those up to a microsecond."""
    return pytest.approx(milliseconds, abs=0.001 * milliseconds + 0.0006)


def test_stages_change_the_rate(load, start_server, tmp_path):
    """The server counts the calls of the ramp, the warm-up and the stages; the report has those of each stage."""
    server = start_server("grpc_server.py")
    raw = tmp_path / "raw.txt"
    report = load(
        f"localhost:{server.port}", HELLO, "--rate", 20, "--ramp", "500ms", "--warm-up", "500ms", "--stages",
        "1s:60,0s:100,500ms:100,500ms:0", "--raw", raw).succeeds().report  # fmt: skip
    # The means of the rates at both ends of each stage: 40, 100 and 50 in a second.
    stages = {part["name"]: (part["start_seconds"], part["calls"]) for part in report["stages"]}
    assert stages == {"1s:60": (0, 40), "0.5s:100": (1, 50), "0.5s:0": (1.5, 25)}
    assert (report["calls"], report["errors"], report["not_started"], "intended_rate" in report) == (115, 0, 0, False)
    assert received(server, HELLO) == 5 + 10 + 115
    latencies = [int(line) / 1e6 for line in raw.read_text().splitlines()]
    assert len(latencies) == 115
    for percent in (50, 75, 90, 95, 99):
        assert report["latency_ms"][f"p{percent}"] == rounded(percentile(latencies, percent))


def test_stages_change_the_calls_that_run(load, start_server):
    """No call ends, so that those that run are those that the server received."""
    server = start_server("grpc_server.py")
    report = load(
        f"localhost:{server.port}", DELAY, "--jobs", 1, "--stages", "400ms:3,0s:7,1s:7,0s:0,100ms:0",
        data='{"milliseconds":60000}').report  # fmt: skip
    assert (report["jobs"], report["loop"]) == (7, "closed")
    assert report["statuses"] == [{"status": "unfinished", "calls": 7}] and received(server, DELAY) == 7
    stages = [(part["name"], part["start_seconds"], part["calls"]) for part in report["stages"]]
    assert stages == [("0.4s:3", 0, 3), ("1s:7", 0.4, 4), ("0.1s:0", 1.4, 0)]


@pytest.mark.parametrize("requests", [1, 3, 4])
def test_run_ends_when_interceptors_respond_within_the_start_of_calls(load, tmp_path, requests):
    (tmp_path / "stubs.json").write_text('{"method": "demo.v1.Demo/Hello", "response": {"message": {}}}')
    # The event loop waits for 60 seconds if nothing happens.
    result = load(
        "localhost:1", HELLO, "--requests", requests, "--jobs", 1, "--use", f"mock,file={tmp_path}/stubs.json",
        timeout=30)  # fmt: skip
    assert (result.code, result.err, result.report["calls"]) == (0, "", requests)


def test_a_pause_of_the_server_shows_in_the_open_loop(load, raw_server):
    """A server that pauses for one of three seconds delays a third of the calls by half a second on average."""
    server = raw_server(PausingServer(pause_after=100))
    report = load(server.address, HELLO, "--rate", 100, "--duration", "3s").report
    assert (report["calls"], report["errors"]) == (300, 0)
    latency = report["latency_ms"]
    assert latency["p90"] > 500 and latency["max"] >= 990
    assert max(interval["max_ms"] for interval in report["intervals"]) == pytest.approx(latency["max"], rel=0.01)


def test_calls_that_cannot_start_are_errors(load, address):
    result = load(
        address, DELAY, "--rate", 100, "--jobs", 2, "--duration", "1s", "--threshold", "errors<1%",
        data='{"milliseconds":400}')  # fmt: skip
    report = result.report
    assert report["not_started"] + report["calls"] == 100 and report["not_started"] > 50
    assert report["errors"] == report["not_started"] and result.code == 8
    # Calls that started late waited for a place.
    assert report["latency_ms"]["max"] > 800


def test_stages_have_the_calls_that_did_not_start(load, address):
    report = load(
        address, DELAY, "--rate", 0, "--jobs", 1, "--stages", "0s:5,200ms:5,0s:50,200ms:50,0s:100,200ms:100",
        data='{"milliseconds":100}').report  # fmt: skip
    for key in ("calls", "errors", "not_started"):
        assert sum(stage[key] for stage in report["stages"]) == report[key] > 0
    assert report["stages"][-1]["not_started"] == 20


# What is measured


def test_raw_file_is_kept_if_the_process_is_killed(rpcurl, raw_server, descriptor_set, tmp_path):
    called = threading.Event()
    server = raw_server(raw_http2.handler(lambda _: called.set()))
    raw = write(tmp_path / "raw.txt", "1\n")
    options = ["--descriptor-set", descriptor_set, "--plaintext", "--raw", raw, "-d", ADA]
    with rpcurl.start("load", *options, server.address, HELLO) as process:
        assert called.wait(60)
        process.kill()
        process.wait()
    assert raw.read_text() == "1\n"
    assert [file.name for file in tmp_path.iterdir()] == ["raw.txt"]


def test_raw_file_keeps_its_permissions_and_links(load, address, tmp_path):
    file = write(tmp_path / "raw.txt", "old\n" * 100)
    file.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(file)
    load(address, HELLO, "--requests", 3, "--raw", link)
    assert link.is_symlink() and file.stat().st_mode & 0o777 == 0o640
    assert len([int(line) for line in file.read_text().splitlines()]) == 3


def numbers(payload):
    """The numbers of a payload in ZigZag LEB128."""
    value = shift = 0
    for byte in payload:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value >> 1 ^ -(value & 1)
            value = shift = 0


def test_log_has_the_histogram(load, address, tmp_path):
    load(address, HELLO, "--requests", 200, "--hdr", tmp_path / "load.hlog", "--raw", tmp_path / "raw.txt")
    lines = (tmp_path / "load.hlog").read_text().splitlines()
    assert lines[1] == "#[Histogram log format version 1.3]"
    lines = lines[:2] + [line for line in lines[2:] if not line.startswith("# ")]
    assert lines[3] == '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
    start, length, longest, encoded = lines[4].split(",")
    cookie, size = struct.unpack(">II", b64decode(encoded)[:8])
    assert cookie == 0x1C849314
    histogram = zlib.decompress(b64decode(encoded)[8 : 8 + size])
    cookie, size, offset, digits, lowest, highest, ratio = struct.unpack(">IIIIQQd", histogram[:40])
    assert (cookie, offset, digits, lowest, ratio, size) == (0x1C849313, 0, 3, 1, 1, len(histogram) - 40)
    classes = []
    for number in numbers(histogram[40:]):
        classes += [number] if number >= 0 else [0] * -number
    assert sum(classes) == 200
    # A class of three digits: 2048 of them for the numbers up to 2047, then 1024 for each power of two.
    expected = {}
    for line in (tmp_path / "raw.txt").read_text().splitlines():
        value = int(line)
        shift = max(value.bit_length() - 11, 0)
        index = shift * 1024 + (value >> shift)
        expected[index] = expected.get(index, 0) + 1
    assert {index: count for index, count in enumerate(classes) if count} == expected


def test_log_is_read_by_hdrhistogram(load, address, tmp_path):
    reader = pytest.importorskip("hdrh.log")
    histogram = pytest.importorskip("hdrh.histogram")
    report = load(address, HELLO, "--requests", 200, "--hdr", tmp_path / "load.hlog").report
    into = histogram.HdrHistogram(1, 86_400_000_000_000, 3)
    read = reader.HistogramLogReader(str(tmp_path / "load.hlog"), into).get_next_interval_histogram()
    assert read.get_total_count() == 200
    for percentile in (50, 90, 99):
        # The log has the end of a class where the report has the longest latency.
        assert read.get_value_at_percentile(percentile) / 1e6 == rounded(report["latency_ms"][f"p{percentile}"])


def test_failed_connections_are_errors(load):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        result = load(f"127.0.0.1:{free.getsockname()[1]}", HELLO, "--requests", 5, "--jobs", 1)
    assert (result.code, result.report["errors"]) == (0, 5)
    assert result.report["statuses"][0]["status"] == "unavailable" and result.report["statuses"][0]["first"]


def test_findings_of_interceptors_are_errors(load, address):
    result = load(address, HELLO, "--requests", 4, "--use", "assert,check=.message == no")
    assert [status["status"] for status in result.report["statuses"]] == ["assertion_failed"]
    assert result.report["errors"] == 4


def test_streams_are_calls(load, address):
    report = load(address, COUNT, "--requests", 10, "--jobs", 2, data='{"from":1,"to":50}').report
    assert (report["calls"], report["sent_messages"], report["received_messages"]) == (10, 10, 500)
    report = load(address, CHAT, "--requests", 10, "--jobs", 2, data='{"text":"a"}{"text":"b"}{"text":"c"}').report
    assert (report["errors"], report["calls"], report["sent_messages"], report["received_messages"]) == (0, 10, 30, 30)
    report = load(address, SUM, "--requests", 3, data='{"value":1}{"value":2}').report
    assert (report["calls"], report["sent_messages"], report["received_messages"]) == (3, 6, 3)


@pytest.mark.parametrize(
    ("shape", "count"), [(["--duration", "100ms", "--jobs", 2], 2), (["--rate", 0.001, "--requests", 1], 1)]
)
def test_calls_that_do_not_end_are_unfinished(load, address, shape, count):
    """They are canceled five seconds after the last start, whenever the next call would be due."""
    report = load(address, DELAY, *shape, data='{"milliseconds":60000}').report
    assert report["statuses"] == [{"status": "unfinished", "calls": count}]
    assert (report["errors"], report["latency_ms"]) == (count, None)


@pytest.mark.parametrize("way", ["grpc-web http1", "connect http1", "connect http2"])
def test_other_protocols(load, connect_server, way):
    protocol, version = way.split()
    version = {"http1": "--http1.1", "http2": "--http2"}[version]
    result = load(f"localhost:{connect_server.port}", HELLO, "--protocol", protocol, version, "--requests", 50)
    assert (result.code, result.report["calls"], result.report["errors"]) == (0, 50, 0)


# Connections


@pytest.mark.parametrize("count", [1, 3])
def test_calls_are_spread_over_connections(load, grpc_server, raw_server, count):
    proxy = raw_server(lambda client: relay(client, grpc_server.port))
    result = load(proxy.address, HELLO, "--connections", count, "--requests", 300, "--jobs", 6)
    assert (result.code, result.report["errors"], result.report["connections"]) == (0, 0, count)
    assert proxy.connections == count


def test_calls_wait_for_a_connection_of_http_1(load, connect_server, raw_server):
    proxy = raw_server(lambda client: relay(client, connect_server.port))
    result = load(
        proxy.address, HELLO, "--protocol", "connect", "--http1.1", "--connections", 2, "--requests", 40, "--jobs", 8)
    assert (result.code, result.report["errors"]) == (0, 0)
    assert proxy.connections == 2


class TwoAddresses:
    """A relay to a server on the same port of two addresses of this machine, with the connections of each."""

    def __init__(self, port):
        self.upstream = port
        self.connections = {"127.0.0.1": [], "127.0.0.2": []}
        first = socket.create_server(("127.0.0.1", 0))
        self.port = first.getsockname()[1]
        self.listeners = [first, socket.create_server(("127.0.0.2", self.port))]
        # A listener may be closed before its thread begins.
        for listener, clients in zip(self.listeners, self.connections.values()):
            threading.Thread(target=self.accept, args=(listener, clients), daemon=True).start()

    def accept(self, listener, clients):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            clients.append(client)
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client:
            relay(client, self.upstream)

    def close(self, index):
        # Only shutdown wakes the thread that waits in accept.
        self.listeners[index].shutdown(socket.SHUT_RDWR)
        self.listeners[index].close()


@pytest.fixture
def two_addresses(grpc_server):
    server = TwoAddresses(grpc_server.port)
    yield server
    for listener in server.listeners:
        listener.close()


def test_connections_are_spread_over_addresses(load, two_addresses):
    port = two_addresses.port
    resolve = ["--resolve", f"demo.test:{port}:127.0.0.1,127.0.0.2", "-v"]
    result = load(f"demo.test:{port}", HELLO, *resolve, "--connections", 4, "--requests", 100, "--jobs", 8)
    assert (result.code, result.report["errors"]) == (0, 0)
    addresses = {one["name"]: one["calls"] for one in result.report["addresses"]}
    assert set(addresses) == {f"127.0.0.1:{port}", f"127.0.0.2:{port}"}
    # Two of the eight that call use a connection; how many calls they make depends on how soon they get responses.
    assert sum(addresses.values()) == 100 and min(addresses.values()) >= 4, addresses
    assert f"* 4 connections to 127.0.0.1:{port}, 127.0.0.2:{port}\n" in result.err
    # Two connections for calls, and one that showed that the address accepts connections.
    assert [len(made) for made in two_addresses.connections.values()] == [3, 3]


def test_calls_by_address_in_the_report_as_text(rpcurl, descriptor_set, two_addresses):
    port = two_addresses.port
    arguments = ["--descriptor-set", descriptor_set, "-d", ADA, "--resolve", f"demo.test:{port}:127.0.0.1,127.0.0.2"]
    result = rpcurl("load", *arguments, "--connections", 2, "--requests", 20, "--plaintext", f"demo.test:{port}", HELLO).succeeds()
    assert f"\naddresses\n  127.0.0.1:{port}" in result.out, result.out


def test_address_without_a_server_gets_no_calls(load, two_addresses):
    port = two_addresses.port
    two_addresses.close(1)
    resolve = ["--resolve", f"demo.test:{port}:127.0.0.1,127.0.0.2"]
    result = load(f"demo.test:{port}", HELLO, *resolve, "--connections", 2, "--requests", 20)
    assert (result.code, result.report["errors"], "addresses" in result.report) == (0, 0, False)
    assert result.err.startswith(f"rpcurl: no calls to 127.0.0.2:{port}: cannot connect to "), result.err


# Thresholds


def test_all_thresholds_that_fail_are_reported(load, address):
    result = load(address, HELLO, "--requests", 20, "--threshold", "min<1ns,errors<1,rate>10000000").exits(8)
    assert [one["passed"] for one in result.report["thresholds"]] == [False, True, False]
    assert result.err.startswith("rpcurl: threshold failed: min<1ns (") and "rate>10000000 (" in result.err


# Comparison


def fisher(part, count, old_part, old_count):
    """The probability of Fisher's exact test, one-sided."""
    marked, ways = part + old_part, math.comb(count + old_count, part + old_part)
    return sum(math.comb(count, k) * math.comb(old_count, marked - k) for k in range(part, min(marked, count) + 1)) / ways


def test_comparison_is_that_of_python(load, address, tmp_path):
    """The probabilities are those of all latencies, and a slower run ends with 8."""
    options = ["--requests", 400, "--jobs", 2, "--raw"]
    old = load(address, HELLO, *options, tmp_path / "old.txt").succeeds().report
    (tmp_path / "old.json").write_text(json.dumps(old))
    for slower in ([], ["-H", "demo-fail-attempts: 9", "--use", "retry,attempts=2,initial=20ms"]):
        result = load(address, HELLO, *options, tmp_path / "new.txt", *slower, "--compare", tmp_path / "old.json")
        before, now = ([int(line) for line in (tmp_path / f"{name}.txt").read_text().splitlines()] for name in ("old", "new"))
        tests = {test["threshold"]: test for test in result.report["thresholds"]}
        assert list(tests) == ["p50 <= old.json", "p90 <= old.json", "p99 <= old.json", "errors <= old.json"]
        for percent in (50, 90, 99):
            test = tests[f"p{percent} <= old.json"]
            measured = re.fullmatch(r"([\d.]+) ms, was ([\d.]+) ms \([+-][\d.]+ %\), p ([=<]) ([\d.]+)", test["measured"])
            assert float(measured[1]) == rounded(percentile(now, percent) / 1e6)
            assert float(measured[2]) == rounded(percentile(before, percent) / 1e6)
            # Latencies of one class are one value.
            classes = [end for end, _ in result.report["histogram_ns"]] + [end for end, _ in old["histogram_ns"]]
            limit = min(end for end in classes if end >= percentile(before + now, percent))
            part, old_part = (sum(latency > limit for latency in latencies) for latencies in (now, before))
            chance = fisher(part, 400, old_part, 400) if part > old_part else 1
            if measured[3] == "=":
                assert float(measured[4]) == pytest.approx(chance, abs=0.0001)
            else:
                assert chance < 0.0001
            assert test["passed"] == (chance >= 0.0025 or float(measured[1]) < 1.05 * float(measured[2]))
        assert (result.code == 8) == (not all(test["passed"] for test in tests.values()))
    assert result.code == 8 and not tests["p50 <= old.json"]["passed"] and not tests["errors <= old.json"]["passed"]
    assert "rpcurl: threshold failed: p50 <= old.json (" in result.err


@pytest.mark.parametrize(
    ("content", "options", "error"),
    [
        (None, [], "No such file or directory"), ("rpcurl", [], "not JSON"), ("{}", [], "not a report of a load"),
        ("report", ["--jobs", 3], "a run of another load: closed loop, 10 at a time; this one is closed loop, 3 at a time"),
    ],
)
def test_report_that_cannot_be_compared(load, address, tmp_path, content, options, error):
    old = tmp_path / "old.json"
    if content == "report":
        content = load(address, HELLO, "--requests", 2).succeeds().out
    if content is not None:
        old.write_text(content)
    result = load(address, HELLO, "--requests", 2, "--compare", old, *options)
    assert (result.code, result.out) == (4, "") and error in result.err


# Reports


def test_report_as_text(rpcurl, descriptor_set, address):
    words = ["load", "--plaintext", "--descriptor-set", descriptor_set, "-d", ADA, "--requests", 20]
    lines = rpcurl(*words, "--threshold", "errors<1", address, HELLO).succeeds().out.splitlines()
    assert lines[:2] == [f"{HELLO} at http://{address}", "closed loop, 10 at a time"]
    assert any(line.split()[:2] == ["calls", "20"] for line in lines)
    assert any(line.split()[0] == "p99.9" for line in lines if line)
    assert lines[-1].split() == ["passed", "errors<1", "0"]


def test_report_as_csv(rpcurl, descriptor_set, address):
    words = ["load", "--plaintext", "--descriptor-set", descriptor_set, "-d", ADA, "--requests", 20]
    (row,) = csv.DictReader(io.StringIO(rpcurl(*words, "--format", "csv", address, HELLO).out))
    assert (row["method"], row["calls"], row["errors"]) == (HELLO, "20", "0") and float(row["p99_ms"]) > 0


@pytest.mark.parametrize("form", ["json", "text", "csv"])
def test_reports_name_the_run(rpcurl, descriptor_set, address, tmp_path, form):
    """All reports have the tags, the time, the version and the command, in which no secret occurs."""
    words = ["--plaintext", "--descriptor-set", descriptor_set, "-d", ADA, "--requests", 5, "--tag", "branch=main",
             "--tag", "note=a,b", "-H", "x-api-key: 5ecret", "--bearer", "t0ken", "--expand", "--var", "password=hunter2"]  # fmt: skip
    reports = ["--html", tmp_path / "page.html", "--hdr", tmp_path / "load.hlog", "--format", form]
    out = rpcurl("load", *words, *reports, address, HELLO).succeeds().out
    version = rpcurl("--version").out.split("\n")[0].split(" (")[0]
    for text in (out, (tmp_path / "page.html").read_text(), (tmp_path / "load.hlog").read_text()):
        assert all(secret not in text for secret in ("5ecret", "t0ken", "hunter2"))
        assert version in text and re.search(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", text)
        assert "X_API_KEY" in text and "--requests 5" in text
        assert "branch=main" in text or form == "json" and text == out or form == "csv" and text == out
    if form == "json":
        assert json.loads(out)["tags"] == {"branch": "main", "note": "a,b"}
        assert any(line.startswith("# Set X_API_KEY in ") for line in json.loads(out)["command"].splitlines())
    if form == "csv":
        (row,) = csv.DictReader(io.StringIO(out))
        assert (row["tag.branch"], row["tag.note"], row["version"]) == ("main", "a,b", version)


def test_report_is_printed_if_latencies_cannot_be_written(load, address):
    result = load(address, HELLO, "--requests", 5, "--raw", "/dev/full")
    assert result.code == 1 and result.err.startswith("rpcurl: --raw /dev/full: ")
    assert result.report["calls"] == 5


@pytest.mark.parametrize("option", ["--html", "--hdr", "--raw"])
def test_report_that_cannot_be_written_is_refused_before_the_run(load, tmp_path, option):
    result = load("localhost:1", HELLO, "--duration", "1h", option, tmp_path / "none" / "x").exits(1, "")
    assert result.err == f"rpcurl: {tmp_path}/none/x: No such file or directory\n"


def test_one_report_that_cannot_be_written_leaves_the_others(load, address, tmp_path):
    other = tmp_path / "load.hlog"
    result = load(address, HELLO, "--requests", 5, "--html", "/dev/full", "--hdr", other, "--threshold", "rate<0")
    assert result.code == 8 and result.report["calls"] == 5 and other.stat().st_size > 0
    assert result.err.startswith("rpcurl: --html /dev/full: ") and "rpcurl: threshold failed: " in result.err


def test_files_are_written_if_standard_output_is_closed(rpcurl, descriptor_set, address, tmp_path):
    files = [tmp_path / "load.html", tmp_path / "load.hlog"]
    words = ["load", "--plaintext", "--descriptor-set", descriptor_set, "-d", ADA, "--requests", 5,
             "--html", files[0], "--hdr", files[1], address, HELLO]  # fmt: skip
    with rpcurl.start(*words) as process:
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate()
    assert (process.returncode, err) == (-signal.SIGPIPE, b"")
    assert all(file.stat().st_size > 0 for file in files)


def test_interrupted_run_is_reported(rpcurl, descriptor_set, grpc_server):
    words = ["load", "--plaintext", "--descriptor-set", descriptor_set, "--format", "json", "--jobs", 2,
             "-d", '{"milliseconds":20}', "--duration", "1h", f"localhost:{grpc_server.port}", DELAY]  # fmt: skip
    calls = grpc_server.log().splitlines().count(f"received {DELAY}")
    with rpcurl.start(*words) as process:
        grpc_server.wait_for_calls(DELAY, calls + 5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    report = json.loads(out)
    assert (process.returncode, report["interrupted"], err) == (130, True, b"" if isinstance(err, bytes) else "")
    assert report["calls"] >= 1 and [status["status"] for status in report["statuses"]] == ["ok"]


# Arguments


def test_invalid_data_is_reported_before_a_call(load, address, grpc_server):
    result = load(address, HELLO, "--requests", 3, data='{"name":5}')
    assert result.code == 4 and "-d" in result.err and result.out == ""


# k6


def exported(rpcurl, descriptor_set, *words):
    return rpcurl("load", "--descriptor-set", descriptor_set, "--export", "k6", *words)


@pytest.mark.parametrize("method", [HELLO, COUNT, SUM, CHAT])
@pytest.mark.parametrize(
    "shape",
    [
        ["--rate", 200, "--ramp", "10s", "--duration", "30s", "--warm-up", "5s"], ["--rate", 0.5, "--requests", 10],
        ["--rate", 0, "--stages", "10s:50,0s:80,1m:80"], ["--stages", "30s:20"], ["--jobs", 9, "--ramp", "2s"],
        ["--jobs", 20, "--duration", "30s"], ["--jobs", 5, "--requests", 100, "--warm-up", "1s"],
    ],
)  # fmt: skip
def test_script_for_k6_is_javascript(rpcurl, descriptor_set, method, shape):
    tree_sitter, grammar = pytest.importorskip("tree_sitter"), pytest.importorskip("tree_sitter_javascript")
    data = {HELLO: ADA, COUNT: '{"from":1,"to":2}', SUM: '{"value":1}{"value":2}', CHAT: '{"text":"\\u2028\'`"}'}[method]
    result = exported(
        rpcurl, descriptor_set, "--plaintext", *shape, "-H", "x-tenant: blue", "-H", "trace-bin: AAEC", "-m", "2s",
        "--threshold", "p99<50ms,errors<0.1%,errors<3,rate>10", "-d", data, "localhost:50051", method).succeeds()  # fmt: skip
    root = tree_sitter.Parser(tree_sitter.Language(grammar.language())).parse(result.out.encode()).root_node
    assert not root.has_error, result.out
    kinds = [node.type for node in root.named_children]
    assert (kinds.count("import_statement"), kinds.count("export_statement")) == (4, 2)
    options = next(node for node in root.named_children if node.type == "export_statement")
    (declaration,) = options.named_children[0].named_children
    members = declaration.child_by_field_name("value").named_children
    assert [member.child_by_field_name("key").text for member in members] == [b"scenarios", b"thresholds"]


def test_script_has_no_secrets(rpcurl, descriptor_set):
    result = exported(rpcurl, descriptor_set, "--bearer", "s3cret", "-H", "x-api-key: other", "-H", "x-token-bin: AQID",
                      "https://demo.example", HELLO).exits(0)  # fmt: skip
    assert all(text not in result.out for text in ("s3cret", "other", "AQID", "1, 2, 3"))
    assert "b64decode(__ENV.X_TOKEN_BIN" in result.out
    assert "__ENV.AUTHORIZATION" in result.out and "// Set X_API_KEY in the environment" in result.out
    assert 'client.connect("demo.example:443", { plaintext: false' in result.out


def test_script_for_k6_has_all_options(rpcurl, descriptor_set, tmp_path):
    other = write(tmp_path / "other.binpb", descriptor_set.read_bytes())
    result = exported(
        rpcurl, descriptor_set, "--descriptor-set", other, "--authority", "a.example", "-A", "probe", "-k",
        "--max-message-size", "1k", "--compression", "gzip", "--connections", 4, "-d", ADA, "localhost:50051", HELLO).succeeds()  # fmt: skip
    # The first source of a name applies in rpcurl, and the last in k6.
    loads = [line for line in result.out.splitlines() if line.startswith("client.load")]
    assert [json.dumps(str(path)) in line for path, line in zip([other, descriptor_set], loads, strict=True)] == [True] * 2
    assert 'authority: "a.example", maxReceiveSize: 1024 }' in result.out
    assert 'userAgent: "probe"' in result.out and "insecureSkipTLSVerify: true" in result.out
    assert "metadata: {  }" in result.out and "certificates" not in result.out
    assert "// Not in k6: --compression, --connections.\n" in result.out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["-H", "x-a: 1", "-H", "x-a: 2", "http://localhost:8080"], "k6 sends one value of a header, and x-a has several"),
        (["--protocol", "connect", "http://localhost:8080"], "supports gRPC only, not connect"),
        (["unix:demo.sock"], "k6 cannot connect to a Unix socket"),
        (["--expand=files", "http://localhost:8080"], "k6 cannot replace the values of --expand in data"),
        (["--stages", "9s:9", "--requests", 50, "http://localhost:8080"], "stages of k6 have no limit of calls"),
        (["--rate", 100, "--requests", 50, "http://localhost:8080"], "a part of less than 1 s, which k6 refuses"),
    ],
)
def test_what_k6_cannot_do_is_refused(rpcurl, descriptor_set, words, why):
    result = exported(rpcurl, descriptor_set, "-d", ADA, *words, HELLO)
    assert result.code == 2 and result.err.startswith("rpcurl: --export k6: ") and why in result.err


# Resources


def test_memory_does_not_grow_with_the_run(rpcurl, descriptor_set, raw_server):
    """The memory after many calls is that after some calls."""
    server = PausingServer(pause_after=-1)
    listening = raw_server(server)
    words = ["load", "--plaintext", "--descriptor-set", descriptor_set, "--jobs", 20, "-d", ADA, "--duration", "1h",
             listening.address, HELLO]  # fmt: skip
    with rpcurl.start(*words) as process:
        wait_until(lambda: server.calls > 1000, "1000 calls")
        some = process.resident_kilobytes()
        wait_until(lambda: server.calls > 6000, "6000 calls")
        assert process.resident_kilobytes() < some + 2048
        process.send_signal(signal.SIGINT)
        process.communicate()
