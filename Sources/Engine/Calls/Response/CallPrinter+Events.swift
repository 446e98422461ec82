import RPCurlCall
import RPCurlChain
import RPCurlProgram
import RPCurlProtobuf

/// What a call prints in the format `events`: JSON objects, one on each line.
extension CallPrinter {
  /// The beginning of an event.
  func event(_ name: String) -> JSONObject {
    var event = JSONObject()
    event.add("event", name)
    if let index { event.add("call", index) }
    return event
  }

  func write(_ event: JSONObject) {
    let line = event.line
    output.write { $0.append(line) }
  }

  /// Prints that an attempt at the call has ended.
  func print(_ report: AttemptReport) {
    guard settings.format == .events else { return }
    var event = event("attempt")
    event.add(report)
    write(event)
  }
}
