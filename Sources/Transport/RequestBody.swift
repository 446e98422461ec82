import RPCurlProtocols

/// The body of a request, between the caller and libcurl.
///
/// A body that is known as a whole is kept to the end, so that it can be sent again. A stream keeps only the
/// bytes that libcurl has not read.
struct RequestBody {
  /// The number of waiting bytes above which the caller is asked to pause.
  static let limitBytes = 1 << 20

  /// Whether all bytes are known.
  private(set) var isFinished: Bool
  /// Whether the caller is asked to pause: set above `limitBytes`, cleared at half of it.
  private(set) var isFull = false
  /// Bytes that libcurl has read.
  private(set) var sentBytes = 0

  private let isWhole: Bool
  private var bytes: [UInt8]
  /// The index of the first byte that libcurl has not read.
  private var offset = 0

  /// Makes a body that is known as a whole.
  init(whole bytes: [UInt8]) {
    self.bytes = bytes
    isWhole = true
    isFinished = true
  }

  /// Makes a body that grows until `finish`.
  init() {
    bytes = []
    isWhole = false
    isFinished = false
  }

  /// Bytes that libcurl has not read.
  var waitingBytes: Int { bytes.count - offset }

  /// Appends to a stream; does nothing after its end.
  ///
  /// - Parameter write: Appends to the bytes that it is given.
  /// - Returns: The number of bytes that were appended.
  /// - Throws: What `write` throws.
  mutating func append(_ write: (inout [UInt8]) throws(RPCError) -> Void) throws(RPCError) -> Int {
    guard !isFinished else { return 0 }
    // Bytes that libcurl has read must not accumulate.
    if offset > bytes.count / 2 {
      bytes.removeFirst(offset)
      offset = 0
    }
    let count = bytes.count
    try write(&bytes)
    if waitingBytes > Self.limitBytes { isFull = true }
    return bytes.count - count
  }

  /// Ends a stream.
  mutating func finish() {
    isFinished = true
  }

  /// Moves as many of the next bytes to `destination` as fit. Returns their number.
  mutating func read(into destination: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(destination.count, waitingBytes)
    guard count > 0 else { return 0 }
    bytes.withUnsafeBytes {
      destination.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<(offset + count)]))
    }
    offset += count
    sentBytes += count
    if offset == bytes.count, !isWhole {
      bytes.removeAll(keepingCapacity: bytes.capacity <= Self.limitBytes)
      offset = 0
    }
    if waitingBytes <= Self.limitBytes / 2 { isFull = false }
    return count
  }

  /// Restarts from the beginning if all bytes are still known. Returns false otherwise.
  mutating func rewind() -> Bool {
    isWhole ? rewind(to: 0) : sentBytes == 0
  }

  /// Restarts from `offset` when libcurl repeats a request. Returns false for a stream, whose bytes are
  /// dropped.
  mutating func rewind(to offset: Int) -> Bool {
    guard isWhole, offset >= 0, offset <= bytes.count else { return false }
    self.offset = offset
    sentBytes = offset
    return true
  }
}
