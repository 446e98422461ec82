import Glibc
import Interception
import RPCProtocols
import System

extension ValueSources {
  /// Reads values of settings from files and environment variables.
  ///
  /// The limits of option files apply: their size, and the wait for a pipe.
  ///
  /// - Parameter waitLimit: How long to wait for data from a pipe; nil for no limit.
  package static func system(waitLimit: Duration?) -> ValueSources {
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
      environment: EnvironmentVariables.value)
  }
}
