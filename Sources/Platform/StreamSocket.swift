import RPCurlCSystem

/// Sockets of connections.
package enum StreamSocket {
  /// Makes a socket that does not block, and that programs do not inherit.
  ///
  /// - Parameter family: The family of its addresses, such as `AF_INET`.
  /// - Returns: The descriptor; -1, and `errno` is set, on failure.
  package static func make(_ family: Int32) -> Int32 { csystem_stream_socket(family) }

  /// Sends bytes as send(2) does. A connection that the other side has closed is an error, and no signal.
  package static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    csystem_send(descriptor, bytes.baseAddress, bytes.count)
  }
}
