import RPCurlProtobuf

/// A call, as conditions need it, without its messages: an ``Evaluation`` receives these.
package protocol Subject {
  /// The number of the status.
  var statusNumber: Int { get }
  /// The name of the status.
  var statusName: String { get }
  /// The message of the status.
  var error: String { get }
  /// The details of the status: the full name of the type, and the serialized message.
  var statusDetails: [(typeName: String, value: [UInt8])] { get }
  /// The duration of the whole call.
  var latency: Duration { get }

  /// The values of a header of the response; the name is in lower case.
  func headers(_ name: String) -> [String]
  /// The values of a trailer of the response; the name is in lower case.
  func trailers(_ name: String) -> [String]
  /// The values of a property of the connection; none without a connection, or if the property is not known.
  func connection(_ property: ConnectionProperty) -> [String]
  /// How long the certificate of the server is valid; nil if that is not known.
  var certificateValidity: Duration? { get }
  /// The value of a header or trailer as reports show it: credentials are redacted.
  func shown(_ value: String, of name: String) -> String
}

/// The names of the codes of a status, which the protocols define.
package struct StatusNames: Sendable {
  /// The names, by number.
  package let names: [String]
  /// Other spellings of names, with their numbers.
  private let spellings: [String: Int]

  /// Makes names.
  package init(_ names: [String], spellings: [String: Int] = [:]) {
    self.names = names
    self.spellings = spellings
  }

  /// The number of a code as people write it, such as `not_found`, `NOT_FOUND` or `5`; nil for other text.
  package func number(of text: some StringProtocol) -> Int? {
    let name = text.lowercased()
    if let number = Int(name) { return names.indices.contains(number) ? number : nil }
    return names.firstIndex(of: name) ?? spellings[name]
  }
}
