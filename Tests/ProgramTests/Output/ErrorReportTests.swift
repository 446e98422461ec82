import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlProgram

struct ErrorReportTests {
  private func rendered(_ report: ErrorReport, _ options: String...) -> String {
    report.rendered(Diagnostics(Parser.parse(["call"] + options)))
  }

  private let report = ErrorReport(Failure.Message(what: "what", why: "why", hint: "do this"), .usage)

  @Test(arguments: [
    ([], "rpcurl: what: why\nhint: do this\n"), (["-s"], ""),
    (["-s", "-S"], "rpcurl: what: why\nhint: do this\n"),
    (
      ["--error-format", "json"],
      #"{"error":{"what":"what","why":"why","hint":"do this","exit":2}}"# + "\n"
    ), (["--error-format", "json", "-s"], ""),
  ])
  func followsOptions(options: [String], text: String) {
    #expect(report.rendered(Diagnostics(Parser.parse(["call"] + options))) == text)
  }

  @Test(arguments: [
    ([], true, nil, "xterm", true), ([], false, nil, "xterm", false), ([], true, "1", "xterm", false),
    ([], true, "", "xterm", true), ([], true, nil, "dumb", false), ([], true, nil, nil, false),
    (["--color", "always"], false, "1", nil, true), (["--color", "never"], true, nil, "xterm", false),
  ])
  func colorsFollowTheTerminal(
    options: [String], isTerminal: Bool, noColor: String?, term: String?, areOn: Bool
  ) {
    let environment = ["NO_COLOR": noColor, "TERM": term].compactMapValues(\.self)
    let colors = Parser.parse(["call"] + options).colors(isTerminal: isTerminal) { environment[$0] }
    #expect(colors.areOn == areOn)
  }

  @Test(arguments: [
    ("what", nil, "rpcurl: call 3: what: why\n"), ("", nil, "rpcurl: call 3: why\n"),
    ("what", "Chat[3]", "rpcurl: Chat[3]: what: why\n"),
  ])
  func namesCallInText(what: String, title: String?, text: String) {
    let message = Failure.Message(what: what, why: "why")
    #expect(rendered(ErrorReport(message, .input, call: 3, title: title)) == text)
  }

  @Test func numbersCallInJSON() {
    let report = ErrorReport(Failure.Message(what: "a", why: "b"), .input, call: 3, title: "Chat[3]")
    #expect(
      rendered(report, "--error-format", "json")
        == #"{"error":{"what":"a","why":"b","exit":4,"call":3}}"# + "\n")
  }

  @Test func showsStatusDetailsWithoutSchema() {
    let detail = StatusDetail(typeName: "a.B", value: [1, 2])
    let error = RPCError(.notFound, "gone", details: [detail], origin: .interceptor("x"))
    let report = ErrorReport(
      Failure.Message(what: "a.B/C", why: "not_found (5): gone"), .call(error), error: error,
      details: DetailPrinter(pool: DescriptorPool()))
    #expect(rendered(report) == "rpcurl: a.B/C: not_found (5): gone\n  a.B: 2 bytes, base64 AQI=\n")
    #expect(
      rendered(report, "--error-format", "json")
        == #"{"error":{"what":"a.B/C","why":"not_found (5): gone","exit":69,"code":"not_found","code_number":5,"#
        + #""message":"gone","details":[{"type":"a.B","value":"AQI="}],"interceptor":"x"}}"# + "\n")
  }

  @Test func showsPlaceInJSON() {
    var position = TextPosition()
    (position.line, position.column, position.byteOffset) = (2, 3, 10)
    let place = InputPlace(
      position: position, fieldPath: "a.b", excerpt: InputExcerpt(Array("x y".utf8), at: 1))
    let report = ErrorReport(Failure.Message(what: "", why: "why", place: place), nil)
    #expect(
      rendered(report, "--error-format", "json")
        == #"{"error":{"why":"why","line":2,"column":3,"byte":10,"path":"a.b","excerpt":"x y"}}"#
        + "\n")
  }

  @Test func escapesTerminalControlsInJSON() {
    let report = ErrorReport(Failure.Message(what: "\u{202e}a", why: "\u{9b}b"), nil)
    #expect(
      rendered(report, "--error-format", "json") == #"{"error":{"what":"\u202ea","why":"\u009bb"}}"# + "\n")
  }
}
