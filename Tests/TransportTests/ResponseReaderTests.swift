import RPCurlProtocols
import Testing

@testable import RPCurlTransport

struct ResponseReaderTests {
  /// Reads lines; returns the step of the last one.
  @discardableResult
  private func read(_ lines: String..., from reader: inout ResponseReader) -> ResponseReader.Step {
    var last = ResponseReader.Step.none
    for line in lines {
      let bytes = Array("\(line)\r\n".utf8)
      last = bytes.withUnsafeBytes { reader.read(HeaderLine($0), size: $0.count) }
    }
    return last
  }

  private func head(_ step: ResponseReader.Step) -> ResponseStart? {
    if case .head(let head) = step { head } else { nil }
  }

  private func error(_ step: ResponseReader.Step) -> TransportError? {
    if case .invalid(let error) = step { error } else { nil }
  }

  @Test func readsStatusAndFields() throws {
    var reader = ResponseReader()
    let step = read("HTTP/2 200", "a: b", "c:  d e \t", "a:", "", from: &reader)
    let start = try #require(head(step))
    #expect(start.httpStatus == 200)
    #expect(start.httpVersion == "2")
    #expect(start.headers == Headers([("a", "b"), ("c", "d e"), ("a", "")]))
    #expect(reader.httpVersion == "2")
    #expect(reader.takeTrailers() == nil)
  }

  @Test func skipsInformationalResponses() throws {
    var reader = ResponseReader()
    #expect(head(read("HTTP/1.1 100 Continue", "x: 1", "", from: &reader)) == nil)
    #expect(reader.hasBegun)
    #expect(reader.httpVersion == nil)
    let start = try #require(head(read("HTTP/1.1 204", "y: 2", "", from: &reader)))
    #expect(start.headers == Headers([("y", "2")]))
  }

  @Test func readsTrailersUntilTheyAreTaken() {
    var reader = ResponseReader()
    read("HTTP/2 200", "", from: &reader)
    guard case .trailersBegan = read("grpc-status: 0", from: &reader) else {
      Issue.record("the first trailer begins the trailers")
      return
    }
    read("grpc-message: x", from: &reader)
    #expect(reader.takeTrailers() == Headers([("grpc-status", "0"), ("grpc-message", "x")]))
    #expect(reader.takeTrailers() == nil)
  }

  @Test(arguments: [[], ["a: b"]]) func rejectsSecondStatusLine(trailers: [String]) {
    var reader = ResponseReader()
    read("HTTP/2 200", "", from: &reader)
    for trailer in trailers { read(trailer, from: &reader) }
    #expect(
      error(read("HTTP/1.1 200 OK", from: &reader))?.message == "the server began its response a second time")
  }

  @Test(arguments: ["a: b\rc", "a: b\nc", "a: \rb", "a\r: b", "a: b\n\rc"], [false, true])
  func rejectsLineBreaksWithinFields(line: String, inTrailers: Bool) {
    var reader = ResponseReader()
    read("HTTP/3 200", from: &reader)
    if inTrailers { read("", from: &reader) }
    #expect(error(read(line, from: &reader))?.message == "the response has a line break within a header")
  }

  @Test func rejectsFieldsBeyondTheLimit() {
    var reader = ResponseReader()
    read("HTTP/2 200", from: &reader)
    for number in 0..<ResponseReader.maxFields { #expect(error(read("a: \(number)", from: &reader)) == nil) }
    #expect(error(read("a: b", from: &reader))?.message.contains("4096 header fields") == true)
  }

  @Test func countsFieldsOfInformationalResponses() {
    var reader = ResponseReader()
    var failure: TransportError?
    for _ in 0..<ResponseReader.maxFields where failure == nil {
      failure = error(read("HTTP/1.1 100", "a: b", "c: d", from: &reader))
    }
    #expect(failure != nil)
  }

  @Test func rejectsBytesBeyondTheLimit() {
    var reader = ResponseReader()
    read("HTTP/2 200", "", from: &reader)
    let line = "a: " + String(repeating: "x", count: 64 << 10)
    #expect(error(read(line, line, line, from: &reader)) == nil)
    #expect(error(read(line, from: &reader))?.message.contains("256 KiB") == true)
  }

  @Test func headerFieldsDoNotCountAsTrailers() {
    var reader = ResponseReader()
    read("HTTP/2 200", from: &reader)
    for _ in 0..<4000 { read("a: b", from: &reader) }
    read("", from: &reader)
    for _ in 0..<4000 { #expect(error(read("a: b", from: &reader)) == nil) }
  }
}
