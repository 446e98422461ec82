import RPCurlBase
import RPCurlPluginHost
import RPCurlProgram

/// Chooses the input of a session.
package enum SessionInputs {
  package static func make(_ session: Session) -> any LineInput {
    let loop = session.client.loop
    let console = session.console
    guard session.isInteractive, console.output.isTerminal else {
      return PipedInput(loop, showingPromptOn: nil)
    }
    PluginExit.restore { TerminalModes.restore() }
    do throws(SystemError) {
      let isStyled = session.options.colors(isTerminal: true, session.environment).areOn
      let editor = try LineEditor(
        on: loop, console, assistant: SessionAssistant(session), isStyled: isStyled,
        isSecret: { [unowned session] line in session.written.occur(inLine: line) })
      if let problem = editor?.historyProblem { session.notice("no history: \(problem)") }
      if let editor { return editor }
    } catch {
      session.notice("no line editing: libedit: \(error.reason)")
    }
    return PipedInput(loop, showingPromptOn: console.output)
  }
}
