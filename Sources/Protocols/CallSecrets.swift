import RPCurlBase
import RPCurlLanguage
import RPCurlProtobuf

/// The credentials of the requests of one call: what is written about the call does not contain them. `[any thread]`
package final class CallSecrets: Sendable {
  private struct State: Sendable {
    var names: SecretNames
    /// The headers of requests whose secrets `mask` does not have yet.
    var requests: [Headers] = []
    /// Further secrets that `mask` does not have yet.
    var others: [String] = []
    /// Made only when it is used, which most calls do not.
    var mask: SecretMask?

    mutating func readSecrets() -> SecretMask {
      var mask = mask ?? SecretMask()
      for headers in requests { mask.add(SecretMask.secrets(of: headers, names: names)) }
      mask.add(others)
      (self.mask, requests, others) = (mask, [], [])
      return mask
    }
  }

  /// The number of requests that are kept unread.
  private static let maxUnread = 8

  private let state: Locked<State>

  /// Makes the secrets of a call that has sent no request.
  ///
  /// - Parameter names: Which headers are secret, besides those that interceptors add.
  package init(_ names: SecretNames = .standard) {
    state = Locked(State(names: names))
  }

  /// Which headers and attributes are secret.
  package var names: SecretNames { state.withLock { $0.names } }

  /// Adds the credentials of a request.
  ///
  /// - Parameters:
  ///   - headers: Its headers.
  ///   - credentials: Those of its headers that interceptors have added for one server.
  package func add(_ headers: Headers, _ credentials: Credentials?) {
    state.withLock { state in
      if let credentials { state.names = state.names.adding(Array(credentials.headerNames)) }
      state.requests.append(headers)
      if state.requests.count > Self.maxUnread { _ = state.readSecrets() }
    }
  }

  /// Makes further headers secret.
  ///
  /// - Parameters:
  ///   - names: Which headers are secret now.
  ///   - request: Those of the request.
  package func add(names: SecretNames, of request: Headers) {
    state.withLock { state in
      let all = state.names.adding(names)
      guard all != state.names else { return }
      state.names = all
      state.requests.append(request)
    }
  }

  /// Adds the values of attributes that are secret.
  package func add(attributes: [(key: String, value: String)]) {
    let names = names
    add(attributes.filter { names.contains($0.key) }.map(\.value))
  }

  /// Adds further secrets, such as passwords that no header of the request contains.
  package func add(_ secrets: [String]) {
    guard !secrets.isEmpty else { return }
    state.withLock { $0.others += secrets }
  }

  /// Replaces the credentials in texts.
  package var mask: SecretMask {
    state.withLock { $0.readSecrets() }
  }
}
