import RPCurlChain
import RPCurlProtocols
import Testing

@testable import RPCurlProgram

struct JSONColorTests {
  /// Colours with N for names, S for strings and / for their end.
  private func colored(_ json: String) -> String {
    String(decoding: JSONColor(nil).colored(json.utf8), as: UTF8.self)
      .split(separator: "\u{1b}[", omittingEmptySubsequences: false).map(String.init)
      .reduce(into: "") { text, part in
        for (code, mark) in [("1m", "N"), ("35m", "S"), ("0m", "/")] where part.hasPrefix(code) {
          text += mark + part.dropFirst(code.count)
          return
        }
        text += part
      }
  }

  @Test(arguments: [
    ("{}", "{}"), (#"{"a":1}"#, #"{N"a"/:1}"#), (#"{"a":"b"}"#, #"{N"a"/:S"b"/}"#),
    (#"["a",true,null,1.5]"#, #"[S"a"/,true,null,1.5]"#),
    (#""a\":b\\""#, #"S"a\":b\\"/"#), (#""unclosed"#, #"S"unclosed/"#), (#""a\"#, #"S"a\/"#),
  ])
  func colorsNamesAndStrings(json: String, text: String) {
    #expect(colored(json) == text)
  }

  @Test(arguments: [
    (
      "0;90:31:32:33:34:36:37:1;34",
      "<37>{<.><1;34>\"a\"<.>:<36>[<.><0;90>null<.>,<31>false<.>,<32>true<.>,<33>-1.5e3<.>,<34>\"b\"<.><36>]<.><37>}<.>"
    ),
    ("::::", "{<1>\"a\"<.>:[null,false,true,-1.5e3,\"b\"]}"),
    ("", "{<1>\"a\"<.>:[null,false,true,-1.5e3,<35>\"b\"<.>]}"),
    ("31:x", "{<1>\"a\"<.>:[null,false,true,-1.5e3,<35>\"b\"<.>]}"),
    ("31:\u{1B}[2J", "{<1>\"a\"<.>:[null,false,true,-1.5e3,<35>\"b\"<.>]}"),
  ])
  func variableChoosesColors(setting: String, text: String) {
    let colored = JSONColor(setting).colored(#"{"a":[null,false,true,-1.5e3,"b"]}"#.utf8)
    let shown = String(decoding: colored, as: UTF8.self).replacing("\u{1b}[0m", with: "<.>")
    #expect(
      shown.split(separator: "\u{1b}[", omittingEmptySubsequences: false).enumerated().map { index, part in
        index == 0 ? String(part) : "<" + part.replacing("m", with: ">", maxReplacements: 1)
      }.joined() == text)
  }
}

struct TimingLineTests {
  @Test func showsKnownTimesInOrder() {
    var metrics = CallMetrics()
    metrics.total = .microseconds(12_345)
    #expect(TimingLine.text(metrics) == "timing: total 12.3 ms")
    metrics.resolve = .microseconds(49)
    metrics.connect = .microseconds(51)
    metrics.tls = .milliseconds(7)
    metrics.firstByte = .microseconds(9_960)
    metrics.attempts = 2
    #expect(
      TimingLine.text(metrics)
        == "timing: resolve 0.0 ms, connect 0.1 ms, TLS 7.0 ms, first byte 10.0 ms, total 12.3 ms, 2 attempts"
    )
  }
}

struct FindingCollectorTests {
  private func finding(_ kind: Finding.Kind, _ text: String = "") -> Finding {
    Finding(interceptor: "x", kind: kind, text: text)
  }

  @Test(arguments: [
    ([], false, false), ([Finding.Kind.note], false, false), ([.note, .failure], true, false),
    ([.expectedStatus], false, true), ([.expectedStatus, .failure], true, true),
  ])
  func reportsOutcome(kinds: [Finding.Kind], hasFailure: Bool, hasExpectedStatus: Bool) {
    let collector = FindingCollector()
    for kind in kinds { collector.sink(finding(kind)) }
    #expect(collector.hasFailure == hasFailure)
    #expect(collector.hasExpectedStatus == hasExpectedStatus)
  }

  @Test func returnsFindingsInOrderOnce() {
    let collector = FindingCollector()
    collector.sink(finding(.note, "1"))
    collector.sink(finding(.failure, "2"))
    #expect(collector.removeAll().map(\.text) == ["1", "2"])
    #expect(collector.removeAll().isEmpty)
    #expect(!collector.hasFailure)
  }
}
