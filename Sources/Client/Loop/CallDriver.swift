import RPCurlCall
import RPCurlProtobuf
import RPCurlProtocols

/// The loop's part of a call: collects what a round of the loop has received for the call's channel, and sends what the
/// channel holds of the request.
final class CallDriver: CallObserver {
  /// The messages and their bytes after which the channel receives them before the end of the round.
  private static let batch = (count: 512, bytes: 64 << 10)

  private let channel: CallChannel
  private let news: CallNews
  private let ended: (ResponseEnd) -> Void
  private var call: Call?
  private var received = ResponseBatch()
  private var isListed = false
  private var isPaused = false

  /// - Parameter ended: Called once, at the end of the call.
  init(_ channel: CallChannel, _ news: CallNews, ended: @escaping (ResponseEnd) -> Void) {
    self.channel = channel
    self.news = news
    self.ended = ended
  }

  func start(_ call: Call) {
    self.call = call
    call.start()
    sendRequests()
  }

  func sendRequests() {
    guard let call else { return }
    let (messages, isLast) = channel.takeRequests()
    for message in messages { call.send(message) }
    if isLast { call.finishSending() }
    channel.requestsSent()
  }

  func resumeResponse() {
    guard isPaused else { return }
    isPaused = false
    call?.wantResponse(true)
  }

  func cancel(_ reason: String) { call?.cancel(reason) }

  // MARK: CallObserver

  func receive(_ event: CallEvent<Payload>) {
    switch event {
    case .responseStart(let start): received.start = start
    case .responseMessage(let message): add(message, message.byteCount)
    case .responseEnd(let end):
      received.end = end
      // Breaks the reference cycle: the call retains its observer.
      call = nil
      ended(end)
    case .requestStart, .requestMessage, .requestEnd, .metrics: return
    }
    list()
  }

  func receive(message: RawSpan) {
    add(.bytes(message.copyBytes()), message.byteCount)
    list()
  }

  func receive(messages places: Span<Range<Int>>, of piece: RawSpan) -> Int {
    for index in places.indices { receive(message: piece.extracting(places[index])) }
    return places.count
  }

  func wantInput(_ isWanted: Bool) { channel.wantRequests(isWanted) }

  private func add(_ message: Payload, _ bytes: Int) {
    received.messages.append(message)
    received.bytes += bytes
    if received.messages.count >= Self.batch.count || received.bytes >= Self.batch.bytes { flush() }
  }

  private func list() {
    guard !isListed else { return }
    isListed = true
    news.drivers.append(self)
  }

  /// Gives the channel what was received, and pauses the response if the channel is full.
  func flush() {
    let isWanted = channel.deliver(&received)
    guard !isWanted, !isPaused else { return }
    isPaused = true
    call?.wantResponse(false)
  }

  /// The round has ended.
  func endRound() {
    isListed = false
    flush()
  }
}

/// The calls that have received something in this round of the loop.
final class CallNews {
  fileprivate(set) var drivers: [CallDriver] = []

  /// Gives each channel what its call has received.
  func flush() {
    while !drivers.isEmpty {
      let listed = drivers
      drivers.removeAll(keepingCapacity: true)
      for driver in listed { driver.endRound() }
    }
  }
}

extension Payload {
  /// The size for flow control in bytes, which is approximate for a typed message.
  var byteCount: Int {
    switch self {
    case .typed(let message): message.approximateSizeBytes
    case .bytes(let bytes): bytes.count
    }
  }
}
