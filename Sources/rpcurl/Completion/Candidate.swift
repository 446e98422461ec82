import RPCurlBase
import RPCurlProgram

/// A completion of an argument.
struct Candidate: Equatable {
  /// The largest number of printed candidates.
  static let limit = 2000

  /// The completed argument.
  let text: String
  let description: String

  init(_ text: String, _ description: String = "") {
    self.text = text
    self.description = description
  }

  /// Prints candidates, one per line, for completion scripts.
  ///
  /// Names may come from a file or a server, so candidates with characters that are special to a terminal or a shell
  /// are omitted.
  static func print(_ candidates: [Candidate], on output: StandardOutput) {
    var seen: Set<String> = []
    for candidate in candidates where candidate.isSafe && seen.insert(candidate.text).inserted {
      let description = TerminalText.escape(candidate.description).filter { !$0.isNewline && $0 != "\t" }
      output.write(Array("\(candidate.text)\t\(description)\n".utf8))
      if seen.count == limit { break }
    }
    output.flush()
  }

  private var isSafe: Bool {
    !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
      && TerminalText.escape(text) == text
  }

  /// Whether `text` has only characters of schema names and URLs, none of which is special to a shell.
  static func isName(_ text: String) -> Bool {
    text.utf8.count < 1000
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "/"):
          true
        default: false
        }
      }
  }
}
