import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

@testable import RPCurlEngine

/// Reads the lines of a session, and the words of each; then replaces references in each line, with the first line as a
/// value from a server.
func fuzzSession(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  var reader = SessionStatementReader()
  for line in lines {
    if let statement = try? reader.add(String(line)) {
      precondition(!statement.head.isEmpty || !statement.values.isEmpty, "a statement says something")
      precondition(!reader.isWithin, "a statement is complete")
    }
    guard let words = try? SessionWords.split(line) else { continue }
    for word in words {
      let again = try? SessionWords.split(SessionWords.quoted(word.text))
      precondition(again?.map(\.text) == [word.text], "a quoted word is read back")
    }
  }
  let value = String(lines.first ?? "")
  let (received, plain) = (variables(value), variables("x"))
  for line in lines.dropFirst().map(String.init) {
    expand(line, received)
    checkThatValuesAreData(line, received, plain)
  }
  return 0
}

// MARK: Values

/// The limit of a line with its values: small, so that it is reached.
private let limitBytes = 2048

/// What functions read.
private struct Sources: ValueSourceServices {
  let nanosecondsSince1970: Int64 = 1_700_000_000_000_000_000
  func contents(ofFile path: String, holdsMessages: Bool) throws(SystemError) -> [UInt8] {
    Array(path.utf8)
  }
  func environment(_ name: String) -> String? { name }
}

private let structType: MessageType = {
  let pool = DescriptorPool()
  guard (try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)) != nil,
    let type = try? pool.messageType(named: "google.protobuf.Struct")
  else { fatalError("the built-in schema has it") }
  return type
}()

/// A call whose response, header and detail are one text.
private final class Answer: LastCall {
  let title = "Call"
  let responseType = structType
  let seen = 1
  let endStatus: StatusCode? = .ok
  let headers: Headers?
  let trailers: Headers? = Headers()
  let details: [StatusDetail]
  private let text: String

  init(_ text: String) {
    self.text = text
    headers = Headers([("x-a", text)])
    details = [StatusDetail(typeName: "google.protobuf.Struct", value: Array(text.utf8))]
  }

  func response(_ number: Int) -> SessionMessage? { .bytes(Array(text.utf8), .json, responseType) }
}

/// The text as the variables `v` and `env.E`, as JSON in `w`, and as what the last call has.
private func variables(_ value: String) -> SessionVariables {
  let functions = TemplateFunctions(Sources(), seed: 1)
  var variables = SessionVariables(functions, limitBytes: limitBytes) { name in name == "E" ? value : nil }
  try? variables.set("v", to: .string(value))
  if let json = try? JSONValue(parsing: Array(value.utf8)) { try? variables.set("w", to: json) }
  variables.last = Answer(value)
  return variables
}

private func expand(_ line: String, _ variables: SessionVariables) {
  let word = try? variables.expand(word: line)
  precondition(line.utf8.contains(36) || word == line, "a word without a reference is kept")
  if let condition = try? Condition(parsing: line, hasShortForm: true) {
    _ = try? condition.filled(
      variables, path: { template throws(LanguageError) in try template.text(variables) })
  }
  _ = try? variables.expand(pair: line, separator: ":")
  for place in [LanguagePlace.path, .assignment, .condition, .text] {
    let found = LanguageCompletion(line, at: place, in: variables.scope)
    precondition(line.hasSuffix(found.replaced), "a completion replaces the end of the line")
  }
  if let json = try? variables.expand(json: line).bytes {
    precondition(json.count <= limitBytes + line.utf8.count, "a line with its values is bounded")
  }
}

/// Checks that no value becomes an option or a setting.
private func checkThatValuesAreData(
  _ line: String, _ received: SessionVariables, _ plain: SessionVariables
) {
  if !line.utf8.starts(with: "-".utf8), let argument = try? received.expand(argument: line) {
    precondition(!argument.utf8.starts(with: "-".utf8), "a value is not an option")
  }
  if let one = try? received.expand(specification: line), let other = try? plain.expand(specification: line) {
    let parts = SettingScanner.split(one)
    precondition(parts.joined(separator: ",") == one, "the parts are the whole")
    precondition(parts.count == SettingScanner.split(other).count, "a value adds no setting")
  }
}
