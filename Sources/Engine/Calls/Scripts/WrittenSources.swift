import RPCurlProgram
import RPCurlProtobuf
import RPCurlSchemaTools

/// What `--proto` names, for a program that searches no imports, and has no directories, patterns and names of directories.
struct WrittenSources {
  /// The directories of imports; empty for a descriptor set.
  let directories: [String]
  /// The names of the files in these directories, or the descriptor set that `preparation` writes.
  private(set) var files: [String]
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
      let own = plain.files.count > given.count ? try? pool?.fileName(declaring: service) : nil
      directories = plain.directories
      files = plain.files.filter { $0 == own }
      if files.isEmpty { files = plain.files }
      preparation = nil
      return
    }
    directories = []
    files = ["schema.binpb"]
    preparation = "First run: rpcurl export \(options.sourceWords) -o \(files[0])"
  }
}
