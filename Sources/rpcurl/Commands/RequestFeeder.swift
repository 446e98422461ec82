import Glibc
import Interception
import Protobuf
import RPCClient
import Transport

/// Sends the request messages of a call: those at hand at once, those of a file or of standard input as they come.
///
/// Input is watched by the call's own loop, and only while the call takes more: a slow server slows reading, so
/// memory stays flat however much there is to send.
final class RequestFeeder {
  /// Where messages come from, with those at hand encoded.
  private enum Source {
    case messages([Payload])
    case stream(path: String)
  }

  /// A file or standard input that is being read.
  private struct Stream {
    let descriptor: Int32
    /// What it is called in errors.
    let name: String
    var reader = JSONValueReader()
    var isAtEnd = false
  }

  private static let pieceBytes = 1 << 16

  private let call: Call
  private let loop: EventLoop
  private let options: JSONDecodingOptions
  private var rest: [Source]
  private var stream: Stream?
  private var isWatching = false
  private var isPaused = false
  private var isDone = false
  /// Why the input cannot be sent; the call was canceled then.
  private(set) var failure: Failure?

  /// Encodes what is at hand, so that wrong data is told before anything is sent.
  init(_ plan: CallPlan, call: Call, loop: EventLoop) throws(Failure) {
    self.call = call
    self.loop = loop
    options = JSONDecodingOptions(allowUnknownFields: plan.allowsUnknownFields)
    var rest: [Source] = []
    for source in plan.sources {
      switch source {
      case .messages(let messages):
        var payloads: [Payload] = []
        for message in messages { payloads.append(try message.encode(for: call)) }
        rest.append(.messages(payloads))
      case .stream(let path): rest.append(.stream(path: path))
      }
    }
    self.rest = rest
  }

  /// Starts to send.
  func start() {
    do {
      try feed()
    } catch {
      fail(error)
    }
  }

  /// Reads on, or stops reading until the call takes more.
  func setWanted(_ isWanted: Bool) {
    isPaused = !isWanted
    if isPaused { unwatch() } else { start() }
  }

  /// Sends nothing more: the call has ended.
  func stop() {
    isDone = true
    closeStream()
  }

  private func feed() throws(Failure) {
    while !isPaused, !isDone {
      if stream != nil {
        guard try sendFromStream() else { return }
      } else if rest.isEmpty {
        isDone = true
        call.finishSending()
      } else {
        switch rest.removeFirst() {
        case .messages(let payloads): for payload in payloads where !isDone { call.send(payload) }
        case .stream(let path): try open(path)
        }
      }
    }
  }

  /// Sends the next message of the stream; `false` when there is none yet.
  private func sendFromStream() throws(Failure) -> Bool {
    guard var current = stream else { return true }
    let item: JSONValueReader.Item?
    do {
      item = try current.reader.next()
    } catch {
      throw Failure(.input, current.name, error.description, hint: error.hint)
    }
    stream?.reader = current.reader
    guard let item else {
      if current.isAtEnd { closeStream() } else { watch() }
      return current.isAtEnd
    }
    let message = RequestMessage(
      source: current.name, start: item.start, json: item.json,
      allowsUnknownFields: options.allowUnknownFields)
    call.send(try message.encode(for: call))
    return true
  }

  // MARK: Reading

  private func open(_ path: String) throws(Failure) {
    do {
      stream = Stream(
        descriptor: try FileContents.open(path), name: path == "-" ? "standard input" : path)
    } catch {
      throw Failure(.input, path, error.why)
    }
  }

  private func watch() {
    guard !isWatching, let stream else { return }
    isWatching = true
    loop.watch(stream.descriptor) { [weak self] in self?.readPiece() }
  }

  private func unwatch() {
    guard isWatching, let stream else { return }
    isWatching = false
    loop.unwatch(stream.descriptor)
  }

  private func closeStream() {
    unwatch()
    if let stream { FileContents.close(stream.descriptor) }
    stream = nil
  }

  private func readPiece() {
    guard let current = stream else { return }
    unwatch()
    do {
      let piece = try FileContents.readPiece(current.descriptor, limitBytes: Self.pieceBytes)
      if piece.isEmpty {
        stream?.isAtEnd = true
        stream?.reader.finish()
      } else {
        stream?.reader.append(piece)
      }
    } catch {
      return fail(Failure(.input, current.name, error.why))
    }
    start()
  }

  private func fail(_ failure: Failure) {
    guard self.failure == nil else { return }
    self.failure = failure
    stop()
    call.cancel("the input cannot be sent")
  }
}
