import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProtocols

extension ValueSources {
  /// Reads values of settings and options from files, environment variables and commands.
  ///
  /// The limits of option files apply: their size, and the wait for a pipe.
  ///
  /// - Parameters:
  ///   - waitLimit: How long to wait for data from a pipe, and for commands; nil for no limit.
  ///   - time: Counts the time of commands.
  package static func system(waitLimit: Duration?, time: CommandTime = CommandTime()) -> ValueSources {
    ValueSources(
      file: { path throws(LanguageError) in
        do throws(SystemError) {
          let bytes = try FileContents.read(
            path, limitBytes: FileContents.optionLimitBytes, waitLimit: waitLimit)
          guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SystemError("is not UTF-8 text")
          }
          return text
        } catch {
          throw LanguageError("\(path): \(error.reason)")
        }
      },
      environment: EnvironmentVariables.value,
      command: { words throws(LanguageError) in
        do throws(SystemError) {
          return try ValueCommand(words).output(waitLimit: waitLimit, countedBy: time)
        } catch {
          throw LanguageError(error.reason)
        }
      })
  }
}
