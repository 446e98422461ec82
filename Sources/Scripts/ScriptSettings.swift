import RPCurlChain

/// What a user writes to make a script an interceptor.
package struct ScriptSettings: Sendable {
  /// Where the script runs.
  package enum Place: Sendable, Equatable {
    /// A program and its arguments, which rpcurl starts.
    case command([String])
    /// The path of a Unix socket, at which a running process listens.
    case socket(String)
  }

  /// Where the script runs.
  package var place: Place
  /// The name in logs and errors.
  package var name: String
  /// What is masked in what the script receives.
  package var redaction: Redaction
  /// Replies to the questions of the script; nil asks on the terminal.
  package var reply: (@Sendable (String) -> String?)?

  /// Makes settings.
  ///
  /// - Parameters:
  ///   - place: Where the script runs.
  ///   - name: The name in logs and errors; nil for the name of the file.
  ///   - redaction: What is masked in what the script receives.
  package init(_ place: Place, name: String? = nil, redaction: Redaction = Redaction()) {
    self.place = place
    self.redaction = redaction
    self.name = name ?? place.fileName
  }
}

extension ScriptSettings.Place {
  /// The name of the program or of the socket, without its folder.
  fileprivate var fileName: String {
    let path: String
    switch self {
    case .command(let words): path = words.first ?? ""
    case .socket(let socket): path = socket
    }
    return path.split(separator: "/").last.map { String($0) } ?? path
  }
}
