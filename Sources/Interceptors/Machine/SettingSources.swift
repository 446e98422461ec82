import RPCurlChain
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
      file: { path throws(Failure) in
        let bytes: [UInt8]
        do throws(FileContents.Problem) {
          bytes = try FileContents.read(
            path, limitBytes: FileContents.optionLimitBytes, waitLimit: waitLimit)
        } catch {
          throw Failure("\(path): \(error.why)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
          throw Failure("\(path): is not UTF-8 text")
        }
        return text
      },
      environment: EnvironmentVariables.value,
      command: { words throws(Failure) in
        do throws(ServiceFailure) {
          return try ValueCommand(words).output(waitLimit: waitLimit, countedBy: time)
        } catch {
          throw Failure(error.reason)
        }
      })
  }
}
