import Glibc
import Interception
import Output
import System

extension ValueSources {
  /// Values of settings from this machine's files and this process's environment.
  ///
  /// A file is read as those that options name: up to a limit, and a pipe no longer than a call may take.
  package static let system = ValueSources(
    file: { path throws(Failure) in
      let bytes: [UInt8]
      do throws(FileContents.Problem) {
        bytes = try FileContents.read(path, limitBytes: FileContents.optionLimitBytes)
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
