/// Why a schema is invalid.
public struct SchemaError: Error, Equatable, Sendable {
  /// The cause of the error.
  public enum Reason: Equatable, Sendable {
    /// The source is empty.
    case emptySource
    /// The source is not a serialized FileDescriptorSet.
    case notADescriptorSet(String)
    /// Descriptors are nested deeper than 100 levels.
    case tooDeep
    /// Two files of one source have the same name and different content.
    case conflictingFile
    /// Two files of one source, `files`, define the same name or extension number differently.
    case conflictingSymbol(String, files: [String])
    /// Files import each other in a cycle.
    case importCycle([String])
    /// No source defines a type; `missingImports` are the imports that no source has.
    case unknownType(name: String, usedBy: String, missingImports: [String])
    /// A symbol is not of the required kind.
    case wrongKind(name: String, expected: String)
    /// An edition newer than this program.
    case unsupportedEdition(Int)
    /// A descriptor violates the rules.
    case invalid(String)
  }

  /// The cause of the error.
  public var reason: Reason
  /// The source's name, as given to ``DescriptorPool/add(_:source:)``.
  public var source: String
  /// The name of the `.proto` file with the error, if there is one.
  public var file: String?

  package init(_ reason: Reason, source: String, file: String? = nil) {
    self.reason = reason
    self.source = source
    self.file = file
  }

  /// A suggestion, if there is one.
  public var hint: String? {
    switch reason {
    case .emptySource, .notADescriptorSet:
      "make a descriptor set with `rpcurl export --proto FILE -o SET` or `buf build -o SET`"
    case .unknownType(_, _, let missing) where !missing.isEmpty:
      Self.importsHint
    default: nil
    }
  }

  /// The suggestion for a descriptor set that lacks imports.
  package static let importsHint = "was the set made with all imports, as by `protoc --include_imports`?"
}

extension SchemaError: CustomStringConvertible {
  /// The error message.
  public var description: String {
    var text = source
    if let file { text += ": \(file)" }
    return text + ": " + reason.text
  }
}

extension SchemaError.Reason {
  var text: String {
    switch self {
    case .emptySource: return "not a descriptor set: the file is empty"
    case .notADescriptorSet(let what): return "not a descriptor set: \(what)"
    case .tooDeep: return "messages are nested deeper than \(nestingLimit) levels"
    case .conflictingFile: return "the set contains this file twice, with different content"
    case .conflictingSymbol(let what, let files):
      return "\(what) is defined differently in " + files.joined(separator: " and in ")
    case .importCycle(let files): return "import cycle: " + files.joined(separator: " → ")
    case .unknownType(let name, let user, let missing):
      let imports =
        missing.isEmpty ? "" : " (imported, but in no source: \(missing.joined(separator: ", ")))"
      return "\(user) uses \(name), which no source defines\(imports)"
    case .wrongKind(let name, let expected): return "\(name) is not \(expected)"
    case .unsupportedEdition(let edition): return "edition \(edition) is not supported"
    case .invalid(let what): return what
    }
  }
}
