import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The failures for names of methods that the schema lacks, with the names that it has.
extension SchemaSource {
  /// The largest number of names in a hint.
  private static let shownNames = 20

  /// The failure for a method that is not in `pool`.
  static func unknown(_ name: MethodName, in pool: DescriptorPool) throws -> Failure {
    if let service = try bareService(name, in: pool) { return noMethod(of: service) }
    guard !name.service.isEmpty else {
      return SymbolLookup(pool).unknown(name.method, among: [.method])
    }
    guard let service = try service(named: name.service, in: pool) else {
      return unknownService(name, "no service \(name.service) in the schema", services: pool.serviceNames)
    }
    let names = service.methods.map(\.name)
    return Failure(
      .schema, "\(service.name)/\(name.method)", "no method \(name.method) in \(service.name)",
      hint: suggestion(
        DescriptorPool.nearestNames(to: name.method, among: names).map { "\(service.name)/\($0)" })
        ?? (names.isEmpty ? "it has no methods" : "its methods are \(list(names))")
    ).with(.unknownName)
  }

  /// The service with this name, or with a name that ends with it.
  private static func service(named name: String, in pool: DescriptorPool) throws -> ServiceDescriptor? {
    if let service = try pool.service(named: name) { return service }
    let names = services(pool.serviceNames, endingWith: name)
    return names.isEmpty ? nil : try pool.service(named: SymbolLookup.only(name, among: names))
  }

  /// The service that a name without a method names, as a whole: `pkg.Service`, or a unique suffix of it.
  static func bareService(_ name: MethodName, in pool: DescriptorPool) throws -> ServiceDescriptor? {
    let names = bareServices(name, among: pool.serviceNames)
    return names.count == 1 ? try pool.service(named: names[0]) : nil
  }

  /// The services among `services` that a name without a method names, as a whole.
  static func bareServices(_ name: MethodName, among services: [String]) -> [String] {
    let whole = name.service.isEmpty ? name.method : "\(name.service).\(name.method)"
    return services.contains(whole) ? [whole] : self.services(services, endingWith: whole)
  }

  private static func services(_ services: [String], endingWith name: String) -> [String] {
    services.filter { $0.hasSuffix(".\(name)") }
  }

  /// The failure for a service where a method belongs.
  static func noMethod(of service: ServiceDescriptor) -> Failure {
    let names = service.methods.map(\.name)
    return Failure(
      .schema, service.name, "this is a service; a method is missing",
      hint: names.isEmpty
        ? "it has no methods" : "write \(service.name)/METHOD; its methods are \(list(names))")
  }

  /// The failure for a service that is not among `services`.
  package static func unknownService(_ name: MethodName, _ why: String, services: [String]) -> Failure {
    let nearest = SymbolLookup.nearest(to: name.service, among: services)
    return Failure(
      .schema, name.description, why,
      hint: suggestion(nearest.map { "\($0)/\(name.method)" })
        ?? (services.isEmpty ? "there are no services" : "services: \(list(services))")
    ).with(.unknownName)
  }

  package static func suggestion(_ names: [String]) -> String? {
    names.isEmpty ? nil : "did you mean \(names.joined(separator: ", or "))?"
  }

  private static func list(_ names: [String]) -> String {
    names.count <= shownNames
      ? names.joined(separator: ", ")
      : names.prefix(shownNames).joined(separator: ", ") + " and \(names.count - shownNames) more"
  }
}
