import Glibc
import Interceptors
import Output
import Protobuf
import System

/// Compiles `.proto` files with `protoc`.
package enum ProtoCompiler {
  /// The descriptor set of the files and their imports, with comments.
  ///
  /// - Parameters:
  ///   - files: The files.
  ///   - importPaths: The directories of imports.
  ///   - error: Where protoc's output is printed.
  /// - Throws: `Failure` with protoc's first error.
  package static func compile(
    _ files: [String], importPaths: [String], _ error: StandardError
  ) throws(Failure) -> SchemaSource.Source {
    let name = files.joined(separator: ", ")
    let output = try temporaryFile()
    defer { output.close() }
    // protoc may be installed without the well-known types. Its own, and those of -I, take precedence.
    let wellKnown = try temporaryFile(WellKnownSchemas.set.bytes, WellKnownSchemas.optionTypes.bytes)
    defer { wellKnown.close() }
    var arguments = ["protoc", "--include_imports", "--include_source_info"]
    arguments += ["--descriptor_set_out=/dev/fd/\(output.descriptor)"]
    arguments += ["--descriptor_set_in=/dev/fd/\(wellKnown.descriptor)"]
    arguments += (importPaths.isEmpty ? defaultPaths(of: files) : importPaths).map { "-I\($0)" }
    let result: ChildProcess.Outcome
    do throws(ChildProcess.Problem) {
      result = try ChildProcess.run(arguments + files.map(plain))
    } catch let problem {
      throw Failure(
        .schema, "protoc", problem.isMissing ? "not found, but --proto needs it" : problem.why,
        hint: problem.isMissing ? "install it (Debian and Ubuntu: protobuf-compiler)" : nil)
    }
    let lines = result.errors.split(separator: "\n").map { TerminalText.escape(String($0)) }
    guard result.hasSucceeded else { throw failure(name, lines, error) }
    for warning in lines { error.remark("\(warning)\n") }
    do {
      return SchemaSource.Source(set: SchemaBytes(try output.contents()), name: name)
    } catch let problem {
      throw Failure(.schema, name, problem.why)
    }
  }

  /// The failure with protoc's output as the reason.
  private static func failure(_ name: String, _ lines: [String], _ error: StandardError) -> Failure {
    let why = "protoc failed"
    switch error.diagnostics.format {
    case .json:
      return Failure(.schema, name, ([why] + lines).joined(separator: "\n"))
    case .text:
      if error.diagnostics.showsErrors { for line in lines { error.write("\(line)\n") } }
      return Failure(.schema, name, why)
    }
  }

  private static func temporaryFile(_ pieces: UnsafeRawBufferPointer...) throws(Failure) -> TemporaryFile {
    do {
      let file = try TemporaryFile()
      for piece in pieces { try file.write(piece) }
      return file
    } catch {
      throw Failure(.schema, "temporary file", error.why)
    }
  }

  /// A file name that protoc does not read as an option, nor as the name of a file of options (`@FILE`).
  private static func plain(_ file: String) -> String {
    file.hasPrefix("-") || file.hasPrefix("@") ? "./\(file)" : file
  }

  /// The import path `.` for files below the working directory; otherwise their directories.
  private static func defaultPaths(of files: [String]) -> [String] {
    var paths: [String] = []
    for file in files where file.hasPrefix("/") || file.split(separator: "/").contains("..") {
      let directory = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? ""
      let path = directory.isEmpty ? "/" : directory
      if !paths.contains(path) { paths.append(path) }
    }
    return paths + ["."]
  }
}
