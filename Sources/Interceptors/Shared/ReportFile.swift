import Synchronization

/// The report files of a run. Interceptors that name the same file share it.
package final class ReportFiles: Sendable {
  private let files = Mutex<[String: any Sendable]>([:])

  /// No file yet.
  package init() {}

  /// The file at a path.
  ///
  /// - Parameters:
  ///   - path: The path, as the user wrote it.
  ///   - make: Makes the file of the first interceptor that names it.
  /// - Throws: A ``ServiceFailure`` if another interceptor writes the file in another format.
  func file<Entry>(
    _ path: String, make: () -> ReportFile<Entry>
  ) throws(ServiceFailure) -> ReportFile<Entry> {
    let known = files.withLock { files in
      let file = files[path] ?? make()
      files[path] = file
      return file
    }
    guard let file = known as? ReportFile<Entry> else {
      throw ServiceFailure("another interceptor writes this file, in another format")
    }
    return file
  }
}

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
