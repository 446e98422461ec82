import RPCurlProtocols

/// Connection options that many transfers share: to copy or compare them costs nothing.
package final class SharedConnectionOptions: Sendable, Equatable {
  package let value: ConnectionOptions

  /// - Parameter value: The options.
  package init(_ value: ConnectionOptions) { self.value = value }

  package static func == (one: SharedConnectionOptions, other: SharedConnectionOptions) -> Bool {
    one === other || one.value == other.value
  }
}

extension Transfer {
  /// Starts an exchange with options of its own.
  ///
  /// - Throws: `TransportError` if the request or an option is invalid. Other errors are reported to the delegate.
  package convenience init(
    _ request: HTTPRequest, body: Body, options: ConnectionOptions, loop: EventLoop,
    delegate: any TransferDelegate
  ) throws(TransportError) {
    try self.init(
      request, body: body, options: SharedConnectionOptions(options), loop: loop, delegate: delegate)
  }
}
