import RPCurlProgram
import RPCurlProtobuf
import RPCurlSchemaTools

/// What `--proto` names, for a program that searches no imports, and has no directories, patterns and names of directories.
struct WrittenSources {
  /// The directories of imports; empty for a descriptor set.
  let directories: [String]
  /// The names of the files in these directories, or the descriptor set that `preparation` writes.
  let files: [String]
  /// The command that writes the descriptor set; nil if the program can read the sources.
  let preparation: String?

  /// The sources of a call; nil if it has none.
  ///
  /// - Parameters:
  ///   - options: The options of the call.
  ///   - service: The service that is called. Of a directory, only its file is named.
  ///   - directoryLimit: The largest number of directories of imports that the program reads.
  init?(
    _ options: Invocation, declaring service: String, in pool: DescriptorPool?, directoryLimit: Int = .max,
    _ error: StandardError
  ) throws(Failure) {
    let given = options.protos.compactMap(\.text)
    guard !given.isEmpty else { return nil }
    if !given.contains("-"),
      let plain = try SourceCompiler(options, error).plainNames(given),
      plain.directories.count <= directoryLimit
    {
      let own = (try? pool?.fileName(declaring: service)).flatMap { $0 }
      directories = plain.directories
      files =
        own.map { plain.files.count > given.count && plain.files.contains($0) ? [$0] : plain.files }
        ?? plain.files
      preparation = nil
      return
    }
    let words =
      given.flatMap { ["--proto", $0] } + options.texts(.importPath).flatMap { ["-I", $0] } + [
        "-o", "schema.binpb",
      ]
    directories = []
    files = ["schema.binpb"]
    preparation = "First run: rpcurl export \(words.map { ShellText($0).quoted }.joined(separator: " "))"
  }
}
