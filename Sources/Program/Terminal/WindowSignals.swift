import RPCurlPlatform

/// Turns SIGWINCH (the window size changed) and SIGCONT (continued after a stop) into a descriptor that the event
/// loop can wait for.
///
/// Global, because a process has one handler of a signal, which has no parameter for other data.
package enum WindowSignals {
  // Set by `install` before the handlers are; a handler only reads it.
  nonisolated(unsafe) private static var writeEnd: Int32 = -1
  nonisolated(unsafe) private static var readEnd: Int32 = -1

  /// The signals that arrived.
  package struct Events: OptionSet {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    package static let resized = Events(rawValue: 1)
    package static let continued = Events(rawValue: 2)
  }

  /// Installs the signal handlers. Returns the descriptor that becomes readable, or nil if no pipe can be created.
  package static func install() -> Int32? {
    if readEnd >= 0 { return readEnd }
    guard let pipe = Pipe() else { return nil }
    for end in [pipe.readEnd, pipe.writeEnd] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    readEnd = pipe.readEnd
    writeEnd = pipe.writeEnd
    for number in [SIGWINCH, SIGCONT] {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { number in
        let saved = errno
        var byte = number == SIGWINCH ? Events.resized.rawValue : Events.continued.rawValue
        _ = write(WindowSignals.writeEnd, &byte, 1)
        errno = saved
      }
      action.sa_flags = Int32(SA_RESTART)
      sigaction(number, &action, nil)
    }
    return readEnd
  }

  /// Returns the signals that arrived since the last call.
  package static func removeAll() -> Events {
    var events: Events = []
    var byte: UInt8 = 0
    while read(readEnd, &byte, 1) == 1 { events.insert(Events(rawValue: byte)) }
    return events
  }
}
