import RPCurlCall
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The request messages of a run. They are encoded once, unless they are templates.
struct LoadData {
  private enum Content {
    case encoded([Payload])
    case expanded([RequestMessage])
  }

  private let content: Content
  private let isForEachCall: Bool
  private var next = 0

  /// Reads and encodes the messages.
  ///
  /// - Parameters:
  ///   - plan: The plan of a call.
  ///   - lookup: Finds names that the schema lacks; nil if none can be found.
  ///   - call: A call of the run, whose interceptors and codec determine the form of the messages.
  /// - Throws: `Failure` if a message is invalid, or if there is no message.
  init(_ plan: CallPlan, for call: Call, _ lookup: NameLookup?) throws(Failure) {
    var messages: [RequestMessage] = []
    for source in plan.sources { messages += try source.messages(waitLimit: plan.settings.timeout) }
    isForEachCall = plan.method.clientStreaming
    guard isForEachCall || !messages.isEmpty else {
      throw Failure(.input, "-d", "the data is empty", hint: "omit -d to send an empty message, or use {}")
    }
    // Also of templates: invalid data is reported before the run.
    var payloads: [Payload] = []
    for message in messages { payloads.append(try message.encode(for: call, lookup)) }
    content = messages.contains { $0.form.expansion != nil } ? .expanded(messages) : .encoded(payloads)
  }

  /// Sends the messages of the next call.
  ///
  /// - Throws: `Failure` if a value makes a message invalid.
  mutating func send(to call: Call) throws(Failure) {
    switch content {
    case .encoded(let payloads):
      if isForEachCall {
        for payload in payloads { call.send(payload) }
      } else {
        call.send(payloads[next])
        next = (next + 1) % payloads.count
      }
    case .expanded(let messages):
      if isForEachCall {
        for message in messages { call.send(try message.encode(for: call)) }
      } else {
        call.send(try messages[next].encode(for: call))
        next = (next + 1) % messages.count
      }
    }
    call.finishSending()
  }
}
