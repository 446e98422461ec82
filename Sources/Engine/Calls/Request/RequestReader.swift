import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlTransport

/// Delivers request messages one by one: available ones, and those of files and standard input as they arrive.
///
/// The event loop watches input only while a message is requested, so backpressure stops reading and memory stays
/// bounded.
package final class RequestReader<Ready> {
  /// A source of messages.
  package enum Source {
    /// Messages that are available.
    case ready([Ready])
    /// A file, or standard input for `-`.
    case stream(path: String, form: RequestForm)
  }

  /// The result of a request for a message.
  package enum Next {
    case ready(Ready)
    case read(RequestMessage)
    /// No message yet; `whenReady` is called when there may be one.
    case later
    case end
  }

  /// A file or standard input that is being read.
  private struct Stream {
    let descriptor: Int32
    let origin: RequestOrigin
    /// Whether it is typed on a terminal.
    let isTyped: Bool
    var splitter: MessageSplitter
    var isAtEnd = false
    /// Whether the data so far ends with a line end.
    var endsLine = false
    /// The bytes that it has, of a file whose size is known, and those that were read.
    let size: Int?
    var read = 0
  }

  private let loop: EventLoop
  private var ready: [Ready] = []
  private var rest: [Source]
  private var stream: Stream?
  private var isWatching = false
  private var problem: Failure?
  /// Called after `later`, when there may be a message.
  package var whenReady: () -> Void = {}

  package init(_ sources: [Source], loop: EventLoop) {
    rest = sources
    self.loop = loop
  }

  /// The next message.
  ///
  /// - Throws: `Failure` if input cannot be read or split.
  package func next() throws(Failure) -> Next {
    while true {
      if let problem { throw problem }
      if let next = ready.popLast() { return .ready(next) }
      if stream != nil {
        if let message = try nextOfStream() { return .read(message) }
        if stream != nil {
          watch()
          return .later
        }
      }
      guard !rest.isEmpty else { return .end }
      switch rest.removeFirst() {
      case .ready(let messages): ready = messages.reversed()
      case .stream(let path, let form): try open(path, form)
      }
    }
  }

  /// The share of the file or standard input that was read; nil if there is none, or if its size is not known.
  package var share: Double? {
    guard let stream, let size = stream.size, size > 0 else { return nil }
    return min(Double(stream.read) / Double(size), 1)
  }

  /// Stops reading until the next call of `next`.
  package func pause() {
    guard isWatching, let stream else { return }
    isWatching = false
    loop.unwatch(stream.descriptor)
  }

  /// Continues after invalid input that is typed: drops the rest of its line. Returns false if the input is not typed, or
  /// has ended.
  package func skipInvalid() -> Bool {
    guard problem == nil, let stream, stream.isTyped, !stream.isAtEnd else { return false }
    // A terminal delivers one line at a time.
    self.stream?.splitter.drop()
    return true
  }

  /// Stops reading for good.
  package func stop() {
    closeStream()
    ready = []
    rest = []
  }

  /// The next message of the stream; nil if there is none yet, or if the stream has ended and was closed.
  private func nextOfStream() throws(Failure) -> RequestMessage? {
    guard let origin = stream?.origin else { return nil }
    if let message = try stream?.splitter.next(of: origin) { return message }
    if let stream, stream.isTyped, stream.endsLine, stream.splitter.isInsideString {
      throw Failure(
        .input, origin.source, "missing closing quote \"", hint: "write \\n for a line feed within a string")
    }
    guard let stream, stream.isAtEnd else { return nil }
    defer { closeStream() }
    return stream.splitter.emptyPiece(of: origin)
  }

  private func open(_ path: String, _ form: RequestForm) throws(Failure) {
    do {
      let descriptor = try FileContents.open(path)
      stream = Stream(
        descriptor: descriptor,
        origin: RequestOrigin(path == "-" ? "standard input" : path, form, isTyped: false),
        isTyped: path == "-" && isatty(0) == 1, splitter: MessageSplitter(form.framing),
        size: FileContents.remainingBytes(descriptor))
    } catch {
      throw Failure(.input, path, error)
    }
  }

  private func watch() {
    guard !isWatching, let stream else { return }
    isWatching = true
    loop.watch(stream.descriptor) { [weak self] in self?.readPiece() }
  }

  private func closeStream() {
    pause()
    if let stream { FileContents.close(stream.descriptor) }
    stream = nil
  }

  private func readPiece() {
    // Do not copy the stream: with a second reference to its data, each piece would copy all of it.
    guard let descriptor = stream?.descriptor, let name = stream?.origin.source else { return }
    pause()
    do {
      let piece = try FileContents.readAvailable(descriptor, limitBytes: 1 << 16)
      if piece?.isEmpty == true {
        stream?.isAtEnd = true
        stream?.splitter.finish()
      } else if let piece {
        stream?.splitter.append(piece)
        stream?.read += piece.count
        stream?.endsLine = piece.last == UInt8(ascii: "\n")
      }
    } catch {
      problem = Failure(.input, name, error)
    }
    whenReady()
  }
}
