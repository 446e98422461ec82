import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlChain

/// Each interceptor receives its own stages in the documented order, also if other interceptors hold values.
@Suite struct StageOrderTests {
  private let journal = Journal()
  private let starts = Holder<RequestStart, Outbound>()

  /// Signs the request's bytes in a header: holds the start until the bytes, or until the half-close.
  private final class Signer: StagedInterceptor {
    let stages: Stages = [.requestStart, .requestMessage, .requestEnd]
    let messages = MessageAccesses(request: .readBytes)
    private let waitsForEnd: Bool
    private var start: (value: RequestStart, token: HeldToken<RequestStart, Outbound>)?
    private var signature = ""

    init(waitsForEnd: Bool = false) { self.waitsForEnd = waitsForEnd }

    func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
      self.start = (start, HeldToken(token))
    }
    func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) {
      signature += message.text + "."
      if !waitsForEnd { release() }
      token.proceed(message)
    }
    func requestEnd(_ token: consuming RequestToken<Void>) {
      release()
      token.proceed()
    }
    private func release() {
      guard var start else { return }
      self.start = nil
      start.value.headers.set("signature", signature)
      start.token.use { $0.proceed(start.value) }
    }
  }

  private func call(_ kind: CallKind, signer: Signer, _ others: [Probe]) -> TestCall {
    TestCall(
      kind, journal, [TestCall.registration("sign") { _, _ in signer }] + others.map(TestCall.registration))
  }

  @Test(arguments: [false, true])
  func signerOutsideOfTypedInterceptorsSignsTheBody(_ holdsMore: Bool) {
    let log = Probe("log", .all, journal)
    if holdsMore { log.onRequestStart = { [starts] _, token in starts.keep(token) } }
    let call = call(.unary, signer: Signer(), [log])
    call.run()
    if holdsMore { starts.take().use { $0.proceed(call.request) } }
    call.chain.processCommands()
    #expect(holdsMore || call.sentStart?.headers.first("signature") == "ping.")
    #expect(call.wireLines == ["start", "ping", "half-close"])
    #expect(
      journal.lines(of: "log").prefix(3) == ["start", "message ping", "half-close"])
  }

  @Test func signerOutsideOfTypedInterceptorsSignsAWholeStream() {
    let call = call(.clientStreaming, signer: Signer(waitsForEnd: true), [Probe("log", .all, journal)])
    call.start()
    for text in ["1", "2", "3"] { call.send(text) }
    #expect(journal.lines.isEmpty)
    call.close()
    #expect(call.sentStart?.headers.first("signature") == "1.2.3.")
    #expect(call.wireLines == ["start", "1", "2", "3", "half-close"])
  }

  @Test func signatureCoversWhatTheSignerReceives() {
    let changing = Probe("redact", .requestMessage, journal)
    changing.onRequestMessage = { message, token in token.proceed(message.changed(to: "other")) }
    let call = call(.unary, signer: Signer(), [changing])
    call.run()
    #expect(call.sentStart?.headers.first("signature") == "ping.")
    #expect(call.wireLines == ["start", "other", "half-close"])
    #expect(call.end?.error == nil)
  }

  @Test func startHeldFurtherInDoesNotMoveTheHalfCloseBeforeTheMessage() {
    let inner = Probe("B", [.requestStart, .requestMessage], journal)
    inner.onRequestStart = { [starts] _, token in starts.keep(token) }
    let call = TestCall(.unary, journal, [Probe("A", .request, journal), inner])
    call.start()
    call.send("1")
    call.close()
    starts.take().use { $0.proceed(call.request) }
    call.chain.processCommands()
    #expect(journal.lines(of: "A") == ["start", "message 1", "half-close"])
  }

  @Test func startHeldFurtherInDoesNotMoveMessagesBeforeTheStart() {
    let held = Holder<ResponseStart, Inbound>()
    let inner = Probe("B", [.responseStart, .responseMessage], journal)
    inner.onResponseStart = { _, token in held.keep(token) }
    inner.onResponseMessage = { message, token in
      // It forwards the start when it has received a message, which must not wait for the start further out.
      if held.count > 0 { held.take().use { $0.proceed(ResponseStart()) } }
      token.proceed(message.changed(to: message.text + "b"))
    }
    let outer = Probe("A", .response, journal)
    outer.onResponseMessage = { message, token in token.proceed(message.changed(to: message.text + "a")) }
    let call = TestCall(.serverStreaming, journal, [outer, inner])
    call.start()
    call.receiveHeaders()
    for text in ["1", "2"] { call.receive(text) }
    call.receiveEnd()
    #expect(
      journal.lines(of: "A").prefix(4) == [
        "headers", "got-message 1b", "got-message 2b", "end ok",
      ])
    #expect(call.callerLines.prefix(4) == ["headers", "typed 1ba", "typed 2ba", "end ok"])
  }
}
