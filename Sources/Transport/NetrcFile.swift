import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols

/// A netrc file, from which libcurl adds credentials to requests.
///
/// It is parsed as by libcurl (lib/netrc.c), which sends a request without credentials if it cannot read the file.
package struct NetrcFile {
  /// Why libcurl would not find all credentials of a file.
  package enum Problem: Error, Equatable {
    /// The file, without its comments, is too large.
    case size
    /// A line is too long.
    case length(line: Int)
    /// A value is too long.
    case value(line: Int)
    /// A quotation mark without an end.
    case quotation(line: Int)
    /// A word that a value follows is the last one.
    case end(after: String)
    /// A byte at which libcurl ends a line.
    case null(line: Int)
    /// No entry, but other words.
    case noEntry

    /// The reason, for error messages. It contains nothing of the file that may be a secret.
    package var reason: String {
      switch self {
      case .size: "the file has more than \(maxBytes - 2) bytes without its comments, the limit of libcurl"
      case .length(let line): "line \(line) has more than \(maxLineBytes - 2) bytes, the limit of libcurl"
      case .value(let line):
        "a value in line \(line) has more than \(maxValueBytes - 1) bytes, the limit of libcurl"
      case .quotation(let line): "missing closing quotation mark of the one in line \(line)"
      case .end(let word): "missing value after \(word) at the end"
      case .null(let line): "line \(line) contains a null byte"
      case .noEntry: "it contains neither machine nor default"
      }
    }
  }

  /// The sizes of libcurl's buffers, which include the null byte at their end.
  private static let (maxBytes, maxLineBytes, maxValueBytes) = (128 << 10, 16_384, 4096)
  /// The largest file that is read, in bytes. Most of it can be comments.
  private static let maxFileBytes = 1 << 20

  /// The logins of its entries, in order, up to the first problem.
  package private(set) var logins: [(name: String, password: String)] = []
  /// The first problem; nil if libcurl can read the file.
  package private(set) var problem: Problem?

  /// Reads a file. One that is missing, or cannot be read again, such as a pipe, has no logins.
  ///
  /// - Parameter path: The file; empty for that in the home directory.
  package init(_ path: String) {
    let contents = Self.contents(Self.path(path)) ?? []
    self.init(contents: contents)
    if contents.count > Self.maxFileBytes { problem = .size }
  }

  /// Parses the contents of a file.
  init(contents: [UInt8]) {
    do throws(Problem) {
      let text = try Text(contents)
      try parse(text)
    } catch {
      problem = error
    }
  }

  /// The path of a file.
  ///
  /// - Parameter path: The path; empty for the file in the home directory, or that which libcurl uses in its place.
  package static func path(_ path: String) -> String {
    guard path.isEmpty else { return path }
    if let other = EnvironmentVariables.value("NETRC"), !other.isEmpty { return other }
    return "\(EnvironmentVariables.value("HOME") ?? "")/.netrc"
  }

  /// The contents of a regular file, to one byte over the limit; nil if it cannot be read.
  private static func contents(_ path: String) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    guard let facts = FileFacts(file), facts.isRegular else { return nil }
    return [UInt8](unsafeUninitializedCapacity: min(facts.sizeBytes, maxFileBytes + 1)) { buffer, count in
      count = max(read(file, buffer.baseAddress, buffer.count), 0)
    }
  }

  private mutating func parse(_ text: Text) throws(Problem) {
    var text = text
    var (hasWord, hasEntry) = (false, false)
    var name: String?
    var password: String?
    func endEntry(_ logins: inout [(name: String, password: String)]) {
      if let password { logins.append((name ?? "", password)) }
      (name, password) = (nil, nil)
    }
    defer { endEntry(&logins) }
    while let word = try text.word() {
      hasWord = true
      let key = word.isQuoted ? "" : word.text.lowercased()
      if ["machine", "default", "macdef"].contains(key) { endEntry(&logins) }
      switch key {
      case "machine":
        _ = try text.value(after: key)
        hasEntry = true
      case "default": hasEntry = true
      case "macdef": text.skipMacro()
      case "login": name = try text.value(after: key)
      case "password": password = try text.value(after: key)
      case "account": _ = try text.value(after: key)
      default: break
      }
    }
    if hasWord, !hasEntry { throw .noEntry }
  }
}

extension NetrcFile {
  /// The text of a file without its comments, of which libcurl reads one word after the other.
  private struct Text {
    private var bytes: [UInt8] = []
    /// The number of each line in the file.
    private var lines: [Int] = []
    private var position = 0

    init(_ contents: [UInt8]) throws(Problem) {
      let all = contents.split(separator: 0x0A, omittingEmptySubsequences: false)
      for (index, line) in all.enumerated() {
        guard line.count + 2 <= maxLineBytes else { throw .length(line: index + 1) }
        guard !line.contains(0) else { throw .null(line: index + 1) }
        if line.first(where: { $0 != 0x20 && $0 != 0x09 }) == UInt8(ascii: "#") { continue }
        bytes += line
        bytes.append(0x0A)
        lines.append(index + 1)
      }
      guard bytes.count + 1 <= maxBytes else { throw .size }
    }

    /// The next word; nil at the end. Blanks and line ends separate words, except in quotation marks.
    mutating func word() throws(Problem) -> (text: String, isQuoted: Bool)? {
      while position < bytes.count, Self.isBlank(bytes[position]) { position += 1 }
      guard position < bytes.count else { return nil }
      if bytes[position] == UInt8(ascii: "\"") { return (try quoted(), true) }
      let start = position
      while position < bytes.count, !Self.isBlank(bytes[position]) { position += 1 }
      return (String(decoding: bytes[start..<position], as: UTF8.self), false)
    }

    /// The value after a keyword.
    mutating func value(after key: String) throws(Problem) -> String {
      guard let (text, isQuoted) = try word() else { throw .end(after: key) }
      guard isQuoted || text.utf8.count < maxValueBytes else { throw .value(line: line(of: position - 1)) }
      return text
    }

    /// Skips a macro, which ends at an empty line.
    mutating func skipMacro() {
      while position < bytes.count {
        guard bytes[position] == 0x0A else {
          position += 1
          continue
        }
        position += 1
        while position < bytes.count, bytes[position] == 0x0D { position += 1 }
        if position < bytes.count, bytes[position] == 0x0A { return }
      }
    }

    private mutating func quoted() throws(Problem) -> String {
      let start = position
      var text: [UInt8] = []
      var isEscaped = false
      position += 1
      while position < bytes.count {
        let byte = bytes[position]
        position += 1
        switch byte {
        case _ where isEscaped:
          text.append(Self.unescaped(byte))
          isEscaped = false
        case UInt8(ascii: "\\"): isEscaped = true
        case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
        default: text.append(byte)
        }
        guard text.count < maxValueBytes else { throw .value(line: line(of: start)) }
      }
      throw .quotation(line: line(of: start))
    }

    private func line(of position: Int) -> Int { lines[bytes[..<position].count { $0 == 0x0A }] }

    private static func isBlank(_ byte: UInt8) -> Bool {
      byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
    }

    private static func unescaped(_ byte: UInt8) -> UInt8 {
      switch byte {
      case UInt8(ascii: "n"): 0x0A
      case UInt8(ascii: "r"): 0x0D
      case UInt8(ascii: "t"): 0x09
      default: byte
      }
    }
  }
}
