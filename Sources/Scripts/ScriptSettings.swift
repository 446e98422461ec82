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
  /// How long to wait for its first line at the first start (`--max-time`); nil for the limit of each start.
  package var waitLimit: Duration?

  /// Makes settings.
  ///
  /// - Parameters:
  ///   - place: Where the script runs.
  ///   - name: The name in logs and errors; nil for the name of the file.
  ///   - redaction: What is masked in what the script receives.
  package init(_ place: Place, name: String? = nil, redaction: Redaction = Redaction()) {
    self.place = place
    self.redaction = redaction
    self.name = name ?? place.path.split(separator: "/").last.map { String($0) } ?? place.path
  }
}

extension ScriptSettings.Place {
  /// The program, or the socket.
  package var path: String {
    switch self {
    case .command(let words): words.first ?? ""
    case .socket(let path): path
    }
  }
}
