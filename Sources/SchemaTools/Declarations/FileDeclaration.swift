import RPCurlProtobuf

/// A `.proto` file from its descriptor: all its declarations, with comments if the source of the schema has
/// them.
///
/// It reflects the source text, while ``MessageType``, ``Field`` and the like reflect its meaning: features
/// are not resolved, and types are names.
package struct FileDeclaration: Sendable {
  /// The syntax or edition in the first line.
  package enum Syntax: Sendable, Equatable {
    /// `syntax = "proto2"`, or none.
    case proto2
    /// `syntax = "proto3"`.
    case proto3
    /// An edition, by its number in `google.protobuf.Edition`: 1000 for 2023.
    case edition(Int32)
  }

  /// An import.
  package struct Import: Sendable, Equatable {
    /// The ways to import.
    package enum Kind: String, Sendable {
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
    package let name: String
    /// The way it is imported.
    package let kind: Kind
  }

  /// The name for imports.
  package internal(set) var name = ""
  /// The package; empty if there is none.
  package internal(set) var package = ""
  /// The syntax or edition.
  package internal(set) var syntax = Syntax.proto2
  /// The imports, in order.
  package internal(set) var imports: [Import] = []
  /// The top-level messages, in order.
  package internal(set) var messages: [MessageDeclaration] = []
  /// The top-level enums, in order.
  package internal(set) var enums: [EnumDeclaration] = []
  /// The services, in order.
  package internal(set) var services: [ServiceDeclaration] = []
  /// The top-level extensions, in order.
  package internal(set) var extensions: [FieldDeclaration] = []
  /// The options, including custom ones.
  package internal(set) var options: DescriptorOptions
  /// The comments of the syntax line, such as a licence.
  package internal(set) var comments = Comments()
  /// The comments of the package.
  package internal(set) var packageComments = Comments()
}

/// The comments of a declaration.
package struct Comments: Sendable, Equatable {
  /// Comments before the declaration, detached from it.
  package internal(set) var detached: [String] = []
  /// The comment directly before the declaration.
  package internal(set) var leading = ""
  /// The comment after the declaration.
  package internal(set) var trailing = ""

  /// The description of the declaration, without surrounding white space; empty if there is none.
  package var summary: String {
    let text = leading.isEmpty ? trailing : leading
    let ends: [Character] = ["\n", "\r\n"]
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: ends.contains).map { line in
      line.first == " " ? line.dropFirst() : line
    }
    return lines.joined(separator: "\n").trimmed()
  }
}

/// A message.
package struct MessageDeclaration: Sendable {
  /// A range of extension numbers.
  package struct ExtensionRange: Sendable {
    /// The numbers.
    package let numbers: Range<Int64>
    /// The options, including declarations.
    package let options: DescriptorOptions
  }

  /// A oneof, or the synthetic one of an `optional` field in proto3.
  package struct Oneof: Sendable {
    /// The name.
    package let name: String
    /// The options, including custom ones.
    package let options: DescriptorOptions
    /// The comments.
    package let comments: Comments
  }

  /// The name.
  package internal(set) var name = ""
  /// The name with package and outer messages.
  package internal(set) var fullName = ""
  /// The fields, in order.
  package internal(set) var fields: [FieldDeclaration] = []
  /// The oneofs, in order, including synthetic ones.
  package internal(set) var oneofs: [Oneof] = []

  /// The oneofs in the .proto file, without synthetic ones.
  package var writtenOneofs: [Oneof] {
    let synthetic = Set(fields.lazy.filter(\.isProto3Optional).compactMap(\.oneofIndex))
    return oneofs.indices.filter { !synthetic.contains($0) }.map { oneofs[$0] }
  }
  /// The nested messages, in order, including those of maps and groups.
  package internal(set) var messages: [MessageDeclaration] = []
  /// The nested enums, in order.
  package internal(set) var enums: [EnumDeclaration] = []
  /// The nested extensions, in order, of any message.
  package internal(set) var extensions: [FieldDeclaration] = []
  /// The ranges of extension numbers.
  package internal(set) var extensionRanges: [ExtensionRange] = []
  /// Reserved field numbers.
  package internal(set) var reservedNumbers: [Range<Int64>] = []
  /// Reserved field names.
  package internal(set) var reservedNames: [String] = []
  /// Whether it is the entry type of a map.
  package internal(set) var isMapEntry = false
  /// 1 for `local`, 2 for `export`, since edition 2024.
  var visibility: Int32 = 0
  /// The options, including custom ones.
  package internal(set) var options: DescriptorOptions
  /// The comments.
  package internal(set) var comments = Comments()
}

/// A field or an extension.
package struct FieldDeclaration: Sendable {
  /// The cardinality of a field.
  package enum Label: Int32, Sendable {
    /// At most one value.
    case optional = 1
    /// Exactly one value.
    case required
    /// Any number of values.
    case repeated
  }

  /// The name.
  package internal(set) var name = ""
  /// The name with that of its message.
  package internal(set) var fullName = ""
  /// The number.
  package internal(set) var number: Int32 = 0
  /// The label.
  package internal(set) var label = Label.optional
  /// The kind of its values.
  package internal(set) var kind = FieldKind.message
  /// The full name of the message or enum type.
  package internal(set) var typeName = ""
  /// The full name of the message that an extension extends.
  package internal(set) var extendee: String?
  /// The explicit default, which may be invalid UTF-8.
  var defaultBytes: [UInt8]?
  /// The explicit default as text.
  package var defaultText: String? { defaultBytes.map { String(decoding: $0, as: UTF8.self) } }
  /// The name in JSON, which may be invalid UTF-8.
  var jsonNameBytes: [UInt8]?
  /// The name in JSON as text.
  package var jsonName: String? { jsonNameBytes.map { String(decoding: $0, as: UTF8.self) } }
  /// The name in JSON, also if the source omits it, which compilers do not.
  package var effectiveJSONName: String { jsonName ?? ProtoText.jsonName(of: name) }
  /// The index in ``MessageDeclaration/oneofs``.
  package internal(set) var oneofIndex: Int?
  /// Whether it is marked `optional` in proto3.
  package internal(set) var isProto3Optional = false
  /// The options, including custom ones.
  package internal(set) var options: DescriptorOptions
  /// The comments.
  package internal(set) var comments = Comments()
}

/// An enum.
package struct EnumDeclaration: Sendable {
  /// A value of an enum.
  package struct Value: Sendable {
    /// The name.
    package let name: String
    /// The number.
    package let number: Int32
    /// The options, including custom ones.
    package let options: DescriptorOptions
    /// The comments.
    package let comments: Comments
  }

  /// The name.
  package internal(set) var name = ""
  /// The name with package and outer messages.
  package internal(set) var fullName = ""
  /// The values, in order.
  package internal(set) var values: [Value] = []
  /// Reserved value numbers.
  package internal(set) var reservedNumbers: [ClosedRange<Int32>] = []
  /// Reserved value names.
  package internal(set) var reservedNames: [String] = []
  /// 1 for `local`, 2 for `export`, since edition 2024.
  var visibility: Int32 = 0
  /// The options, including custom ones.
  package internal(set) var options: DescriptorOptions
  /// The comments.
  package internal(set) var comments = Comments()
}

/// A service.
package struct ServiceDeclaration: Sendable {
  /// A method of a service.
  package struct Method: Sendable {
    /// The name.
    package internal(set) var name = ""
    /// `pkg.Service/Method`
    package internal(set) var path = ""
    /// The full name of the request's type.
    package internal(set) var input = ""
    /// The full name of the response's type.
    package internal(set) var output = ""
    /// Whether the request is a stream.
    package internal(set) var clientStreaming = false
    /// Whether the response is a stream.
    package internal(set) var serverStreaming = false
    /// Whether it has a block for options, which may be empty.
    var hasBody = false
    /// The options, including custom ones.
    package internal(set) var options: DescriptorOptions
    /// The comments.
    package internal(set) var comments = Comments()
  }

  /// The name.
  package internal(set) var name = ""
  /// The name with the package.
  package internal(set) var fullName = ""
  /// The methods, in order.
  package internal(set) var methods: [Method] = []
  /// The options, including custom ones.
  package internal(set) var options: DescriptorOptions
  /// The comments.
  package internal(set) var comments = Comments()
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
