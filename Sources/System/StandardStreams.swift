import Glibc

/// The three streams that a process starts with.
package enum StandardStreams {
  /// Opens what is closed, so that no socket of ours takes its place. Standard input is then at its end, and
  /// standard output still cannot be written.
  package static func ensureOpen() {
    for descriptor in [Int32(0), 1, 2] where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY)
    }
  }
}
