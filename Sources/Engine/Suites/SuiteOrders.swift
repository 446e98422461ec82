import RPCurlPlatform
import RPCurlProgram

/// The orders of a load: which test of a suite runs next, from a pipe. Its end ends the suite.
package struct SuiteOrders {
  /// A test, by its place in the selection, and the number of its runs before, in all processes of the load.
  package struct Order: Equatable {
    package let test: Int
    package let number: Int

    /// Makes an order.
    package init(test: Int, number: Int) {
      (self.test, self.number) = (test, number)
    }

    /// The line of the pipe.
    package var line: String { "\(test) \(number)\n" }

    /// Reads a line, without its end; nil if it is not of an order.
    package init?(_ line: some StringProtocol) {
      let words = line.split(separator: " ").map { Int($0) }
      guard words.count == 2, let test = words[0], let number = words[1], test >= 0, number >= 0 else {
        return nil
      }
      self.init(test: test, number: number)
    }
  }

  /// The line of an order is shorter.
  private static let limitBytes = 64

  private let descriptor: Int32

  /// Reads the orders of a descriptor.
  package init(_ descriptor: Int32) {
    self.descriptor = descriptor
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  /// Waits for the next order, while streams of the session go on; nil at the end, and after a signal.
  func next(_ session: Session) -> Order? {
    var isReady = false
    session.client.loop.watch(descriptor) { isReady = true }
    defer { session.client.loop.unwatch(descriptor) }
    guard (try? session.wait { isReady }) == true,
      let bytes = try? FileContents.readPiece(descriptor, limitBytes: Self.limitBytes),
      bytes.last == UInt8(ascii: "\n")
    else { return nil }
    return Order(String(decoding: bytes.dropLast(), as: UTF8.self))
  }
}
