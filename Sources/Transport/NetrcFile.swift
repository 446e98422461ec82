import Glibc
import Protobuf
import RPCProtocols

/// The passwords in a netrc file, which libcurl adds to requests.
package enum NetrcFile {
  private static let maxBytes = 1 << 20

  /// The logins of a file, in order; none if it cannot be read again, such as a pipe.
  ///
  /// - Parameter path: The file; empty for that in the home directory.
  package static func logins(_ path: String) -> [(name: String, password: String)] {
    let path = path.isEmpty ? "\(EnvironmentVariables.value("HOME") ?? "")/.netrc" : path
    return logins(in: contents(path))
  }

  /// The logins in the text of a file.
  static func logins(in text: [UInt8]) -> [(name: String, password: String)] {
    let words = words(of: text)
    var name = ""
    var logins: [(name: String, password: String)] = []
    for (key, value) in zip(words, words.dropFirst()) {
      if key == "login" { name = value }
      if key == "password" { logins.append((name, value)) }
    }
    return logins
  }

  /// The words, which blanks separate; one in quotation marks may contain blanks, and escapes.
  private static func words(of text: [UInt8]) -> [String] {
    var words: [String] = []
    var word: [UInt8]?
    var isQuoted = false
    var isEscaped = false
    for byte in text {
      switch byte {
      case _ where isEscaped:
        word?.append(unescaped(byte))
        isEscaped = false
      case UInt8(ascii: "\\") where isQuoted: isEscaped = true
      case UInt8(ascii: "\"") where isQuoted || word == nil:
        isQuoted.toggle()
        word = word ?? []
      case _ where byte == 0x0A || !isQuoted && (byte == 0x20 || byte == 0x09 || byte == 0x0D):
        isQuoted = false
        if let word { words.append(String(decoding: word, as: UTF8.self)) }
        word = nil
      default:
        if word == nil { word = [] }
        word?.append(byte)
      }
    }
    if let word { words.append(String(decoding: word, as: UTF8.self)) }
    return words
  }

  private static func unescaped(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "n"): UInt8(ascii: "\n")
    case UInt8(ascii: "r"): UInt8(ascii: "\r")
    case UInt8(ascii: "t"): UInt8(ascii: "\t")
    default: byte
    }
  }

  private static func contents(_ path: String) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return [] }
    return [UInt8](unsafeUninitializedCapacity: min(Int(status.st_size), maxBytes)) { buffer, count in
      count = max(read(file, buffer.baseAddress, buffer.count), 0)
    }
  }
}
