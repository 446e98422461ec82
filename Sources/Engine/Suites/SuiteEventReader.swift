import RPCurlPlatform
import RPCurlProgram
import RPCurlReports

/// Reads the events of a suite that runs in a process of its own, from a pipe.
struct SuiteEventReader {
  /// The longest line of an event, in bytes.
  private static let limitBytes = SuiteEvent.maximumLength

  /// The end of the pipe to read from, which does not block.
  let descriptor: Int32
  /// The bytes of a line that is not complete.
  private var rest: [UInt8] = []
  /// The number of bytes of `rest` in which there is no line feed.
  private var searched = 0

  /// What was read.
  enum Item {
    case event(SuiteEvent)
    /// Why the process does not write events; it is to be ended if they are too long.
    case problem(String, isTooLong: Bool)
    /// The end of the pipe.
    case end
  }

  /// Makes a reader of the end of a pipe.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  /// Reads what there is. Blocks if there is nothing.
  mutating func read() -> [Item] {
    let piece = (try? FileContents.readPiece(descriptor, limitBytes: 1 << 16)) ?? []
    guard !piece.isEmpty else { return [.end] }
    rest += piece
    var items: [Item] = []
    while let newline = rest[searched...].firstIndex(of: UInt8(ascii: "\n")) {
      items.append(Self.item(Array(rest[..<newline])))
      rest.removeSubrange(...newline)
      searched = 0
    }
    searched = rest.count
    if rest.count > Self.limitBytes {
      items.append(.problem("an event is longer than \(Self.limitBytes >> 20) MiB", isTooLong: true))
      (rest, searched) = ([], 0)
    }
    return items
  }

  private static func item(_ line: [UInt8]) -> Item {
    do throws(SuiteEventError) {
      return .event(try SuiteEvent(parsing: line))
    } catch {
      return .problem("an event is invalid: \(error)", isTooLong: false)
    }
  }
}
