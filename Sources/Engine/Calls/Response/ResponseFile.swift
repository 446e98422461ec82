import RPCurlBase
import RPCurlPlatform
import RPCurlProgram

/// The output file of `-o`, or of `>` in a session.
///
/// Output that is useless unless complete is written to another file, which replaces this one at the end.
package final class ResponseFile {
  private let path: String
  /// The option that names the file, for errors.
  private let option: String
  private let descriptor: Int32
  /// The file that replaces the output file; nil if that is written directly.
  private var replacement: ReplacementFile?

  /// Opens the file and redirects an output to it.
  ///
  /// - Parameters:
  ///   - output: The output.
  ///   - path: The file.
  ///   - isWhole: Whether the file must not contain a part of the output.
  ///   - inputs: The files that are read while it is written, with `-` for standard input.
  ///   - option: The option that names the file, for errors.
  ///   - waitLimit: How long to wait for the reader of a pipe; nil for no limit.
  /// - Throws: `Failure` if the file cannot be created, or is one of the inputs.
  package init(
    redirecting output: StandardOutput, to path: String, isWhole: Bool, inputs: [String] = [],
    option: String = "-o", waitLimit: Duration?
  ) throws(Failure) {
    if !isWhole, inputs.contains(where: { FileContents.isInput(path, of: $0) }) {
      throw Failure(
        .usage, "\(option) \(path)", "the data of the requests is read from this file while it is written",
        hint: "write to another file")
    }
    self.option = option
    self.path = FileContents.targetPath(path)
    do throws(SystemError) {
      if isWhole, let file = try ReplacementFile.make(replacing: path) {
        replacement = file
        descriptor = file.descriptor
      } else {
        descriptor = try FileContents.openForWriting(self.path, mode: 0o666, waitLimit: waitLimit)
      }
    } catch {
      throw Interrupt.failure ?? Failure(.internalError, "\(option) \(path)", error)
    }
    redirect(output)
  }

  private func redirect(_ output: StandardOutput) {
    output.redirect(to: descriptor, name: path) { [self] in discard() }
  }

  /// Completes the file after everything is written.
  ///
  /// - Throws: `Failure` if that fails.
  package func commit() throws(Failure) {
    let replacement = replacement
    self.replacement = nil
    // Some file systems report a full disk only on close.
    guard replacement?.replace() ?? (FileContents.closeWriter(descriptor) == nil) else {
      throw Self.failure(option, path)
    }
  }

  /// Removes the replacement file: the output is not complete.
  package func discard() {
    replacement?.discard()
    replacement = nil
  }

  private static func failure(_ option: String, _ path: String) -> Failure {
    Failure(.internalError, "\(option) \(path)", FileContents.lastError())
  }
}
