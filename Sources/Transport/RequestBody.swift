/// The body of a request, on its way from the caller to libcurl.
///
/// A body that is known as a whole is kept to the end, so that it can be sent again. Of a stream only the bytes that
/// libcurl has not taken yet are kept.
struct RequestBody {
  /// Bytes that may wait before the caller is asked to pause.
  static let limitBytes = 1 << 20

  /// Whether all bytes are known.
  private(set) var isFinished: Bool
  /// Whether the caller is asked to pause: set above `limitBytes`, cleared at half of it.
  private(set) var isFull = false
  /// Bytes that libcurl has taken.
  private(set) var sentBytes = 0

  private let isWhole: Bool
  private var bytes: [UInt8]
  /// Where the bytes begin that libcurl has not taken.
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

  /// Bytes that libcurl has not taken yet.
  var waitingBytes: Int { bytes.count - offset }

  /// Appends bytes to a stream; does nothing after its end.
  mutating func append(_ more: [UInt8]) {
    guard !isFinished, !more.isEmpty else { return }
    if offset == bytes.count {
      bytes = more
      offset = 0
    } else {
      // Bytes that libcurl has taken must not pile up.
      if offset > bytes.count / 2 {
        bytes.removeFirst(offset)
        offset = 0
      }
      bytes.append(contentsOf: more)
    }
    if waitingBytes > Self.limitBytes { isFull = true }
  }

  /// Ends a stream.
  mutating func finish() {
    isFinished = true
  }

  /// Moves the next bytes to `destination`, as many as there are and fit. Returns their number.
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

  /// Goes back to the start, if nothing is lost by that.
  mutating func rewind() -> Bool {
    isWhole ? rewind(to: 0) : sentBytes == 0
  }

  /// Goes back to `offset`, when libcurl repeats a request. Returns false for a stream, whose bytes are gone.
  mutating func rewind(to offset: Int) -> Bool {
    guard isWhole, offset >= 0, offset <= bytes.count else { return false }
    self.offset = offset
    sentBytes = offset
    return true
  }
}
