import RPCurlCSystem

/// A pipe, whose ends programs inherit only if they are given to them.
package struct Pipe {
  /// The descriptor to read from.
  package let readEnd: Int32
  /// The descriptor to write to.
  package let writeEnd: Int32

  /// Creates a pipe; returns nil and sets `errno` on failure.
  package init?() {
    var ends: [Int32] = [-1, -1]
    guard csystem_pipe(&ends) == 0 else { return nil }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }
}
