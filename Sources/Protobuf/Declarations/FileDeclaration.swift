/// A `.proto` file from its descriptor: all its declarations, with comments if the source of the schema has
/// them.
///
/// It reflects the source text, while ``MessageType``, ``Field`` and the like reflect its meaning: features
/// are not resolved, and types are names.
public struct FileDeclaration: Sendable {
  /// The syntax or edition in the first line.
  public enum Syntax: Sendable, Equatable {
    /// `syntax = "proto2"`, or none.
    case proto2
    /// `syntax = "proto3"`.
    case proto3
    /// An edition, by its number in `google.protobuf.Edition`: 1000 for 2023.
    case edition(Int32)
  }

  /// An import.
  public struct Import: Sendable, Equatable {
    /// The ways to import.
    public enum Kind: String, Sendable {
      /// Imported for the file only.
      case plain = ""
      /// Also imported for files that import this one.
      case `public`
      /// An import that may be missing.
      case weak
      /// For options only, since edition 2024.
      case option
    }

    /// The name of the imported file.
    public let name: String
    /// The way it is imported.
    public let kind: Kind
  }

  /// The name for imports.
  public internal(set) var name = ""
  /// The package; empty if there is none.
  public internal(set) var package = ""
  /// The syntax or edition.
  public internal(set) var syntax = Syntax.proto2
  /// The imports, in order.
  public internal(set) var imports: [Import] = []
  /// The top-level messages, in order.
  public internal(set) var messages: [MessageDeclaration] = []
  /// The top-level enums, in order.
  public internal(set) var enums: [EnumDeclaration] = []
  /// The services, in order.
  public internal(set) var services: [ServiceDeclaration] = []
  /// The top-level extensions, in order.
  public internal(set) var extensions: [FieldDeclaration] = []
  /// The options, including custom ones.
  public internal(set) var options: DescriptorOptions
  /// The comments of the syntax line, such as a licence.
  public internal(set) var comments = Comments()
  /// The comments of the package.
  public internal(set) var packageComments = Comments()
}

/// The comments of a declaration.
public struct Comments: Sendable, Equatable {
  /// Comments before the declaration, detached from it.
  public internal(set) var detached: [String] = []
  /// The comment directly before the declaration.
  public internal(set) var leading = ""
  /// The comment after the declaration.
  public internal(set) var trailing = ""

  /// The description of the declaration, without surrounding white space; empty if there is none.
  public var summary: String {
    let text = leading.isEmpty ? trailing : leading
    let ends: [Character] = ["\n", "\r\n"]
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: ends.contains).map { line in
      line.first == " " ? line.dropFirst() : line
    }
    return lines.joined(separator: "\n").trimmed()
  }
}

/// A message.
public struct MessageDeclaration: Sendable {
  /// A range of extension numbers.
  public struct ExtensionRange: Sendable {
    /// The numbers.
    public let numbers: Range<Int64>
    /// The options, including declarations.
    public let options: DescriptorOptions
  }

  /// A oneof, or the synthetic one of an `optional` field in proto3.
  public struct Oneof: Sendable {
    /// The name.
    public let name: String
    /// The options, including custom ones.
    public let options: DescriptorOptions
    /// The comments.
    public let comments: Comments
  }

  /// The name.
  public internal(set) var name = ""
  /// The name with package and outer messages.
  public internal(set) var fullName = ""
  /// The fields, in order.
  public internal(set) var fields: [FieldDeclaration] = []
  /// The oneofs, in order, including synthetic ones.
  public internal(set) var oneofs: [Oneof] = []

  /// The oneofs in the .proto file, without synthetic ones.
  public var writtenOneofs: [Oneof] {
    let synthetic = Set(fields.lazy.filter(\.isProto3Optional).compactMap(\.oneofIndex))
    return oneofs.indices.filter { !synthetic.contains($0) }.map { oneofs[$0] }
  }
  /// The nested messages, in order, including those of maps and groups.
  public internal(set) var messages: [MessageDeclaration] = []
  /// The nested enums, in order.
  public internal(set) var enums: [EnumDeclaration] = []
  /// The nested extensions, in order, of any message.
  public internal(set) var extensions: [FieldDeclaration] = []
  /// The ranges of extension numbers.
  public internal(set) var extensionRanges: [ExtensionRange] = []
  /// Reserved field numbers.
  public internal(set) var reservedNumbers: [Range<Int64>] = []
  /// Reserved field names.
  public internal(set) var reservedNames: [String] = []
  /// Whether it is the entry type of a map.
  public internal(set) var isMapEntry = false
  /// 1 for `local`, 2 for `export`, since edition 2024.
  var visibility: Int32 = 0
  /// The options, including custom ones.
  public internal(set) var options: DescriptorOptions
  /// The comments.
  public internal(set) var comments = Comments()
}

/// A field or an extension.
public struct FieldDeclaration: Sendable {
  /// The cardinality of a field.
  public enum Label: Int32, Sendable {
    /// At most one value.
    case optional = 1
    /// Exactly one value.
    case required
    /// Any number of values.
    case repeated
  }

  /// The name.
  public internal(set) var name = ""
  /// The name with that of its message.
  public internal(set) var fullName = ""
  /// The number.
  public internal(set) var number: Int32 = 0
  /// The label.
  public internal(set) var label = Label.optional
  /// The kind of its values.
  public internal(set) var kind = FieldKind.message
  /// The full name of the message or enum type.
  public internal(set) var typeName = ""
  /// The full name of the message that an extension extends.
  public internal(set) var extendee: String?
  /// The explicit default.
  public internal(set) var defaultText: String?
  /// The name in JSON.
  public internal(set) var jsonName: String?
  /// The index in ``MessageDeclaration/oneofs``.
  public internal(set) var oneofIndex: Int?
  /// Whether it is marked `optional` in proto3.
  public internal(set) var isProto3Optional = false
  /// The options, including custom ones.
  public internal(set) var options: DescriptorOptions
  /// The comments.
  public internal(set) var comments = Comments()
}

/// An enum.
public struct EnumDeclaration: Sendable {
  /// A value of an enum.
  public struct Value: Sendable {
    /// The name.
    public let name: String
    /// The number.
    public let number: Int32
    /// The options, including custom ones.
    public let options: DescriptorOptions
    /// The comments.
    public let comments: Comments
  }

  /// The name.
  public internal(set) var name = ""
  /// The name with package and outer messages.
  public internal(set) var fullName = ""
  /// The values, in order.
  public internal(set) var values: [Value] = []
  /// Reserved value numbers.
  public internal(set) var reservedNumbers: [ClosedRange<Int32>] = []
  /// Reserved value names.
  public internal(set) var reservedNames: [String] = []
  /// 1 for `local`, 2 for `export`, since edition 2024.
  var visibility: Int32 = 0
  /// The options, including custom ones.
  public internal(set) var options: DescriptorOptions
  /// The comments.
  public internal(set) var comments = Comments()
}

/// A service.
public struct ServiceDeclaration: Sendable {
  /// A method of a service.
  public struct Method: Sendable {
    /// The name.
    public internal(set) var name = ""
    /// `pkg.Service/Method`
    public internal(set) var path = ""
    /// The full name of the request's type.
    public internal(set) var input = ""
    /// The full name of the response's type.
    public internal(set) var output = ""
    /// Whether the request is a stream.
    public internal(set) var clientStreaming = false
    /// Whether the response is a stream.
    public internal(set) var serverStreaming = false
    /// The options, including custom ones.
    public internal(set) var options: DescriptorOptions
    /// The comments.
    public internal(set) var comments = Comments()
  }

  /// The name.
  public internal(set) var name = ""
  /// The name with the package.
  public internal(set) var fullName = ""
  /// The methods, in order.
  public internal(set) var methods: [Method] = []
  /// The options, including custom ones.
  public internal(set) var options: DescriptorOptions
  /// The comments.
  public internal(set) var comments = Comments()
}

extension String {
  /// The text without white space at both ends.
  fileprivate func trimmed() -> String {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
