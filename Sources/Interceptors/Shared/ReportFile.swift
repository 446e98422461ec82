import Synchronization

/// A file with an entry for each call. It is complete after each call.
final class ReportFile<Entry: Sendable>: Sendable {
  let path: String
  private let services: any InterceptorServices
  private let isPrivate: Bool
  private let text: @Sendable ([Entry]) -> String
  private let entries = Mutex<[Entry]>([])

  /// - Parameters:
  ///   - isPrivate: Whether only the user may read the file.
  ///   - text: Formats the file.
  init(
    _ path: String, _ services: any InterceptorServices, isPrivate: Bool,
    text: @escaping @Sendable ([Entry]) -> String
  ) {
    self.path = path
    self.services = services
    self.isPrivate = isPrivate
    self.text = text
  }

  /// Adds an entry, and writes the file.
  func add(_ entry: Entry) throws(ServiceFailure) {
    entries.withLock { $0.append(entry) }
    try write()
  }

  /// Writes the current file.
  func write() throws(ServiceFailure) {
    try services.replaceFile(path, with: Array(text(entries.withLock { $0 }).utf8), isPrivate: isPrivate)
  }
}
