import RPCurlChain
import RPCurlInterceptors
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

extension Argument {
  /// Whether the value names standard input or a pipe, whose content can be read only once.
  package var isReadableOnce: Bool {
    guard var path = text else { return false }
    switch OptionTable[id].pathForm {
    case .whole: break
    case .afterAt where path.begins(with: "@"): path = String(path.unicodeScalars.dropFirst())
    case .afterAt, .interceptor, .command, .none: return false
    }
    return FileFacts(path)?.kind == .pipe || ["", "-", "/dev/stdin"].contains(path)
      || path.begins(with: "/dev/fd/")
  }

  /// The name of the interceptor of `--use` if it writes a file of the whole run: a log, a report or a cassette.
  package var writerOfFile: String? {
    guard let text else { return nil }
    let parts = SettingScanner.split(text)
    let isWritten = parts.dropFirst().contains { part in
      let (key, value) = part.parted(at: "=")
      return value != "-" && BuiltIns.key(String(key), of: parts[0])?.isOutput == true
    }
    return isWritten ? parts[0] : nil
  }
}
