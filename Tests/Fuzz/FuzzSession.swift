import Interceptors
import Protobuf

/// Reads the lines of a session, and the words of each; then replaces references in each line, with the first line as a
/// value from a server.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
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

// MARK: References and value functions

/// The limit of a line with its values: small, so that it is reached.
private let limitBytes = 2048

/// What value functions read; nothing where they may read nothing but their argument.
private struct Sources: ValueSourceServices {
  let isAllowed: Bool
  let nanosecondsSince1970: Int64 = 1_700_000_000_000_000_000

  func contents(ofFile path: String, holdsMessages: Bool) throws(ServiceFailure) -> [UInt8] {
    precondition(isAllowed, "no file is read")
    return Array(path.utf8)
  }

  func environment(_ name: String) -> String? {
    precondition(isAllowed, "no variable is read")
    return name
  }
}

private let structType: MessageType = {
  let pool = DescriptorPool()
  guard (try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)) != nil,
    let type = try? pool.messageType(named: "google.protobuf.Struct")
  else { fatalError("the built-in schema has it") }
  return type
}()

/// The text as the variables `v` and `E`, as JSON in `w`, and as the last response.
private func variables(_ value: String) -> SessionVariables {
  var variables = SessionVariables(limitBytes: limitBytes) { name in name == "E" ? value : nil }
  try? variables.set("v", to: .string(value))
  if let json = try? JSONValue(parsing: Array(value.utf8)) { try? variables.set("w", to: json) }
  variables.last = .bytes(Array(value.utf8), .json, structType)
  return variables
}

private func expand(_ line: String, _ variables: SessionVariables) {
  let word = try? variables.expand(word: line)
  precondition(line.utf8.contains(36) || word == line, "a word without a reference is kept")
  _ = try? variables.expand(words: line)
  _ = try? variables.expand(check: line)
  let all = ValueFunctions(Sources(isAllowed: true), seed: 1)
  let pure = ValueFunctions(Sources(isAllowed: false), seed: 1)
  _ = try? all.expand(line, offset: 1)
  _ = try? all.expand(json: Array(line.utf8))
  _ = ValueFunctions.reference(in: Array(line.utf8)[...], isValue: true)
  _ = ValueFunctions.reference(in: Array(line.utf8)[...])
  for json in [
    try? variables.expand(json: line), try? variables.expand(json: line, all, all: true).text,
    try? variables.expand(json: line, pure, all: false).text,
  ].compactMap({ $0 }) {
    precondition(json.utf8.count <= limitBytes + line.utf8.count, "a line with its values is bounded")
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
    let parts = InterceptorSecrets.split(one)
    precondition(parts.joined(separator: ",") == one, "the parts are the whole")
    precondition(parts.count == InterceptorSecrets.split(other).count, "a value adds no setting")
  }
  let (headers, names) = (try? received.expand(word: line), try? plain.expand(word: line))
  if let headers, let names, (try? received.checkName(ofHeader: line)) != nil {
    precondition(headers.utf8.contains(58) || !names.utf8.contains(58), "a value does not end a name")
  }
}
