/// The size of a message.
package struct MessageSize: Sendable, Equatable {
  /// The size of the message, in bytes.
  package var bytes: Int
  /// The size on the wire, compressed and in its envelope, in bytes; `nil` if it is not part of a body.
  package var wireBytes: Int?
  /// The compression of the message; `nil` if it is uncompressed.
  package var compression: Compression?

  /// Makes a size.
  package init(bytes: Int, wireBytes: Int?, compression: Compression?) {
    self.bytes = bytes
    self.wireBytes = wireBytes
    self.compression = compression
  }
}
