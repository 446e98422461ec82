import RPCurlProtobuf
import RPCurlProtocols
import RPCurlReports

/// Collects what the calls of a suite exercise of an API.
struct CoverageCollector {
  private(set) var coverage = SuiteCoverage()
  /// The services and packages that count; empty for those of all schemas.
  private let names: [String]
  /// The schema of the last call, whose services are known.
  private var pool: DescriptorPool?
  /// The services and types that are known.
  private var known: Set<String> = []

  init(_ names: [String]) { self.names = names }

  /// Counts a message of a call.
  mutating func add(_ message: Message, of plan: CallPlan) {
    begin(plan)
    add(message)
  }

  /// Counts the end of a call.
  mutating func end(_ plan: CallPlan, _ status: StatusCode) {
    begin(plan)
    guard isCounted(plan.method.service) else { return }
    coverage.methods.add(1, status.name, of: Self.name(plan.method))
  }

  /// Adds what can be exercised of the schema of a call.
  private mutating func begin(_ plan: CallPlan) {
    add(plan.method.service, plan.pool)
    guard pool !== plan.pool else { return }
    pool = plan.pool
    // Those of gRPC itself are no part of an API, unless a test calls them.
    for name in plan.pool.serviceNames where !WellKnownSchemas.mayDeclareService(name) {
      add(name, plan.pool)
    }
  }

  private static func name(_ method: MethodDescriptor) -> String { "\(method.service)/\(method.name)" }

  private func isCounted(_ service: String) -> Bool {
    names.isEmpty || names.contains { service == $0 || service.hasPrefix("\($0).") }
  }

  private mutating func add(_ service: String, _ pool: DescriptorPool) {
    guard isCounted(service), known.insert(service).inserted, let found = try? pool.service(named: service)
    else { return }
    for method in found.methods {
      coverage.methods.add(Self.name(method))
      add(method.input)
      add(method.output)
    }
  }

  /// Adds the enums and oneofs of a type, and of the types of its fields.
  private mutating func add(_ type: MessageType) {
    var enums: [EnumType] = []
    type.forEachReachable(besides: &known) { type, fields in
      let oneofs = (try? type.oneofNames()) ?? []
      for field in fields {
        if let values = (field.mapValue ?? field).enumType { enums.append(values) }
        if let index = field.oneofIndex, oneofs.indices.contains(index) {
          coverage.oneofs.add(0, field.name, of: "\(type.name).\(oneofs[index])")
        }
      }
    }
    for values in enums { add(values) }
  }

  private mutating func add(_ type: EnumType) {
    guard !type.name.hasPrefix("google.protobuf."), known.insert(type.name).inserted else { return }
    // Of several names of a number, messages have the first.
    for value in type.values where type.name(of: value.number) == value.name {
      coverage.enums.add(0, value.name, of: type.name)
    }
  }

  /// Counts the values of a message.
  private mutating func add(_ message: Message) {
    let oneofs = (try? message.type.oneofNames()) ?? []
    var present: Set<UInt32> = []
    message.forEachSetField { field, values in
      present.insert(field.number)
      if let index = field.oneofIndex, oneofs.indices.contains(index) {
        let group = "\(message.type.name).\(oneofs[index])"
        if coverage.oneofs.items[group] != nil { coverage.oneofs.add(1, field.name, of: group) }
      }
      let type = (field.mapValue ?? field).enumType
      for value in values {
        switch value {
        case .message(let message): add(message)
        case .enum(let number): count(number, of: type)
        default: break
        }
      }
    }
    // A field without presence that is not set has its default value.
    for field in (try? message.type.fields()) ?? [] where !field.hasPresence && !field.isRepeated {
      if let type = field.enumType, !present.contains(field.number) { count(type.defaultNumber, of: type) }
    }
  }

  private mutating func count(_ number: Int32, of type: EnumType?) {
    guard let type, coverage.enums.items[type.name] != nil, let name = type.name(of: number) else { return }
    coverage.enums.add(1, name, of: type.name)
  }
}
