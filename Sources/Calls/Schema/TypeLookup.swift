import Protobuf
import CallEngine
import RPCProtocols
import Reflection
import Transport

/// Asks the server for types in its responses that no method names: those in an `Any`, and those of error details.
///
/// Asks for each type once, and for a limited number of types in total.
package final class TypeLookup {
  /// The types of a message that must be looked up before it is printed.
  package struct Missing: Error {
    package let names: [String]
  }

  /// The largest number of types, and the time limit unless the deadline is sooner.
  private static let limit = 32
  private static let patience = Duration.seconds(2)

  private let source: ReflectionSource
  private let pool: DescriptorPool
  private let client: LoopClient
  /// Whether responses can contain an `Any`. Computed for the first response.
  package private(set) lazy var canHoldAny = Self.canHoldAny(output)
  private let output: MessageType
  /// The types whose lookup has ended.
  private var answered: Set<String> = []
  private var reflector: Reflector?
  /// The lookups in order; the first one runs.
  private var waiting: [(names: [String], deadline: MonotonicClock.Instant?, done: () -> Void)] = []
  private var isOver = false

  /// Creates the lookup for the responses of a plan's calls. Returns nil if the server must not be asked.
  package init?(_ plan: CallPlan, client: LoopClient) {
    guard let source = plan.reflection else { return nil }
    self.source = source
    self.client = client
    pool = plan.pool
    output = plan.method.output
  }

  /// Throws if `json`, as the codec prints it, contains types that can be looked up.
  package func check(_ json: @autoclosure () -> ArraySlice<UInt8>) throws(Missing) {
    guard canHoldAny, let names = missing(among: Self.unknownTypes(in: json())) else { return }
    throw Missing(names: names)
  }

  /// Whether the type can be looked up.
  package func mayFind(_ name: String) -> Bool {
    missing(among: [name]) != nil
  }

  /// The types among `names` that are unknown and were not looked up; nil if there are none.
  package func missing(among names: [String]) -> [String]? {
    guard !isOver, !names.isEmpty else { return nil }
    var missing: [String] = []
    for name in names where missing.count < Self.limit - answered.count {
      guard !missing.contains(name), !answered.contains(name), Self.isName(name) else { continue }
      let known = try? pool.messageType(named: name)
      if known ?? nil == nil { missing.append(name) }
    }
    return missing.isEmpty ? nil : missing
  }

  /// Whether `name` can be the name of a type; only such names are sent to a server.
  private static func isName(_ name: String) -> Bool {
    MethodName("\(name)/X") != nil
  }

  /// Looks types up until `deadline`. Calls `done` from the event loop when they are known or cannot be found.
  package func find(_ names: [String], until deadline: MonotonicClock.Instant?, done: @escaping () -> Void) {
    waiting.append((names, deadline, done))
    // Delayed, so that `done` is not called before this returns.
    if reflector == nil, waiting.count == 1 {
      client.loop.schedule(at: .now) { [weak self] in self?.start() }
    }
  }

  /// Cancels all lookups.
  package func cancel() {
    isOver = true
    reflector?.cancel("interrupted")
  }

  private func start() {
    guard let next = waiting.first else { return }
    let left = min(source.timeout, Self.patience, next.deadline.map { $0 - .now } ?? Self.patience)
    // An earlier lookup may have included these types.
    let names = next.names.filter { !answered.contains($0) }
    guard !isOver, left > .zero, !names.isEmpty else { return finish() }
    var request = source.request(.existingSymbols(names))
    request.timeout = left
    let reflector = client.reflect(request)
    self.reflector = reflector
    reflector.whenDone = { [weak self] in self?.finish() }
    // The lookup may have failed at once.
    if reflector.result != nil { finish() }
  }

  private func finish() {
    if case .success(let schema)? = reflector?.result, schema.fileCount > 0 {
      // Existing declarations take precedence; a set that contradicts them adds no type.
      try? pool.add(SchemaBytes(schema.descriptorSet), source: source.sourceName)
    }
    reflector = nil
    guard !waiting.isEmpty else { return }
    let next = waiting.removeFirst()
    answered.formUnion(next.names)
    next.done()
    if !waiting.isEmpty { start() }
  }

  /// The types that the codec did not find and printed as `{"@type":"…/NAME","@value":"…"}`.
  private static func unknownTypes(in json: ArraySlice<UInt8>) -> [String] {
    // Within a string, a backslash would precede the quote, so this is a key.
    let mark = #"value":"#.utf8
    var names: [String] = []
    var rest = json
    while let at = rest.firstIndex(of: UInt8(ascii: "@")) {
      let before = rest[..<at].dropLast().reversed()
      rest = rest[(at + 1)...]
      guard rest.starts(with: mark) else { continue }
      let url = before.drop { $0 != UInt8(ascii: "\"") }.dropFirst()
      let name = url.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "/") }
      names.append(String(decoding: Array(name.reversed()), as: UTF8.self))
    }
    return names
  }

  /// Whether a message of this type can contain an `Any`. Assumed for types with very many fields.
  private static func canHoldAny(_ type: MessageType) -> Bool {
    var seen: Set<String> = [type.name]
    var rest = [type]
    while let next = rest.popLast() {
      guard next.name != "google.protobuf.Any", seen.count < 500 else { return true }
      for field in (try? next.fields()) ?? [] {
        guard let inner = field.isMap ? field.mapValue?.messageType : field.messageType else { continue }
        if seen.insert(inner.name).inserted { rest.append(inner) }
      }
    }
    return false
  }
}
