import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// The result of a call, as conditions need it.
package struct CallResult: Sendable {
  /// The method.
  package var method: MethodName
  /// The type of the response messages; nil if it is not known.
  package var type: MessageType?
  /// The status.
  package var status: StatusCode
  /// The message of the status.
  package var error = ""
  /// The details of the status.
  package var details: [StatusDetail] = []
  /// The start of the response, with the facts of its connection.
  package var start = ResponseStart()
  /// The headers of the response.
  package var headers: Headers {
    get { start.headers }
    set { start.headers = newValue }
  }
  /// The trailers of the response.
  package var trailers = Headers()
  /// The first messages of the response, as many as are kept.
  package private(set) var messages: [Message] = []
  /// The last message of the response, kept or not.
  package var last: Message?
  /// The number of all messages of the response.
  package var count = 0
  /// The duration of the whole call.
  package var latency: Duration = .zero
  /// Removes credentials from metadata that reports show.
  package var redaction = Redaction()

  /// Makes the result of a call without a response.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - type: The type of the response messages.
  ///   - status: The status.
  package init(method: MethodName, type: MessageType?, status: StatusCode) {
    self.method = method
    self.type = type
    self.status = status
  }

  /// Adds a message of the response.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - isKept: Whether conditions on all messages can read it. The caller limits their number and size.
  package mutating func add(_ message: Message, isKept: Bool = true) {
    // A message after one that is not kept would have another number.
    if isKept, messages.count == count { messages.append(message) }
    last = message
    count += 1
  }
}

extension CallResult: Subject {
  package var statusNumber: Int { status.rawValue }
  package var statusName: String { status.name }
  package var statusDetails: [(typeName: String, value: [UInt8])] {
    details.map { ($0.typeName, $0.value) }
  }

  package func headers(_ name: String) -> [String] { headers.values(name) }
  package func trailers(_ name: String) -> [String] { trailers.values(name) }
  package var certificateValidity: Duration? { start.certificates.first?.validity }

  package func connection(_ property: ConnectionProperty) -> [String] {
    let certificate = start.certificates.first
    let values: [String] =
      switch property {
      case .http: [start.httpVersion]
      // `TLSv1.3` as a number, which can be compared.
      case .tls: [start.tlsVersion.replacing("TLSv", with: "")]
      case .address: [start.peer]
      case .subject: [certificate?.subject ?? ""]
      case .issuer: [certificate?.issuer ?? ""]
      case .name: certificate?.names ?? []
      }
    return values.filter { !$0.isEmpty }
  }

  package func shown(_ value: String, of name: String) -> String {
    redaction.value(value, of: name)
  }
}

extension Condition {
  /// Evaluates the condition. The outcome shows no credentials.
  ///
  /// - Parameters:
  ///   - result: The result of a call.
  ///   - files: The golden files.
  package func evaluate(_ result: CallResult, files: any GoldenFiles) -> ConditionOutcome {
    var evaluation = Evaluation(self, type: result.type, files: files)
    for message in result.messages { evaluation.receive(message) }
    let others = result.count - result.messages.count
    if others > 0 {
      evaluation.skip(result.last == nil ? others : others - 1)
      if let last = result.last { evaluation.receive(last) }
    }
    let outcome = evaluation.outcome(of: result)
    guard case .fails(var mismatch) = outcome else { return outcome }
    mismatch.expected = result.redaction.text(mismatch.expected)
    mismatch.got = result.redaction.text(mismatch.got)
    mismatch.diff = mismatch.diff.map(result.redaction.text)
    return .fails(mismatch)
  }
}
