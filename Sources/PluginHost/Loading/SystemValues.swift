import Glibc
import Interception

extension ValueSources {
  /// Values from this machine's files and this process's environment.
  public static let system = ValueSources(
    file: { path throws(Failure) in
      let file: FileReader
      do throws(FileReader.Failure) {
        file = try FileReader(path: path)
      } catch {
        throw Failure("\(path): \(error.reason)")
      }
      guard let facts = FileFacts(descriptor: file.descriptor), !facts.isDirectory else {
        throw Failure("\(path): is a directory")
      }
      guard let bytes = file.readAll(limitBytes: 1 << 20) else {
        throw Failure("\(path): is longer than 1 MiB")
      }
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw Failure("\(path): is not UTF-8 text")
      }
      return text
    },
    environment: { getenv($0).map { String(cString: $0) } })
}
