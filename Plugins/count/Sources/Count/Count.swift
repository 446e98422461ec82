import RPCURLPlugin

// count: counts messages per value of a field, over all calls of a run, and prints a table at the end.
//
//     make && rpcurl --plugin ./count.so,field=status ...
//
//     count: response messages by status
//     count:   12  DONE
//     count:    3  FAILED

/// The plugin: one table for all calls.
final class Count: Plugin {
  static let name = "count"
  static let version = "1.0"
  static let summary = "counts messages per value of a field, and prints a table at the end"
  static let configurationHelp = """
    field=PATH           the field, such as user.country
    of=request|response  which messages to count (response)
    most=NUMBER          maximum number of distinct values (1000)
    """
  static let messages = MessageAccesses(.readTyped)

  private let host: Host
  private var field = ""
  private var ofRequests = false
  private var isReady = false
  private let table = Table()

  init(host: Host) { self.host = host }

  func configure(_ key: String, _ value: String) throws {
    switch (key, value) {
    case ("field", _): field = value
    case ("of", "request"): ofRequests = true
    case ("of", "response"): ofRequests = false
    case ("of", _): throw Failure("is neither request nor response")
    case ("most", _):
      guard let most = Int(value), most > 0 else { throw Failure("is not a positive number") }
      table.most = most
    default: throw Failure("unknown key")
    }
  }

  func ready() throws {
    if field.isEmpty { throw Failure("requires field=PATH") }
    isReady = true
  }

  func open(_ call: Call) -> (any StagedInterceptor)? {
    CountedCall(field: field, stages: ofRequests ? .requestMessage : .responseMessage, table)
  }

  func unload() {
    guard isReady else { return }
    host.log(.info, "\(ofRequests ? "request" : "response") messages by \(field)")
    for line in table.lines { host.log(.info, line) }
  }
}

/// One call: counts each message, and forwards it.
final class CountedCall: StagedInterceptor {
  let stages: Stages
  private let field: String
  private let table: Table

  init(field: String, stages: Stages, _ table: Table) {
    self.field = field
    self.stages = stages
    self.table = table
  }

  func requestMessage(_ message: Message) throws -> Verdict { try count(message) }
  func responseMessage(_ message: Message) throws -> Verdict { try count(message) }

  private func count(_ message: Message) throws -> Verdict {
    table.add(try message.describe(field))
    return .proceed
  }
}

/// The frequency of each value.
final class Table {
  var most = 1000
  private var counts: [String: Int] = [:]
  private var others = 0

  func add(_ value: String) {
    if counts[value] != nil || counts.count < most {
      counts[value, default: 0] += 1
    } else {
      others += 1
    }
  }

  /// The most frequent first.
  var lines: [String] {
    var rows = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.value, $0.key) }
    if others > 0 { rows.append((others, "(other values)")) }
    if rows.isEmpty { return ["  no messages"] }
    let width = String(rows.map(\.0).max() ?? 0).count
    return rows.map { count, value in
      let number = String(count)
      return "  \(String(repeating: " ", count: width - number.count))\(number)  \(value)"
    }
  }
}

extension Message {
  /// A field's value as text; empty for an unset message.
  fileprivate func describe(_ path: String) throws(HostError) -> String {
    do throws(HostError) {
      switch try get(path) {
      case .bool(let value): return "\(value)"
      case .int64(let value): return "\(value)"
      case .uint64(let value): return "\(value)"
      case .double(let value): return "\(value)"
      case .string(let value): return value.isEmpty ? "(empty)" : value
      case .enum(let number): return try enumName(path) ?? "\(number)"
      case .bytes: return try json(path)
      }
    } catch {
      if error.isNotFound { return "(none)" }
      // A message, a list or a map; for an invalid path this throws.
      return try json(path)
    }
  }
}

/// The entry function of the plugin.
@_cdecl("rpcurl_plugin_entry")
public func entry() -> UnsafeRawPointer { export(Count.self) }
