import RPCurlProtocols

/// What lies below the last interceptor, and whether values still go there.
///
/// ```
/// unstarted → unopened → open → ended → closed      the transport has ended the call
///                 ↘         ↘      ↗ (retry: ended → open)
///                   ─────────→ closed               the call was ended above
/// ```
enum Downstream {
  /// The caller has not started the call.
  case unstarted
  /// The request's start is on its way through the chain; the function makes the transport when the start leaves it.
  case unopened((Chain) -> any ChainTransport)
  /// The request is being sent, and the response received.
  case open(Target)
  /// The response has ended, and the end is on its way to the caller. The request is still accepted: an interceptor may
  /// retry the call.
  case ended(Target)
  /// Nothing is sent or received any more. Without a target, the call ended before the request's start left the chain.
  case closed(Target?)

  /// What takes the request and gives the response.
  enum Target {
    /// The transport that the caller provided.
    case transport(any ChainTransport)
    /// Attempts at the call, each with a chain and a transport of its own.
    case attempts(Attempts)

    var transport: any ChainTransport {
      switch self {
      case .transport(let transport): transport
      case .attempts(let attempts): attempts
      }
    }

    /// Sends a message, which has its serialized form.
    func send(_ message: MessageValue) {
      switch self {
      case .transport(let transport): if let bytes = message.bytesForm { transport.send(bytes) }
      case .attempts(let attempts): attempts.send(message)
      }
    }
  }

  var target: Target? {
    switch self {
    case .unstarted, .unopened: nil
    case .open(let target), .ended(let target): target
    case .closed(let target): target
    }
  }

  var attempts: Attempts? {
    if case .attempts(let attempts)? = target { attempts } else { nil }
  }

  var isUnstarted: Bool { if case .unstarted = self { true } else { false } }

  var isOpen: Bool { if case .open = self { true } else { false } }

  /// Whether the call accepts nothing more of the request.
  var isClosed: Bool { if case .closed = self { true } else { false } }
}
