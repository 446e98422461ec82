import RPCurlProtocols

@testable import RPCurlChain

// How much may wait in a chain.
extension DifferentialModel {
  /// The error of a call in which more values wait than the chain can hold; nil if they do not.
  ///
  /// The rules:
  /// - A value counts the bytes of its message and 64 while it waits.
  /// - If the window is full, and the value at the head is held by an interceptor that collects, the call ends at once.
  /// - Values that come in spite of the pause end the call when more than 16 windows wait before one of them.
  var limit: EndModel? {
    guard let limits = call.limits else { return nil }
    let messages = limits.isRequest ? call.request : call.server("").messages
    let sizes = messages.map { 64 + call.bytes($0.text, .canonical).count }
    let end = EndModel(code: "resource_exhausted", origin: "I\(limits.holder)")
    guard limits.collects else {
      // The end of the direction waits as well.
      let waiting = sizes.reduce(0, +)
      return waiting / 16 > call.windowBytes ? end : nil
    }
    for number in sizes.indices {
      // A message leaves when the last of the later values has come.
      let head = max(0, number - limits.later + 1)
      if sizes[head...number].reduce(0, +) >= call.windowBytes { return end }
    }
    return nil
  }
}
