import Protobuf
import RPCClient
import RPCProtocols
import Reflection
import Transport

/// Asks the server for types that its answers turn out to hold: those in an `Any`, and those of error details, which
/// no method of the schema names.
///
/// Each type is asked for once, and only so many of them, whatever a server sends.
package final class TypeLookup {
  /// Types that may be found, in a message that is not to be shown before.
  package struct Missing: Error {
    package let names: [String]
  }

  /// How many types are looked up at most, and how long it may take where no deadline is closer.
  private static let limit = 32
  private static let patience = Duration.seconds(2)

  private let source: ReflectionSource
  private let pool: DescriptorPool
  private let client: RPCClient
  /// Whether answers can hold messages of any type; looked at when the first one is there.
  private lazy var canHoldAny = Self.canHoldAny(output)
  private let output: MessageType
  /// The types that a look-up is over for.
  private var answered: Set<String> = []
  private var reflector: Reflector?
  /// The look-ups in the order in which they were asked for; the first one runs.
  private var waiting: [(names: [String], deadline: MonotonicClock.Instant?, done: () -> Void)] = []
  private var isOver = false

  /// Makes a look-up for the answers of a plan's calls, at the server that the schema is of.
  ///
  /// Fails where the server is not to be asked.
  package init?(_ plan: CallPlan, client: RPCClient) {
    guard let source = plan.reflection else { return nil }
    self.source = source
    self.client = client
    pool = plan.pool
    output = plan.method.output
  }

  /// Throws when `json`, as the codec prints it, holds types that may be found.
  package func check(_ json: ArraySlice<UInt8>) throws(Missing) {
    guard canHoldAny, let names = missing(among: Self.unknownTypes(in: json)) else { return }
    throw Missing(names: names)
  }

  /// Whether a look-up may find the type.
  package func mayFind(_ name: String) -> Bool {
    missing(among: [name]) != nil
  }

  /// Those of the types that the schema does not know, and that no answer is there for; `nil` when there are none.
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

  /// Whether it can be the name of a type, so that it may be sent to a server.
  private static func isName(_ name: String) -> Bool {
    MethodName("\(name)/X") != nil
  }

  /// Looks types up until `deadline`, and calls `done` when they are known, or will not be: later, from the loop.
  package func find(_ names: [String], until deadline: MonotonicClock.Instant?, done: @escaping () -> Void) {
    waiting.append((names, deadline, done))
    // Later, so that `done` is not called before this returns.
    if reflector == nil, waiting.count == 1 {
      client.loop.schedule(at: .now) { [weak self] in self?.start() }
    }
  }

  /// Looks nothing up any more.
  package func cancel() {
    isOver = true
    reflector?.cancel("interrupted")
  }

  private func start() {
    guard let next = waiting.first else { return }
    let left = min(source.timeout, Self.patience, next.deadline.map { $0 - .now } ?? Self.patience)
    // A look-up before this one may have been for the same.
    let names = next.names.filter { !answered.contains($0) }
    guard !isOver, left > .zero, !names.isEmpty else { return finish() }
    var request = source.request(.whateverOf(names))
    request.timeout = left
    let reflector = client.reflect(request)
    self.reflector = reflector
    reflector.whenDone = { [weak self] in self?.finish() }
    // It may have failed at once.
    if reflector.result != nil { finish() }
  }

  private func finish() {
    if case .success(let schema)? = reflector?.result, schema.fileCount > 0 {
      // What the schema knows already wins; a set that contradicts it finds no type.
      try? pool.add(SchemaBytes(schema.descriptorSet), source: source.sourceName)
    }
    reflector = nil
    guard !waiting.isEmpty else { return }
    let next = waiting.removeFirst()
    answered.formUnion(next.names)
    next.done()
    if !waiting.isEmpty { start() }
  }

  /// The types that the codec did not know, and printed as `{"@type":"…/NAME","@value":"…"}`.
  private static func unknownTypes(in json: ArraySlice<UInt8>) -> [String] {
    // In a string the quote would have a backslash, so this is a key.
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

  /// Whether a message of this type can hold an `Any`; so it is taken to be where there is much to look through.
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
