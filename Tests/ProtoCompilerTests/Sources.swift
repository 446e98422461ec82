import RPCurlPlatform
import RPCurlProtoCompiler

/// Compiles the file `t.proto` of sources that are given as text.
func compile(
  _ files: [String: String], options: ProtoCompilerOptions = ProtoCompilerOptions()
) -> ProtoCompilation {
  let compiler = ProtoCompiler(options: options) { name in
    files[name].map { .found(Array($0.utf8)) } ?? .missing(tried: ["protos"])
  }
  return compiler.compile(["t.proto"])
}

extension ProtoCompilation {
  /// The errors and warnings, one a line, without the lines of the source.
  var summaries: [String] { diagnostics.map(\.summary) }
}

/// Sources and what is expected of them, in a file of this folder.
///
/// Blocks are separated by lines `%%`. Each has the text of `t.proto`, those of other files after lines `== NAME`, and the
/// expected lines after `> `.
struct Blocks {
  var files: [String: String] = [:]
  var expected: [String] = []

  private init(_ lines: [Substring]) {
    var name = "t.proto"
    var text: [Substring] = []
    for line in lines {
      if line.hasPrefix("> ") {
        expected.append(String(line.dropFirst(2)))
      } else if line.hasPrefix("== ") {
        files[name] = text.joined(separator: "\n")
        name = String(line.dropFirst(3))
        text = []
      } else {
        text.append(line)
      }
    }
    files[name] = text.joined(separator: "\n")
  }

  static func read(_ name: String) throws -> [Blocks] {
    let path = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/\(name)"
    let lines = String(decoding: try FileContents.read(path), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    return lines.split(separator: "%%", omittingEmptySubsequences: false).map { Blocks(Array($0)) }
  }

  /// Compiles `t.proto` with files that all blocks have.
  func compile(common: [String: String] = [:], options: ProtoCompilerOptions = ProtoCompilerOptions())
    -> ProtoCompilation
  {
    ProtoCompiler(options: options) { name in
      (files[name] ?? common[name]).map { .found(Array($0.utf8)) } ?? .missing(tried: ["."])
    }
    .compile(["t.proto"])
  }
}
