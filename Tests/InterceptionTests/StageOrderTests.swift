import InterceptionSupport
import Protobuf
import RPCProtocols
import Testing

@testable import Interception

/// Each interceptor receives its own stages in the documented order, whatever other interceptors hold.
@Suite struct StageOrderTests {
  private let journal = Journal()
  private let starts = Holder<RequestStart, Outbound>()

  /// Signs the request's bytes in a header: holds the start until the bytes, or until the half-close.
  private final class Signer: StagedInterceptor {
    let stages: Stages
    private let waitsForEnd: Bool
    private var start: (value: RequestStart, token: HeldToken<RequestStart, Outbound>)?
    private var signature = ""

    init(waitsForEnd: Bool = false, _ more: Stages = []) {
      self.waitsForEnd = waitsForEnd
      stages = more.union([.requestStart, .requestBytes, .requestEnd])
    }

    func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
      self.start = (start, HeldToken(token))
    }
    func requestBytes(_ bytes: [UInt8], _ token: consuming RequestToken<[UInt8]>) {
      signature += TestMessages.text(bytes) + "."
      if !waitsForEnd { release() }
      token.proceed(bytes)
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
      journal.lines(of: "log").prefix(4) == ["start", "message ping", "bytes ping", "half-close"])
  }

  @Test(arguments: [Stages(), .requestMessage])
  func signerOutsideOfTypedInterceptorsSignsAWholeStream(_ more: Stages) {
    let call = call(.clientStreaming, signer: Signer(waitsForEnd: true, more), [Probe("log", .all, journal)])
    call.start()
    for text in ["1", "2", "3"] { call.send(text) }
    #expect(journal.lines.isEmpty)
    call.close()
    #expect(call.sentStart?.headers.first("signature") == "1.2.3.")
    #expect(call.wireLines == ["start", "1", "2", "3", "half-close"])
  }

  @Test func changingASignedRequestFailsTheCallAndNamesBothInterceptors() {
    let changing = Probe("redact", .requestMessage, journal)
    changing.onRequestMessage = { message, token in token.proceed(TestMessages.changed(message, "other")) }
    let call = call(.unary, signer: Signer(), [changing, Probe("log", .requestStart, journal)])
    call.start()
    call.send("1")
    call.close()
    #expect(
      call.end?.error?.message
        == "redact changed the request after sign had received it: sign holds request_start until it has the messages, "
        + "so it must come after redact on the chain")
    #expect(!call.wireLines.contains("other"))
  }

  @Test(arguments: ["drop", "inject"])
  func droppingOrInjectingMessagesAfterSigningFailsTheCall(_ how: String) {
    let changing = Probe("filter", .requestMessage, journal)
    changing.onRequestMessage = { message, token in
      guard TestMessages.text(message) == "2" else { return token.proceed(message) }
      if how == "drop" { return token.drop() }
      token.inject(.typed(TestMessages.make("more")))
      token.proceed(message)
    }
    let call = call(.clientStreaming, signer: Signer(waitsForEnd: true), [changing])
    call.start()
    for text in ["1", "2"] { call.send(text) }
    call.close()
    #expect(call.end?.error?.message.hasPrefix("filter changed the request after sign") == true)
  }

  @Test func startHeldFurtherInDoesNotMoveTheHalfCloseBeforeTheBytes() {
    let inner = Probe("B", [.requestStart, .requestMessage], journal)
    inner.onRequestStart = { [starts] _, token in starts.keep(token) }
    let call = TestCall(.unary, journal, [Probe("A", .request, journal), inner])
    call.start()
    call.send("1")
    call.close()
    starts.take().use { $0.proceed(call.request) }
    call.chain.processCommands()
    #expect(journal.lines(of: "A") == ["start", "message 1", "bytes 1", "half-close"])
  }

  @Test func startHeldFurtherInDoesNotMoveResponseBytesBeforeTheStart() {
    let held = Holder<ResponseStart, Inbound>()
    let inner = Probe("B", [.responseStart, .responseMessage], journal)
    inner.onResponseStart = { _, token in held.keep(token) }
    inner.onResponseMessage = { message, token in
      // It forwards the start when it has received a message, which must not wait for the start further out.
      if held.count > 0 { held.take().use { $0.proceed(ResponseStart()) } }
      token.proceed(TestMessages.changed(message, TestMessages.text(message) + "b"))
    }
    let outer = Probe("A", .response, journal)
    outer.onResponseBytes = { bytes, token in
      token.proceed(TestMessages.bytes(TestMessages.text(bytes) + "a"))
    }
    let call = TestCall(.serverStreaming, journal, [outer, inner])
    call.start()
    call.receiveHeaders()
    for text in ["1", "2"] { call.receive(text) }
    call.receiveEnd()
    #expect(
      journal.lines(of: "A").prefix(6) == [
        "headers", "got-bytes 1b", "got-message 1ba", "got-bytes 2b", "got-message 2ba", "end ok",
      ])
    #expect(call.callerLines.prefix(4) == ["headers", "1ba", "2ba", "end ok"])
  }
}
