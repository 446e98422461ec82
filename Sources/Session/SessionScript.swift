import Output
import Protobuf
import System
import Terminal

/// Scripts of session commands.
extension Session {
  /// How deep scripts may run others.
  private static let depthLimit = 16

  /// Runs the commands of a file.
  ///
  /// - Parameter keepsGoing: Whether a command that fails is told, and does not end the script.
  package func runScript(_ path: String, keepsGoing: Bool = false) throws {
    guard scriptDepth < Self.depthLimit else {
      throw Failure(.usage, path, "scripts run scripts, more than \(Self.depthLimit) deep")
    }
    let text: [UInt8]
    do {
      text = try FileContents.read(path, limitBytes: FileContents.dataLimitBytes)
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
    // As at the prompt: what else Unicode calls the end of a line may stand in JSON.
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where end == nil {
      if !reader.isWithin { first = index + 1 }
      place = "\(path), line \(first)"
      do {
        guard let statement = try reader.add(PipedInput.text(ofLine: line)) else { continue }
        try execute(statement)
        // What is open goes on, and a signal is heard.
        if !(try wait { true }) { noteSignal() }
        try throwFailureOfStream()
      } catch {
        let failure = Self.placed(error, place ?? path)
        guard keepsGoing, end == nil else { throw failure }
        tell(failure)
      }
    }
    if reader.isWithin, end == nil {
      throw Failure(.input, "\(path), line \(first)", "the JSON ends too early")
    }
  }

  /// An error with the place in a script in front; one that was told already is told to end the script.
  private static func placed(_ error: any Error, _ place: String) -> Failure {
    guard let failure = error as? Failure else { return Failure(.internalError, place, "\(error)") }
    guard var words = failure.words else { return Failure(failure.status, place, "the command failed") }
    // The place of a stream that failed is where it was opened.
    if words.what.contains(", line ") { return failure }
    words.what = words.what.isEmpty ? place : "\(place): \(words.what)"
    return Failure(failure.status, words)
  }
}
