import RPCurlBase
import RPCurlCall
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// Encodes request messages one after another; looks up names that the schema lacks.
final class RequestEncoder {
  /// What was looked up for a message.
  private enum Lookup {
    case none
    /// No other message may be encoded.
    case running
    /// The message was encoded, and is not taken yet.
    case encoded(Payload)
    case failed(Failure)
  }

  private let names: NameLookup?
  private var lookup = Lookup.none
  /// Called from the event loop when ``take()`` has a message whose names were looked up. Set once: a closure for each message
  /// that refers to its owner weakly slows all uses of the owner.
  var whenDone: () -> Void = {}

  /// Creates an encoder.
  ///
  /// - Parameter names: Finds names that the schema lacks; nil if none can be found.
  init(_ names: NameLookup?) {
    self.names = names
  }

  /// Whether names of a message are being looked up. No other message may be encoded then.
  var isLookingUp: Bool {
    if case .running = lookup { true } else { false }
  }

  /// Encodes a message.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - call: The call that sends it.
  /// - Returns: The encoded message; nil if names are looked up first.
  /// - Throws: `Failure` if the message is invalid.
  func encode(_ message: RequestMessage, for call: Call) throws(Failure) -> Payload? {
    do throws(Failure) {
      return try message.encode(for: call, asking: names)
    } catch {
      guard let names, let missing = names.missing(among: error.missingNames) else { throw error }
      lookup = .running
      find(missing, names, until: .now + names.timeLimit, message, call)
      return nil
    }
  }

  /// The message whose names were looked up; nil if there is none.
  ///
  /// - Throws: `Failure` if the message is invalid.
  func take() throws(Failure) -> Payload? {
    switch lookup {
    case .none, .running: return nil
    case .encoded(let payload):
      lookup = .none
      return payload
    case .failed(let failure):
      lookup = .none
      throw failure
    }
  }

  private func find(
    _ missing: [UnresolvedName], _ names: NameLookup, until deadline: MonotonicClock.Instant,
    _ message: RequestMessage, _ call: Call
  ) {
    names.find(missing, until: deadline) { [weak self] in
      guard let self else { return }
      do throws(Failure) {
        lookup = .encoded(try message.encode(for: call, asking: names))
      } catch {
        // A file that was found can lack further names.
        if let missing = names.missing(among: error.missingNames) {
          return find(missing, names, until: deadline, message, call)
        }
        lookup = .failed(error)
      }
      whenDone()
    }
  }
}
