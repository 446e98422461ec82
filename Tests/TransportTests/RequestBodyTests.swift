import Testing

@testable import RPCurlTransport

extension RequestBody {
  mutating func append(_ more: [UInt8]) { _ = try? append { $0 += more } }
}

extension Transfer {
  func send(_ bytes: [UInt8]) { _ = try? send { $0 += bytes } }
}

struct RequestBodyTests {
  /// Reads up to `count` bytes.
  private func read(_ count: Int, from body: inout RequestBody) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let length = bytes.withUnsafeMutableBytes { body.read(into: $0) }
    return Array(bytes.prefix(length))
  }

  @Test func wholeBodyIsReadInPiecesAndAgainAfterRewind() {
    var body = RequestBody(whole: [1, 2, 3, 4, 5])
    #expect(body.isFinished)
    #expect(read(2, from: &body) == [1, 2])
    #expect(body.waitingBytes == 3)
    #expect(read(9, from: &body) == [3, 4, 5])
    #expect(read(9, from: &body) == [])
    #expect(body.sentBytes == 5)
    let isRewound = body.rewind(to: 0)
    #expect(isRewound)
    #expect(body.sentBytes == 0)
    #expect(read(9, from: &body) == [1, 2, 3, 4, 5])
  }

  @Test(arguments: [-1, 6, Int.max]) func rejectsRewindOutOfRange(offset: Int) {
    var body = RequestBody(whole: [1, 2, 3, 4, 5])
    let isRewound = body.rewind(to: offset)
    #expect(!isRewound)
  }

  @Test func readsStreamInOrder() {
    var body = RequestBody()
    body.append([1, 2])
    body.append([])
    body.append([3])
    #expect(read(2, from: &body) == [1, 2])
    body.append([4])
    #expect(read(9, from: &body) == [3, 4])
    body.finish()
    body.append([5])
    #expect(body.waitingBytes == 0)
    #expect(body.isFinished)
    let isRewound = body.rewind(to: 0)
    #expect(!isRewound)
  }

  @Test func acceptsMoreBelowHalfOfLimit() {
    var body = RequestBody()
    body.append([UInt8](repeating: 0, count: RequestBody.limitBytes))
    #expect(!body.isFull)
    body.append([0])
    #expect(body.isFull)
    _ = read(RequestBody.limitBytes / 2, from: &body)
    #expect(body.isFull)
    _ = read(1, from: &body)
    #expect(!body.isFull)
  }

  @Test func releasesSentBytes() {
    var body = RequestBody()
    var expected: [UInt8] = []
    var received: [UInt8] = []
    for round in 0..<1000 {
      let piece = (0..<97).map { UInt8(truncatingIfNeeded: round &* 7 &+ $0) }
      body.append(piece)
      expected += piece
      received += read(round % 3 == 0 ? 13 : 137, from: &body)
    }
    received += read(expected.count, from: &body)
    #expect(received == expected)
    #expect(body.sentBytes == expected.count)
  }
}
