import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// Compiles `.proto` files with `protoc`, or with `buf` if they need modules that only buf can fetch.
package enum ProtoCompiler {
  /// The descriptor set of the files and their imports, with comments.
  ///
  /// - Parameters:
  ///   - files: The files.
  ///   - importPaths: The directories of imports. If it is empty, a `buf.yaml` and the files themselves imply them.
  ///   - directory: The directory that contains the files; nil for the working directory.
  ///   - origins: Where the names of the files are from.
  ///   - waitLimit: How long to wait for protoc or buf; nil for no limit.
  ///   - error: Where protoc's warnings are printed.
  /// - Throws: `Failure` with the first cause.
  package static func compile(
    _ files: [String], importPaths: [String], in directory: String? = nil, namedAt origins: [Origin],
    waitLimit: Duration? = nil,
    _ error: StandardError
  ) throws(Failure) -> SchemaSource.Source {
    for file in files where DirectoryPath.isStream(DirectoryPath.absolute(file, in: DirectoryPath.current)) {
      throw Failure(
        .schema, file, "is not a regular file, and protoc reads a file more than once",
        hint: "write it to a file first; only a descriptor set can be read from a pipe")
    }
    // buf connects to any host that a `buf.yaml` names.
    let fetchesModules = !origins.contains(where: \.isUntrusted)
    let sources =
      importPaths.isEmpty
      ? try ProtoSources(files, in: directory, fetchesModules: fetchesModules)
      : ProtoSources(files: files.map(plain), importPaths: importPaths)
    let output = try TemporaryFile.make()
    defer { output.close() }
    let workspace = fetchesModules ? sources.modules : nil
    let hasRun = try workspace.map { (workspace) throws(Failure) in
      try runBuf(workspace, sources, output, waitLimit)
    }
    let warnings = hasRun == true ? [] : try runProtoc(sources, output, waitLimit)
    for warning in warnings { error.remark("\(TerminalText.escape(warning))\n") }
    let name = files.joined(separator: ", ")
    do {
      return SchemaSource.Source(set: SchemaBytes(try output.contents()), name: name)
    } catch let problem {
      throw Failure(.schema, name, problem.why)
    }
  }

  /// A file name that protoc does not read as an option, nor as the name of a file of options (`@FILE`).
  static func plain(_ file: String) -> String {
    file.hasPrefix("-") || file.hasPrefix("@") ? "./\(file)" : file
  }

  /// Runs protoc. Returns its warnings.
  private static func runProtoc(
    _ sources: ProtoSources, _ output: TemporaryFile, _ waitLimit: Duration?
  ) throws(Failure) -> [String] {
    try sources.checkImportPaths()
    // protoc may be installed without the well-known types. Its own, and those of -I, take precedence.
    let builtIn = try TemporaryFile.make()
    defer { builtIn.close() }
    for set in [
      WellKnownSchemas.set, WellKnownSchemas.optionTypes, WellKnownSchemas.services, CommonSchemas.set,
    ] {
      do { try builtIn.write(set.bytes) } catch { throw Failure(.schema, "temporary file", error.why) }
    }
    let outcome: ChildProcess.Outcome
    do throws(ChildProcess.Problem) {
      outcome = try ChildProcess.run(
        [
          "protoc", "--include_imports", "--include_source_info",
          "--descriptor_set_out=/dev/fd/\(output.descriptor)",
          "--descriptor_set_in=/dev/fd/\(builtIn.descriptor)",
        ] + sources.importPaths.map { "-I\($0)" } + sources.files, waitLimit: waitLimit)
    } catch let problem {
      throw Interrupt.failure
        ?? Failure(
          .schema, "protoc", problem.isMissing ? "not found, but --proto needs it" : problem.why,
          hint: problem.isMissing ? "install it (Debian and Ubuntu: protobuf-compiler)" : nil)
    }
    let lines = outcome.errors.split(separator: "\n").map(String.init)
    guard outcome.hasSucceeded else { throw sources.failure(ProtocReport(lines)) }
    return lines
  }

  /// Runs `buf build`, which fetches the modules that the workspace depends on. Returns false if buf is not installed.
  private static func runBuf(
    _ workspace: BufWorkspace, _ sources: ProtoSources, _ output: TemporaryFile, _ waitLimit: Duration?
  ) throws(Failure) -> Bool {
    let outcome: ChildProcess.Outcome
    do throws(ChildProcess.Problem) {
      outcome = try ChildProcess.run(
        ["buf", "build", workspace.directory, "--as-file-descriptor-set", "-o", "-"]
          + sources.files.flatMap { ["--path", $0] }, output: output.descriptor, waitLimit: waitLimit)
    } catch let problem {
      guard problem.isMissing else { throw Interrupt.failure ?? Failure(.schema, "buf", problem.why) }
      return false
    }
    guard outcome.hasSucceeded else {
      let first = outcome.errors.split(separator: "\n").first { !$0.hasPrefix("WARN") }
      throw Failure(
        .schema, "buf build", first.map(String.init) ?? "no output",
        hint: "with -I DIR, protoc compiles the files instead")
    }
    return true
  }
}

extension TemporaryFile {
  /// Creates a file.
  fileprivate static func make() throws(Failure) -> TemporaryFile {
    do { return try TemporaryFile() } catch { throw Failure(.schema, "temporary file", error.why) }
  }
}
