import RPCurlBase
import RPCurlPlatform
import RPCurlProgram

extension FileContents {
  /// Reads a file that holds messages, rows or commands, without the byte order mark that some editors write.
  ///
  /// - Parameters:
  ///   - path: The file; `-` for standard input.
  ///   - name: Its name in errors; nil for the path.
  ///   - status: The exit status if it cannot be read.
  ///   - waitLimit: How long to wait for data from a pipe; nil for no limit.
  /// - Throws: `Failure` if it cannot be read.
  static func input(
    _ path: String, named name: String? = nil, status: ExitStatus = .input, waitLimit: Duration?
  ) throws(Failure) -> [UInt8] {
    do throws(SystemError) {
      return try read(path, limitBytes: dataLimitBytes, waitLimit: waitLimit).withoutByteOrderMark
    } catch {
      throw Failure(status, name ?? path, error)
    }
  }
}
