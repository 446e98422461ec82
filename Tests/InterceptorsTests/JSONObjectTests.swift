import RPCurlProtobuf
import Testing

@testable import RPCurlInterceptors

struct JSONObjectTests {
  @Test func writesMembersInOrder() {
    var object = JSONObject()
    object.add("text", "a\"\n\u{1b}")
    object.add("number", -3)
    object.add("raw", raw: "[1,2]")
    object.add("quo\"ted", 0)
    #expect(object.object == #"{"text":"a\"\n\u001b","number":-3,"raw":[1,2],"quo\"ted":0}"#)
  }

  @Test func endsLineWithLineFeed() {
    #expect(JSONObject().line == Array("{}\n".utf8))
  }

  @Test(arguments: [
    (Duration.zero, "0.000"), (.nanoseconds(1_999), "0.001"), (.microseconds(10), "0.010"),
    (.milliseconds(1_234), "1234.000"), (.seconds(2) + .microseconds(5), "2000.005"),
  ])
  func writesMillisecondsWithThreeDigits(duration: Duration, text: String) {
    var object = JSONObject()
    object.add("ms", milliseconds: duration)
    #expect(object.object == #"{"ms":\#(text)}"#)
  }
}
