import RPCurlProtobuf

/// The kind of a declared name.
package enum SymbolKind: String, Sendable, CaseIterable {
  /// Kinds with the keywords of the protobuf language; those below differ.
  case service, method, message, field, oneof
  /// An enum.
  case enumeration = "enum"
  /// A value of an enum.
  case enumValue = "value"
  /// A field that extends a message, declared outside of it.
  case extensionField = "extension"
}

/// A declaration, with its parent where its own content does not identify it.
package enum Declaration: Sendable {
  /// A service with its methods.
  case service(ServiceDeclaration)
  /// A method of a service.
  case method(ServiceDeclaration.Method, of: ServiceDeclaration)
  /// A message with everything declared in it.
  case message(MessageDeclaration)
  /// A field of a message.
  case field(FieldDeclaration, of: MessageDeclaration)
  /// A oneof of a message.
  case oneof(MessageDeclaration.Oneof, of: MessageDeclaration)
  /// An enum with its values.
  case enumeration(EnumDeclaration)
  /// A value of an enum.
  case enumValue(EnumDeclaration.Value, of: EnumDeclaration)
  /// An extension.
  case extensionField(FieldDeclaration)

  /// The kind of the declaration.
  package var kind: SymbolKind {
    switch self {
    case .service: .service
    case .method: .method
    case .message: .message
    case .field: .field
    case .oneof: .oneof
    case .enumeration: .enumeration
    case .enumValue: .enumValue
    case .extensionField: .extensionField
    }
  }

  /// The full name, as returned by ``DescriptorPool/symbols(_:)``.
  package var name: String {
    switch self {
    case .service(let service): service.fullName
    case .method(let method, _): method.path
    case .message(let message): message.fullName
    case .field(let field, _), .extensionField(let field): field.fullName
    case .oneof(let oneof, let message): "\(message.fullName).\(oneof.name)"
    case .enumeration(let type): type.fullName
    case .enumValue(let value, let type): "\(type.fullName).\(value.name)"
    }
  }

  /// The comments.
  package var comments: Comments {
    switch self {
    case .service(let service): service.comments
    case .method(let method, _): method.comments
    case .message(let message): message.comments
    case .field(let field, _), .extensionField(let field): field.comments
    case .oneof(let oneof, _): oneof.comments
    case .enumeration(let type): type.comments
    case .enumValue(let value, _): value.comments
    }
  }

  /// The options, including custom ones.
  package var options: DescriptorOptions {
    switch self {
    case .service(let service): service.options
    case .method(let method, _): method.options
    case .message(let message): message.options
    case .field(let field, _), .extensionField(let field): field.options
    case .oneof(let oneof, _): oneof.options
    case .enumeration(let type): type.options
    case .enumValue(let value, _): value.options
    }
  }
}

extension FileDeclaration {
  /// Finds a declaration of the file by its full name; enum values with or without the enum's name.
  package func declaration(named name: String) -> Declaration? {
    for service in services {
      if service.fullName == name { return .service(service) }
      for method in service.methods where method.path == name || "\(service.fullName).\(method.name)" == name
      {
        return .method(method, of: service)
      }
    }
    if let found = Self.find(name, extensions: extensions, enums: enums, scope: package) { return found }
    for message in messages {
      if let found = Self.find(name, in: message) { return found }
    }
    return nil
  }

  private static func find(_ name: String, in message: MessageDeclaration) -> Declaration? {
    if message.fullName == name { return .message(message) }
    guard name.hasPrefix(message.fullName + ".") else { return nil }
    for nested in message.messages {
      if let found = find(name, in: nested) { return found }
    }
    for field in message.fields where field.fullName == name { return .field(field, of: message) }
    for oneof in message.writtenOneofs where "\(message.fullName).\(oneof.name)" == name {
      return .oneof(oneof, of: message)
    }
    return find(name, extensions: message.extensions, enums: message.enums, scope: message.fullName)
  }

  private static func find(
    _ name: String, extensions: [FieldDeclaration], enums: [EnumDeclaration], scope: String
  ) -> Declaration? {
    for field in extensions where field.fullName == name { return .extensionField(field) }
    for type in enums {
      if type.fullName == name { return .enumeration(type) }
      for value in type.values {
        let alias = scope.isEmpty ? value.name : "\(scope).\(value.name)"
        if "\(type.fullName).\(value.name)" == name || alias == name { return .enumValue(value, of: type) }
      }
    }
    return nil
  }
}
