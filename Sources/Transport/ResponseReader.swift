import RPCurlProtocols

/// Reads the lines of a response's header fields and trailers, in time linear in their number.
struct ResponseReader {
  /// The result of a line.
  enum Step {
    /// More lines follow.
    case none
    /// The header fields of the final response are complete.
    case head(ResponseStart)
    /// The first line of the trailers, or of those that follow `takeTrailers`.
    case trailersBegan
    /// The response is invalid and cannot be read further.
    case invalid(TransportError)
  }

  private enum Phase {
    /// Before a status line: at the start, and after the block of a `1xx` response.
    case statusLine
    /// Header fields, after a status line.
    case head(status: Int, version: String)
    case body
    case trailers
    /// The response is invalid.
    case failed
  }

  /// The maximum number of header fields of a response, those of earlier `1xx` responses included, and of
  /// trailers.
  static let maxFields = Headers.maxResponseFields
  /// The maximum of their bytes, line ends included. libcurl itself refuses header fields over 300 kB.
  static let maxBytes = 256 << 10

  /// Whether a status line was read, also of a `1xx` response.
  private(set) var hasBegun = false
  /// HTTP's version in the final status line, such as `2`; nil before it.
  private(set) var httpVersion: String?

  private var phase = Phase.statusLine
  /// The fields of the block that is being read. Not a part of `phase`, so that appending never copies the list.
  private var fields = Headers()
  private var count = 0
  private var bytes = 0

  /// Reads one line, of which `size` bytes were received.
  mutating func read(_ line: HeaderLine, size: Int) -> Step {
    bytes += size
    if case .field = line { count += 1 }
    guard count <= Self.maxFields, bytes <= Self.maxBytes else { return fail(tooLarge) }
    switch (phase, line) {
    case (.statusLine, .status(let version, let status)), (.head, .status(let version, let status)):
      hasBegun = true
      fields = Headers()
      phase = .head(status: status, version: version)
    case (.head, .field(let name, let value)):
      fields.add(name, value)
    case (.head(let status, let version), .end):
      return endHead(status, version)
    case (.body, .field(let name, let value)), (.trailers, .field(let name, let value)):
      phase = .trailers
      fields.add(name, value)
      return fields.count == 1 ? .trailersBegan : .none
    case (.body, .status), (.trailers, .status):
      return fail("the server began its response a second time")
    case (_, .broken): return fail("the response has a line break within a header")
    default: break
    }
    return .none
  }

  private mutating func endHead(_ status: Int, _ version: String) -> Step {
    let head = ResponseStart(httpStatus: status, httpVersion: version, headers: fields)
    fields = Headers()
    // A final response follows a 1xx response.
    guard status >= 200 else {
      phase = .statusLine
      return .none
    }
    phase = .body
    httpVersion = version
    (count, bytes) = (0, 0)
    return .head(head)
  }

  /// Removes and returns the trailers read since the last call; nil if there are none.
  mutating func takeTrailers() -> Headers? {
    guard case .trailers = phase, !fields.isEmpty else { return nil }
    defer { fields = Headers() }
    return fields
  }

  private mutating func fail(_ why: String) -> Step {
    phase = .failed
    return .invalid(TransportError(.broken, why))
  }

  private var tooLarge: String {
    let isHead =
      switch phase {
      case .statusLine, .head: true
      default: false
      }
    let what = isHead ? "header fields" : "trailers"
    return
      "the response has more than \(Self.maxFields) \(what), or more than \(Self.maxBytes >> 10) KiB of them"
  }
}
