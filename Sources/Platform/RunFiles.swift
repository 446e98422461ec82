/// The files that the processes of a run write: the first process that writes one replaces its content, and the others add to
/// it.
///
/// The record is a file without a name that the processes inherit. Each line is the process and the name of a file that it
/// writes; of several lines with one name, the first one holds.
package final class RunFiles: Sendable {
  /// The descriptor in the processes of the run.
  package static let inheritedDescriptor: Int32 = 3

  package let descriptor: Int32
  /// The name of this process in the record. A number of a process may be used again within a run.
  private let process = "\(UInt64.random(in: 0...(.max)))"

  /// Makes the record of a new run; nil if no temporary file can be created.
  package init?() {
    guard let file = try? TemporaryFile() else { return nil }
    descriptor = file.descriptor
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  /// The record that this process has inherited; nil if the descriptor is of another file.
  package init?(inherited: Int32) {
    guard let file = FileFacts(inherited), file.isRegular, file.links == 0 else { return nil }
    // The position of the inherited descriptor is that of all processes.
    descriptor = open("/proc/self/fd/\(inherited)", O_RDWR | O_APPEND | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    close(inherited)
  }

  deinit { close(descriptor) }

  /// Records that this process writes a file. Returns whether it is the first process that does.
  ///
  /// - Parameter name: Identifies the file. It has no line feed.
  package func claim(_ name: String) -> Bool {
    // The kernel appends in one step. Without a record, each process is the first.
    let line = Array("\(process) \(name)\n".utf8)
    guard FileContents.write(line, to: descriptor) == nil, let contents else { return true }
    let first = contents.split(separator: UInt8(ascii: "\n")).first { line in
      line.drop { $0 != UInt8(ascii: " ") }.elementsEqual(" \(name)".utf8)
    }
    return first?.elementsEqual(line.dropLast()) ?? true
  }

  /// The record; nil if it cannot be read.
  private var contents: [UInt8]? {
    guard let size = FileFacts(descriptor)?.sizeBytes else { return nil }
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, size, 0))
    }
  }
}
