import RPCurlPlatform

/// Completes a target `unix:PATH`.
enum SocketCompletion {
  private static let scheme = "unix:"

  /// The sockets and directories at the typed path; nil if the text is not the beginning of such a target.
  static func targets(_ typed: String) -> [Candidate]? {
    guard typed.hasPrefix(scheme) else {
      return !typed.isEmpty && scheme.hasPrefix(typed) ? [Candidate(scheme, "a Unix socket")] : nil
    }
    let path = String(typed.dropFirst(scheme.utf8.count))
    let stem = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    let directory = CompletionLine.expanded(stem)
    return FileCompletion.entries(directory.isEmpty ? "." : directory).sorted().compactMap { name in
      guard "\(stem)\(name)".hasPrefix(path),
        !name.hasPrefix(".") || path.dropFirst(stem.count).hasPrefix(".")
      else { return nil }
      switch FileFacts("\(directory)\(name)")?.kind {
      case .socket: return Candidate("\(scheme)\(stem)\(name)", "socket")
      case .directory: return Candidate("\(scheme)\(stem)\(name)/", "directory")
      default: return nil
      }
    }
  }
}
