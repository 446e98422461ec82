import RPCurlProtocols

/// Messages that a transfer has and libcurl has not read yet, in order.
struct UnsentMessages {
  /// The end of each message in the body, in bytes, and its size.
  private var entries: [(end: Int, size: MessageSize)] = []
  /// The messages of the entries that are left; empty unless they are reported.
  private var reported: [[UInt8]] = []
  /// The first entry that is left. Entries before it are removed together: removing one moves all that follow.
  private var head = 0

  mutating func append(end: Int, _ size: MessageSize, _ message: [UInt8]?) {
    entries.append((end, size))
    if let message { reported.append(message) }
  }

  /// The messages are in the URL: they end before the body, and have no size of their own on the wire.
  mutating func moveIntoURL() {
    for index in entries.indices {
      entries[index].end = 0
      entries[index].size.wireBytes = nil
    }
  }

  /// Removes the first message if libcurl has read it; nil if it has not.
  ///
  /// - Parameter sentBytes: The bytes of the body that libcurl has read.
  mutating func popFirst(sentBytes: Int) -> MessageSize? {
    guard head < entries.count, entries[head].end <= sentBytes else { return nil }
    defer {
      head += 1
      if head == entries.count || head >= 1024, head * 2 >= entries.count {
        entries.removeFirst(head)
        head = 0
      }
    }
    return entries[head].size
  }

  /// The message that was removed last, once; nil if messages are not reported.
  mutating func takeMessage() -> [UInt8]? { reported.isEmpty ? nil : reported.removeFirst() }
}
