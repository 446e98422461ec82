import RPCurlCall
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// Sends the request messages of a call: available ones at once, those of a file or standard input as they arrive.
///
/// Reads input only while flow control allows more messages.
package final class RequestFeeder {
  private let call: Call
  private let reader: RequestReader<Payload>
  private let encoder: RequestEncoder
  /// Reports invalid input that is typed on a terminal, and the call goes on; nil if input is not typed.
  private let reportTyped: ((Failure) -> Void)?
  private var isPaused = false
  private var isDone = false
  /// Why the input is invalid; the call was canceled for it.
  package private(set) var failure: Failure?

  /// Encodes the available messages, so that invalid data is reported before anything is sent.
  ///
  /// - Parameters:
  ///   - plan: The call's plan.
  ///   - call: The call.
  ///   - loop: The event loop that watches the input.
  ///   - lookup: Finds names that the schema lacks; nil if none can be found.
  ///   - reportTyped: Reports invalid input that is typed on a terminal; nil if input is not typed.
  /// - Throws: `Failure` if available data is invalid.
  package init(
    _ plan: CallPlan, call: Call, loop: EventLoop, _ lookup: NameLookup?,
    reportTyped: ((Failure) -> Void)? = nil
  ) throws(Failure) {
    self.call = call
    self.reportTyped = reportTyped
    encoder = RequestEncoder(lookup)
    var sources: [RequestReader<Payload>.Source] = []
    for source in plan.sources {
      switch source {
      case .messages(let messages):
        var payloads: [Payload] = []
        for message in messages { payloads.append(try message.encode(for: call, lookup)) }
        sources.append(.ready(payloads))
      case .stream(let path, let form): sources.append(.stream(path: path, form: form))
      }
    }
    reader = RequestReader(sources, loop: loop)
    reader.whenReady = { [weak self] in self?.start() }
    encoder.whenDone = reader.whenReady
  }

  /// The share of the file that was read; nil if its size is not known.
  package var share: Double? { reader.share }

  /// Starts sending.
  package func start() {
    do {
      try feed()
    } catch {
      fail(error)
    }
  }

  /// Continues reading, or pauses until the call accepts more messages.
  package func setWanted(_ isWanted: Bool) {
    isPaused = !isWanted
    if isPaused { reader.pause() } else { start() }
  }

  /// Stops sending: the call has ended.
  package func stop() {
    isDone = true
    reader.stop()
  }

  private func feed() throws(Failure) {
    while !isPaused, !isDone, !encoder.isLookingUp {
      do throws(Failure) {
        if try !feedNext() { return }
      } catch {
        // A mistake of a user who types must not end what was typed before.
        guard let reportTyped, reader.skipInvalid() else { throw error }
        reportTyped(error)
      }
    }
  }

  /// Sends the next message, or ends the request. Returns false if there is no message yet.
  private func feedNext() throws(Failure) -> Bool {
    if let payload = try encoder.take() {
      call.send(payload)
      return true
    }
    switch try reader.next() {
    case .ready(let payload): call.send(payload)
    case .read(let message):
      if let payload = try encoder.encode(message, for: call) { call.send(payload) }
    case .later: return false
    case .end:
      isDone = true
      call.finishSending()
    }
    return true
  }

  private func fail(_ failure: Failure) {
    guard self.failure == nil else { return }
    self.failure = failure
    stop()
    call.cancel("the request is invalid")
  }
}
