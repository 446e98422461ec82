import RPCurlCCurl

/// Observes libcurl's informational log of connections: names resolved, sockets connected, TLS negotiated.
package final class ConnectionTrace {
  private let log: (String) -> Void

  /// - Parameter log: Called with each line, on the loop's thread. A line may contain the proxy's
  ///   credentials.
  package init(_ log: @escaping (String) -> Void) {
    self.log = log
  }

  /// Starts tracing the transfer of `handle`, which must not outlive the trace.
  func attach(to handle: TransferHandle) throws(TransportError) {
    try handle.set(CURLOPT_VERBOSE, 1)
    try handle.set(CURLOPT_DEBUGDATA, pointer: Unmanaged.passUnretained(self).toOpaque())
    try handle.set(tracing: { _, kind, data, size, context in
      // The other kinds are data and headers.
      guard kind == CURLINFO_TEXT, let context, let data else { return 0 }
      let text = String(decoding: UnsafeRawBufferPointer(start: data, count: size), as: UTF8.self)
      let trace = Unmanaged<ConnectionTrace>.fromOpaque(context).takeUnretainedValue()
      for line in text.split(whereSeparator: \.isNewline) where ConnectionTrace.isLogged(line) {
        trace.log(String(line))
      }
      return 0
    })
  }

  private static func isLogged(_ line: Substring) -> Bool {
    // libcurl logs this when a transfer is ended from within a callback, as when a status ends the call.
    !isHeader(line) && !line.hasPrefix("Failed writing") && !line.hasPrefix("Failure writing")
  }

  /// Whether the line shows a header sent over HTTP/2 or HTTP/3: `[NAME: VALUE]` after the name of the
  /// protocol and an optional stream number. The program prints headers itself, with credentials removed.
  private static func isHeader(_ line: Substring) -> Bool {
    var rest = line
    if rest.hasPrefix("h2h3 ") {
      rest = rest.dropFirst(5)
    } else if rest.hasPrefix("[HTTP/") || rest.hasPrefix("[h2") || rest.hasPrefix("[h3") {
      rest = rest.drop { $0 != " " }.dropFirst()
      if rest.hasPrefix("["), let end = rest.firstIndex(of: "]"),
        rest[..<end].dropFirst().allSatisfy(\.isNumber)
      {
        rest = rest[end...].dropFirst(2)
      }
    } else {
      return false
    }
    return rest.hasPrefix("[")
  }
}
