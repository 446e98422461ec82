/// A `.proto` file as its descriptor has it: everything that it declares, with comments where the source of the
/// schema keeps them.
///
/// It is what was written, where ``MessageType``, ``Field`` and their like are what it means: features are not
/// resolved, types are names.
public struct FileDeclaration: Sendable {
  /// What the first line says.
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
      /// For the file itself.
      case plain = ""
      /// For those too that import the file.
      case `public`
      /// Of a file that may be missing.
      case weak
      /// For options only, since edition 2024.
      case option
    }

    /// The file's name.
    public let name: String
    /// How it is imported.
    public let kind: Kind
  }

  /// The name, as others import it.
  public internal(set) var name = ""
  /// The package; empty when there is none.
  public internal(set) var package = ""
  /// What the first line says.
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
  /// The options, with the custom ones.
  public internal(set) var options: DescriptorOptions
  /// What is said about the syntax line: licences and the like.
  public internal(set) var comments = Comments()
  /// What is said about the package.
  public internal(set) var packageComments = Comments()
}

/// What is said about a declaration.
public struct Comments: Sendable, Equatable {
  /// Before the declaration, apart from it.
  public internal(set) var detached: [String] = []
  /// Right before the declaration.
  public internal(set) var leading = ""
  /// Behind it.
  public internal(set) var trailing = ""

  /// What explains the declaration, without white space around it; empty when there is nothing.
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
  /// The numbers that extensions may have.
  public struct ExtensionRange: Sendable {
    /// The numbers.
    public let numbers: Range<Int64>
    /// The options, with declarations.
    public let options: DescriptorOptions
  }

  /// A oneof, or what stands for `optional` in proto3.
  public struct Oneof: Sendable {
    /// The name.
    public let name: String
    /// The options, with the custom ones.
    public let options: DescriptorOptions
    /// What is said about it.
    public let comments: Comments
  }

  /// The name.
  public internal(set) var name = ""
  /// The name with package and outer messages.
  public internal(set) var fullName = ""
  /// The fields, in order.
  public internal(set) var fields: [FieldDeclaration] = []
  /// The oneofs, in order; those that stand for `optional` too.
  public internal(set) var oneofs: [Oneof] = []

  /// The oneofs that a .proto file has: without those that stand for `optional`.
  public var writtenOneofs: [Oneof] {
    let synthetic = Set(fields.lazy.filter(\.isProto3Optional).compactMap(\.oneofIndex))
    return oneofs.indices.filter { !synthetic.contains($0) }.map { oneofs[$0] }
  }
  /// The messages in it, in order; those that maps and groups declare too.
  public internal(set) var messages: [MessageDeclaration] = []
  /// The enums in it, in order.
  public internal(set) var enums: [EnumDeclaration] = []
  /// The extensions in it, in order, which may be of any message.
  public internal(set) var extensions: [FieldDeclaration] = []
  /// The numbers that extensions of it may have.
  public internal(set) var extensionRanges: [ExtensionRange] = []
  /// Numbers that no field may have.
  public internal(set) var reservedNumbers: [Range<Int64>] = []
  /// Names that no field may have.
  public internal(set) var reservedNames: [String] = []
  /// Whether it holds the entries of a map.
  public internal(set) var isMapEntry = false
  /// 1 for `local`, 2 for `export`, since edition 2024.
  var visibility: Int32 = 0
  /// The options, with the custom ones.
  public internal(set) var options: DescriptorOptions
  /// What is said about it.
  public internal(set) var comments = Comments()
}

/// A field or an extension.
public struct FieldDeclaration: Sendable {
  /// How often it may stand in a message.
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
  /// The name with that of the message around it.
  public internal(set) var fullName = ""
  /// The number.
  public internal(set) var number: Int32 = 0
  /// The label.
  public internal(set) var label = Label.optional
  /// The kind of its values.
  public internal(set) var kind = FieldKind.message
  /// The full name of the type of messages and enums.
  public internal(set) var typeName = ""
  /// For an extension the full name of the message that it extends.
  public internal(set) var extendee: String?
  /// The default that is stated.
  public internal(set) var defaultText: String?
  /// The name in JSON.
  public internal(set) var jsonName: String?
  /// The position in ``MessageDeclaration/oneofs``.
  public internal(set) var oneofIndex: Int?
  /// Whether it is marked `optional` in proto3.
  public internal(set) var isProto3Optional = false
  /// The options, with the custom ones.
  public internal(set) var options: DescriptorOptions
  /// What is said about it.
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
    /// The options, with the custom ones.
    public let options: DescriptorOptions
    /// What is said about it.
    public let comments: Comments
  }

  /// The name.
  public internal(set) var name = ""
  /// The name with package and outer messages.
  public internal(set) var fullName = ""
  /// The values, in order.
  public internal(set) var values: [Value] = []
  /// Numbers that no value may have.
  public internal(set) var reservedNumbers: [ClosedRange<Int32>] = []
  /// Names that no value may have.
  public internal(set) var reservedNames: [String] = []
  /// 1 for `local`, 2 for `export`, since edition 2024.
  var visibility: Int32 = 0
  /// The options, with the custom ones.
  public internal(set) var options: DescriptorOptions
  /// What is said about it.
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
    /// The options, with the custom ones.
    public internal(set) var options: DescriptorOptions
    /// What is said about it.
    public internal(set) var comments = Comments()
  }

  /// The name.
  public internal(set) var name = ""
  /// The name with the package.
  public internal(set) var fullName = ""
  /// The methods, in order.
  public internal(set) var methods: [Method] = []
  /// The options, with the custom ones.
  public internal(set) var options: DescriptorOptions
  /// What is said about it.
  public internal(set) var comments = Comments()
}

extension String {
  /// Without white space at both ends.
  fileprivate func trimmed() -> String {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
