import Output
import Protobuf
import System
import Terminal

/// Scripts of session commands.
extension Session {
  /// The limit of nested scripts.
  private static let depthLimit = 16

  /// Runs the commands of a file.
  ///
  /// - Parameters:
  ///   - path: The file; `-` for standard input.
  ///   - keepsGoing: Whether to print the error of a command and continue; the script fails at its end.
  /// - Throws: `Failure` with the file and line of the command that failed; if `keepsGoing`, of the first one.
  package func runScript(_ path: String, keepsGoing: Bool = false) throws {
    guard scriptDepth < Self.depthLimit else {
      throw Failure(.usage, path, "scripts are nested more than \(Self.depthLimit) deep")
    }
    let text: [UInt8]
    do {
      text = try FileContents.read(
        path, limitBytes: FileContents.dataLimitBytes, waitLimit: options.request.maxTime)
    } catch {
      throw Failure(.usage, path, error.why)
    }
    if scriptDepth == 0 { forgetFailuresOfStreams() }
    let before = place
    scriptDepth += 1
    defer {
      scriptDepth -= 1
      place = before
    }
    var reader = SessionStatementReader()
    var first = 0
    var firstFailure: Failure?
    // Split at line feeds only, as the prompt does: JSON strings may contain the other line ends of Unicode.
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where end == nil {
      if !reader.isWithin { first = index + 1 }
      place = "\(path), line \(first)"
      do {
        guard let statement = try reader.add(PipedInput.text(ofLine: line)) else { continue }
        try execute(statement)
        // Let open streams progress, and handle signals.
        if !(try wait { true }) { handleSignal() }
        try throwFailureOfStream()
      } catch {
        // The observer ends the script by an error of its own.
        guard observer == nil || error is Failure else { throw error }
        let failure = Self.placed(error, place ?? path)
        guard keepsGoing, end == nil else { throw failure }
        report(failure)
        firstFailure = firstFailure ?? failure
      }
    }
    if reader.isWithin, end == nil {
      throw Failure(.input, "\(path), line \(first)", "unexpected end of the JSON")
    }
    // Each error was reported.
    if let firstFailure, end == nil { throw Failure(reported: firstFailure.status) }
  }

  private static func placed(_ error: any Error, _ place: String) -> Failure {
    (error as? Failure)?.prefixed(place) ?? Failure(.internalError, place, "\(error)")
  }
}
