"""The interceptor `metrics`, over calls, batches and sessions."""

import json
import math
import re
import signal

import pytest
from prometheus_client.parser import text_string_to_metric_families

import collector
import manual
from harness import names

HELLO = "demo.v1.Demo/Hello"
FAIL = "demo.v1.Demo/Fail"
COUNT = "demo.v1.Demo/Count"
DELAY = "demo.v1.Demo/Delay"
ADA = '{"name":"Ada"}'


@pytest.fixture
def otlp():
    with collector.running() as server:
        yield server


def test_batch_is_reported_in_a_table(call):
    result = call(HELLO, "--each", "--jobs", 4, "--use", "metrics", input=names(9))
    assert result.code == 0 and len(result.out.splitlines()) == 9
    heading, line = result.err.splitlines()
    assert re.split(r"\s{2,}", heading)[:4] == ["METHOD", "STATUS", "CALLS", "MEAN"]
    cells = re.split(r"\s{2,}", line)
    assert cells[:3] == [HELLO, "ok", "9"]
    assert all(re.fullmatch(r"\d+(\.\d+)? (us|ms|s)", cell) for cell in cells[3:9])
    assert re.fullmatch(r"9 \(\d+(\.\d+)? k?B\)", cells[9]) and cells[10].startswith("9 (")


def test_json_counts_streams_and_failures(call):
    def report(method, data):
        result = call(method, "-d", data, "--use", "metrics,format=json")
        report = json.loads(result.err.splitlines()[-1])
        (series,) = report["calls"]
        return result, series

    result, series = report(COUNT, '{"from":1,"to":5}')
    assert result.code == 0
    assert (series["method"], series["protocol"], series["code"]) == (COUNT, call.protocol, "ok")
    assert (series["calls"], series["sent"], series["received"]) == (1, 1, 5)
    assert series["bytes_received"] > 0 and series["latency_ms"]["min"] > 0
    result, series = report(FAIL, '{"code":5,"message":"no"}')
    assert (result.code, series["code"], series["code_number"]) == (64 + 5, "not_found", 5)


def test_latency_of_a_stream_is_the_time_to_its_end(call):
    result = call(DELAY, "-d", '{"milliseconds":300}', "--use", "metrics,format=json")
    assert json.loads(result.err)["calls"][0]["latency_ms"]["p50"] >= 300


def test_prometheus_can_read_the_file(call, tmp_path):
    file = tmp_path / "rpcurl.prom"
    for _ in range(2):  # The second run replaces the file.
        call(HELLO, "--each", "--use", f"metrics,format=prometheus,file={file}", input=names(3)).succeeds()
    families = {family.name: family for family in text_string_to_metric_families(file.read_text())}
    assert families["rpcurl_sent_messages"].type == "counter"
    duration = families["rpcurl_call_duration_seconds"]
    assert duration.type == "histogram"
    labels = {"service": "demo.v1.Demo", "method": "Hello", "protocol": call.protocol, "code": "ok"}
    buckets = [sample for sample in duration.samples if sample.name.endswith("_bucket")]
    assert all({**labels, "le": sample.labels["le"]} == sample.labels for sample in buckets)
    counts = [sample.value for sample in buckets]
    assert counts == sorted(counts) and counts[-1] == 3 and math.isinf(float(buckets[-1].labels["le"]))
    assert list(tmp_path.iterdir()) == [file]


def test_otlp_is_sent_to_a_collector(call, otlp):
    call(
        HELLO, "--each", "--use", f"metrics,format=otlp,endpoint={otlp.url}", input=names(3),
        env={"OTEL_SERVICE_NAME": "tests", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=a%20b"},
    ).succeeds()  # fmt: skip
    (request,) = otlp.requests
    (resource,) = request.resource_metrics
    assert collector.attributes(resource.resource) == {"service.name": "tests", "deployment.environment": "a b"}
    metrics = {metric.name: metric for metric in resource.scope_metrics[0].metrics}
    duration = metrics["rpc.client.duration"]
    (point,) = duration.histogram.data_points
    status = {} if call.protocol == "connect" else {"rpc.grpc.status_code": 0}
    system = "connect_rpc" if call.protocol == "connect" else "grpc"
    expected = {"rpc.system": system, "rpc.service": "demo.v1.Demo", "rpc.method": "Hello", **status}
    assert (duration.unit, collector.attributes(point)) == ("ms", expected)
    assert point.count == 3 and sum(point.bucket_counts) == 3
    assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
    assert 0 < point.min <= point.sum / 3 <= point.max * 1.001
    assert 0 < point.start_time_unix_nano < point.time_unix_nano
    assert metrics["rpc.client.requests_per_rpc"].histogram.data_points[0].sum == 3
    received = metrics["rpcurl.client.received.bytes"].sum
    assert received.is_monotonic and received.data_points[0].as_int > 0


def test_otlp_can_be_written_to_a_file(call, tmp_path):
    file = tmp_path / "metrics.pb"
    assert call(HELLO, "-d", ADA, "--use", f"metrics,format=otlp,file={file}").code == 0
    request = collector.TYPES["/v1/metrics"].FromString(file.read_bytes())
    assert len(request.resource_metrics[0].scope_metrics[0].metrics) == 5


def test_failed_export_does_not_fail_the_call(call, otlp):
    otlp.status = 503
    call(HELLO, "-d", ADA, "--use", "metrics,format=otlp", env={"OTEL_EXPORTER_OTLP_ENDPOINT": otlp.url}).exits(
        0, err=f"metrics: not exported: {otlp.address} responded with HTTP 503\n",
    )


def test_unwritable_file_does_not_fail_the_call(call):
    result = call(HELLO, "-d", ADA, "--use", "metrics,file=/no/such/file").exits(0)
    assert result.err == "metrics: cannot write the report: /no/such/file: No such file or directory\n"


def test_session_is_reported_at_its_end(rpcurl, grpc_server, descriptor_set):
    result = rpcurl(
        "session", "--descriptor-set", descriptor_set, "--use", "metrics,format=json", grpc_server.url,
        input=f'call {HELLO} {ADA}\ncall {FAIL} {{"code":5}}\nremove metrics\nuse metrics,format=json\ncall {HELLO} {ADA}\n',
    )  # fmt: skip
    reports = [json.loads(line) for line in result.err.splitlines() if line.startswith("{")]
    found = [[(series["method"], series["code"]) for series in report["calls"]] for report in reports]
    assert found == [[(FAIL, "not_found"), (HELLO, "ok")], [(HELLO, "ok")]]


def test_interrupted_batch_is_reported(rpcurl, grpc_server, descriptor_set):
    arguments = ("--descriptor-set", descriptor_set, "--each", "--use", "metrics,format=json", f"{grpc_server.url}/{DELAY}")
    with rpcurl.start(*arguments) as process:
        process.stdin.write(b'{"milliseconds":1}\n{"milliseconds":60000}\n')
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"{")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    (report,) = [json.loads(line) for line in err.splitlines() if line.startswith(b"{")]
    codes = [series["code"] for series in report["calls"]]
    assert codes[0] == "ok" and set(codes[1:]) <= {"canceled"}


def test_examples_of_the_manual(grpc_server, descriptor_set, tmp_path):
    batch, quantile, prometheus = (
        manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
        for script in manual.examples("rpcurl-metrics.7")
    )
    assert batch.returncode == 0 and "demo.v1.Demo/Hello  ok      3 " in batch.stderr, batch.stderr
    assert quantile.returncode == 0 and float(quantile.stdout) >= 50, quantile.stderr
    assert (prometheus.returncode, prometheus.stdout) == (0, "17\n"), prometheus.stderr
