import RPCurlBase
import RPCurlProtobuf

/// A shell command that makes a call, with comments.
struct CallScript {
  /// What the command reads from standard input.
  enum Input: Equatable {
    /// What the script's own standard input contains.
    case inherited
    case file(String)
    case bytes([UInt8])
  }

  /// Longer commands have one option on each line.
  private static let lineLimit = 100
  /// The longest data that `printf` prints; longer data is a here-document in base64.
  private static let printedBytes = 4096

  /// The comments, without their `#`.
  private(set) var comments: [String] = []
  /// The words of the command; those of a group are on one line.
  private(set) var groups: [[ShellText]] = []
  var input = Input.inherited
  /// The file for the output; nil for standard output.
  var output: String?

  init(_ words: ShellText...) { self.init(words) }

  init(_ words: [ShellText]) { groups = [words] }

  /// Adds a comment, whose text may contain anything.
  mutating func add(comment: String) {
    comments.append(TerminalText.escape(comment))
  }

  /// Adds a comment for each variable that has to be set.
  mutating func add(commentsFor placeholders: [WrittenSecrets.Placeholder]) {
    for placeholder in placeholders {
      add(comment: "Set \(placeholder.name) in the environment: \(placeholder.meaning).")
    }
  }

  mutating func add(_ words: ShellText...) { add(words) }

  mutating func add(_ words: [ShellText]) { groups.append(words) }

  /// The script.
  var text: String {
    var lines = groups.map { $0.map(\.quoted).joined(separator: " ") }
    if let output { lines.append("> \(ShellText(output).quoted)") }
    if case .file(let path) = input { lines.append("< \(ShellText(path).quoted)") }
    var head = ""
    var tail = ""
    if case .bytes(let bytes) = input {
      if bytes.count <= Self.printedBytes {
        head = "printf '\(ShellText.format(printing: bytes))' | "
      } else {
        head = "base64 -d <<'END' | "
        tail = "\(Self.folded(Base64.encode(bytes)))END\n"
      }
    }
    let isLong = lines.reduce(0) { $0 + $1.utf8.count + 1 } > Self.lineLimit
    let command = head + lines.joined(separator: isLong ? " \\\n  " : " ") + "\n"
    return comments.map { "# \($0)\n" }.joined() + command + tail
  }

  /// Base64 on lines of 76 characters.
  private static func folded(_ text: String) -> String {
    var folded = ""
    var rest = text[...]
    while !rest.isEmpty {
      folded += "\(rest.prefix(76))\n"
      rest = rest.dropFirst(76)
    }
    return folded
  }
}
