import RPCurlBase
import RPCurlPlatform
import RPCurlPluginHost
import RPCurlProgram
import RPCurlReports
import RPCurlTransport

/// Runs the event loop for a command, which SIGINT and SIGTERM interrupt.
package struct CommandLoop {
  private let loop: EventLoop

  package init(_ loop: EventLoop) {
    self.loop = loop
  }

  /// Runs the loop until a condition holds.
  ///
  /// - Parameters:
  ///   - start: Called when signals are handled, before the first round of events.
  ///   - onInterrupt: Called after the round in which the first signal arrives; makes the condition hold soon.
  ///   - isDone: The condition, checked after each round of events.
  /// - Returns: Whether a signal arrived before the condition held.
  package func run(
    start: () -> Void = {}, onInterrupt: @escaping () -> Void, until isDone: () -> Bool
  ) throws(Failure) -> Bool {
    var hasSignal = false
    var isInterrupted = false
    let descriptor = Interrupt.install()
    if let descriptor {
      Interrupts.watch(descriptor)
      loop.watch(descriptor) { [loop] in
        loop.unwatch(descriptor)
        hasSignal = true
      }
    }
    defer { if let descriptor { loop.unwatch(descriptor) } }
    start()
    do {
      try loop.run {
        if isDone() { return true }
        guard hasSignal, !isInterrupted else { return false }
        isInterrupted = true
        onInterrupt()
        return isDone()
      }
    } catch {
      throw Failure(.internalError, "libcurl", error.message)
    }
    return isInterrupted
  }

  /// Runs the loop until a condition holds. Returns false if a signal arrived first.
  package func wait(until isDone: () -> Bool) throws(Failure) -> Bool {
    _ = try run(onInterrupt: {}, until: { Interrupt.isPending || isDone() })
    return !Interrupt.isPending
  }

  /// The same, and prints what is awaited.
  ///
  /// - Parameters:
  ///   - purpose: Returns what is awaited, which is printed on a terminal after a second; nil to print nothing.
  ///   - console: Where that is printed.
  ///   - isDone: Whether the wait is over.
  package func wait(
    for purpose: (() -> String?)?, _ console: Console, until isDone: () -> Bool
  ) throws(Failure) -> Bool {
    let timer = purpose.flatMap { purpose in
      !console.error.isTerminal
        ? nil
        : loop.schedule(at: .now + .seconds(1)) {
          if let text = purpose() {
            console.error.remark("* \(TerminalText.escape("waiting for \(text)"))\n")
          }
        }
    }
    defer { if let timer { loop.cancel(timer) } }
    return try wait(until: isDone)
  }

  /// Runs the loop until a condition holds, flushes standard output meanwhile and shows a progress line. A write error has the
  /// effect of a signal, and is kept: `StandardOutput.endIfFailed` ends the process.
  ///
  /// - Parameters:
  ///   - console: Where the command prints.
  ///   - progress: What the progress line reports.
  ///   - whenBehind: Called when the reader of standard output falls behind, and when it has caught up.
  ///   - start: Called when signals are handled and output is flushed, before the first round of events.
  ///   - onInterrupt: Called when the first signal arrives; makes the condition hold soon.
  ///   - isDone: The condition, checked after each round of events.
  ///   - conclude: Called after the condition holds and before the rest of the output is flushed; returns the exit status if
  ///     calls failed.
  /// - Returns: The status from `conclude`, and whether a signal arrived before the condition held, made calls fail, or cut the
  ///   output off.
  package func run(
    flushing console: Console, progress: @escaping () -> Progress,
    whenBehind: @escaping (_ isBehind: Bool) -> Void,
    start: () -> Void = {}, onInterrupt: @escaping () -> Void, until isDone: () -> Bool,
    conclude: () -> ExitStatus?
  ) throws(Failure) -> (isInterrupted: Bool, status: ExitStatus?) {
    // A slow reader slows the server down, but does not delay the deadline or a signal.
    let flusher = OutputFlusher(console.output, loop, whenBehind: whenBehind)
    // Calls end with all that interceptors do at the end.
    console.output.interruptAtFailure()
    let line = ProgressLine(console, loop, progress: progress)
    defer { line?.finish() }
    let isInterrupted = try run(
      start: start,
      onInterrupt: {
        if !console.output.hasFailed { console.error.endEchoedLine() }
        onInterrupt()
      }, until: isDone)
    line?.finish()
    let status = conclude()
    flusher.finish()
    // Calls that succeeded before the signal arrived, and whose output is whole, are not interrupted.
    let isCut = console.output.hasDiscarded || console.output.hasFailed
    return (isInterrupted || Interrupt.isPending && (isCut || status != nil), status)
  }
}
