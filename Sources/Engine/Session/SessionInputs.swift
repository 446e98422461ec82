import RPCurlBase
import RPCurlPlatform
import RPCurlPluginHost
import RPCurlProgram
import RPCurlTransport

/// Chooses the input of a session.
package enum SessionInputs {
  package static func make(_ session: Session) -> any LineInput {
    LineInputs.make(
      session.client.loop, session.console, session.options, isInteractive: session.isInteractive,
      SessionAssistant(session), session.environment,
      isSecret: { [unowned session] line in session.written.occur(inLine: line) },
      notice: { session.notice($0) })
  }
}

/// Chooses the input of a prompt.
package enum LineInputs {
  /// - Parameters:
  ///   - isInteractive: Whether lines are typed on a terminal.
  ///   - isSecret: Whether a line contains a credential, which the history file must not contain; nil for no such file.
  ///   - notice: Prints why something is missing.
  package static func make(
    _ loop: EventLoop, _ console: Console, _ options: Invocation, isInteractive: Bool,
    _ assistant: any LineAssistant, _ environment: (String) -> String?,
    isSecret: ((_ line: String) -> Bool)?, notice: (String) -> Void
  ) -> any LineInput {
    guard isInteractive, console.output.isTerminal else { return PipedInput(loop, showingPromptOn: nil) }
    PluginExit.restore { TerminalModes.restore() }
    do throws(SystemError) {
      let editor = try LineEditor(
        on: loop, console, assistant: assistant,
        isStyled: options.colors(isTerminal: true, environment).areOn, isSecret: isSecret,
        environment: environment)
      if let problem = editor?.historyProblem { notice("no history: \(problem)") }
      if let editor { return editor }
    } catch {
      notice("no line editing: libedit: \(error.reason)")
    }
    return PipedInput(loop, showingPromptOn: console.output)
  }
}
