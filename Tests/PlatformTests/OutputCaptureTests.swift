import Testing

@testable import RPCurlPlatform

struct OutputCaptureTests {
  private func write(_ text: String, to capture: OutputCapture) {
    var text = text
    text.withUTF8 { capture.append(UnsafeRawBufferPointer($0)) }
  }

  @Test(arguments: [
    ([], ""),
    (["abc", "d"], "abcd"),
    (["abcd", "e"], "…bcde"),
    (["abcdefgh", "i"], "…fghi"),
    (["a", "bcdef"], "…cdef"),
    (["ab", "cd", "ef", "gh", "ij", "kl"], "…ijkl"),
  ])
  func keepsTheEnd(_ pieces: [String], _ expected: String) {
    let capture = OutputCapture(limitBytes: 4)
    for piece in pieces { write(piece, to: capture) }
    #expect(capture.take() == expected)
    #expect(capture.take() == "")
    write("xyz", to: capture)
    #expect(capture.take() == "xyz")
  }
}
