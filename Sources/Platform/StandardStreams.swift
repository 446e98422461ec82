/// The three standard streams of the process.
package enum StandardStreams {
  /// Opens `/dev/null` for each closed standard stream, so that no socket gets its number.
  ///
  /// Standard input is then at its end; writing to standard output still fails.
  package static func ensureOpen() {
    for descriptor in [Int32(0), 1, 2] where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY)
    }
  }

  /// Makes standard output the same as standard error. Returns a descriptor of what it was: of output that a library must not print
  /// to.
  package static func detachOutput() -> Int32 {
    let output = fcntl(1, F_DUPFD_CLOEXEC, 3)
    guard output >= 0 else { return 1 }
    dup2(2, 1)
    return output
  }

  /// Whether a file is that of a standard stream.
  ///
  /// - Parameter descriptors: The streams: by default those for output. Their file must not be replaced by another one, since the
  ///   stream would continue with the old one. Standard input can: it is read from the old one to its end.
  static func contain(_ file: FileFacts, among descriptors: ClosedRange<Int32> = 1...2) -> Bool {
    descriptors.contains { FileFacts($0)?.identity == file.identity }
  }
}
