/// What a message takes.
public struct MessageSize: Sendable, Equatable {
  /// The message itself, in bytes.
  public var bytes: Int
  /// What travelled, compressed and in its envelope; `nil` where it is no part of a body.
  public var wireBytes: Int?
  /// What it was compressed with.
  public var compression: Compression?

  /// Makes a size.
  public init(bytes: Int, wireBytes: Int?, compression: Compression?) {
    self.bytes = bytes
    self.wireBytes = wireBytes
    self.compression = compression
  }
}
