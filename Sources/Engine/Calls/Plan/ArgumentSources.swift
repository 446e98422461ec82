import RPCurlBase
import RPCurlChain
import RPCurlInterceptors
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// What values of options are read from.
package struct ArgumentSources {
  /// Returns the value of an environment variable.
  package let environment: (String) -> String?
  package let secrets: SecretPrompt
  /// How long to wait for data from a pipe and for commands (`--max-time`); nil for no limit.
  package var waitLimit: Duration?
  /// The time of the commands so far.
  package let commandTime = CommandTime()
  /// The output of commands, by their words: one that several requests need runs once.
  private let outputs = Locked<[(words: [String], text: String)]>([])

  /// Creates sources without a limit of waiting.
  package init(environment: @escaping (String) -> String?, secrets: SecretPrompt) {
    self.environment = environment
    self.secrets = secrets
  }

  /// Reads a file that an option names.
  package func contents(ofFile path: String) throws(SystemError) -> [UInt8] {
    try FileContents.read(path, limitBytes: FileContents.optionLimitBytes, waitLimit: waitLimit)
  }

  /// Reads a file of text that an option names.
  package func text(ofFile path: String) throws(SystemError) -> String {
    guard let text = String(validating: try contents(ofFile: path), as: UTF8.self) else {
      throw SystemError("not UTF-8")
    }
    return text
  }

  /// Reads the value of an option, which may be elsewhere.
  ///
  /// - Parameters:
  ///   - option: The option.
  ///   - name: What is before the value in that of the option, such as `user=`.
  /// - Returns: The value: of a file and of a command as it is, with line ends.
  package func value(of option: Argument, after name: String = "") throws(Failure) -> String {
    let text = String((option.text ?? "").unicodeScalars.dropFirst(name.unicodeScalars.count))
    let what = "\(option.name) \(name)"
    let value: WholeValue
    do throws(LanguageError) { value = try WholeValue(parsing: text) } catch {
      throw Failure(.usage, name.isEmpty ? option.name : what, error.reason, hint: error.hint).at(
        option.origin)
    }
    switch value {
    case .literal(let text): return text
    case .file(let path):
      do throws(SystemError) { return try self.text(ofFile: path) } catch {
        throw Interrupt.failure
          ?? Failure(
            .usage, "\(what)@\(path)", error.reason,
            hint: error.isMissing ? "text that begins with @ is written \(name)@@\(path)" : nil
          ).at(option.origin)
      }
    case .environment(let variable):
      guard let value = environment(variable) else {
        throw Failure(
          .usage, "\(what)env:\(variable)", "the environment variable is not set",
          hint: "export \(variable)=VALUE"
        ).at(option.origin)
      }
      return value
    case .command(let words):
      if let known = outputs.withLock({ $0.first { $0.words == words } }) { return known.text }
      do throws(SystemError) {
        let output = try ValueCommand(words).output(waitLimit: waitLimit, countedBy: commandTime)
        outputs.withLock { $0.append((words, output)) }
        return output
      } catch {
        // The arguments may be secret.
        throw Interrupt.failure
          ?? Failure(
            .usage, "\(what)cmd:\(words[0])", error.reason,
            hint: "run the command alone: it prints the value, and ends with exit code 0"
          ).at(option.origin)
      }
    }
  }
}
