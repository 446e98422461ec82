import CallEngine
import Output
import Protobuf
import RPCProtocols

/// Encodes request messages one after another; looks up names that the schema lacks.
final class RequestEncoder {
  private let lookup: NameLookup?
  /// Whether names of a message are being looked up. No other message may be encoded then.
  private(set) var isLookingUp = false

  /// Creates an encoder.
  ///
  /// - Parameter lookup: Finds names that the schema lacks; nil if none can be found.
  init(_ lookup: NameLookup?) {
    self.lookup = lookup
  }

  /// Encodes a message.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - call: The call that sends it.
  ///   - later: Makes the function that the event loop calls with the result. Evaluated only if names are looked up: a
  ///     closure with a weak reference for each message slows all uses of its object.
  /// - Returns: The encoded message; nil if names are looked up first.
  /// - Throws: `Failure` if the message is invalid.
  func encode(
    _ message: RequestMessage, for call: Call, later: @autoclosure () -> (Result<Payload, Failure>) -> Void
  ) throws(Failure) -> Payload? {
    try encode(message, for: call, until: nil, later: later())
  }

  /// Encodes a message; looks up names until `deadline`, by default for as long as `--max-time` allows.
  private func encode(
    _ message: RequestMessage, for call: Call, until deadline: MonotonicClock.Instant?,
    later: @autoclosure () -> (Result<Payload, Failure>) -> Void
  ) throws(Failure) -> Payload? {
    do throws(Failure) {
      return try message.encode(for: call, asking: lookup)
    } catch {
      guard let lookup, let names = lookup.missing(among: error.missingNames) else { throw error }
      let deadline = deadline ?? .now + lookup.timeLimit
      isLookingUp = true
      let later = later()
      lookup.find(names, until: deadline) { [weak self] in
        self?.encodeAgain(message, for: call, until: deadline, later: later)
      }
      return nil
    }
  }

  private func encodeAgain(
    _ message: RequestMessage, for call: Call, until deadline: MonotonicClock.Instant,
    later: @escaping (Result<Payload, Failure>) -> Void
  ) {
    isLookingUp = false
    do throws(Failure) {
      if let payload = try encode(message, for: call, until: deadline, later: later) {
        later(.success(payload))
      }
    } catch {
      later(.failure(error))
    }
  }
}
