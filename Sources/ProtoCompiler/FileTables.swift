/// An offset in a source, or `unknown`.
struct Place: Equatable {
  var offset: UInt32

  static var unknown: Place { Place(offset: .max) }

  init(_ token: Token) { offset = UInt32(truncatingIfNeeded: token.start) }

  init(offset: UInt32) { self.offset = offset }
}

/// What the parser found about a declaration, for the compilation of its file only.
struct Site {
  /// The places that errors of the name and of the number refer to.
  var name = Place.unknown
  var number = Place.unknown
  var options = Children()
  /// What the options set, after they are interpreted.
  var interpreted = InterpretedOptions()
}

/// The state of the options of one declaration.
struct InterpretedOptions {
  var bytes = ByteRange()
  /// The bytes without the options that only sources have, if there are such options.
  var stripped: ByteRange?
  /// Whether the stripped bytes lack the options as a whole.
  var isStrippedCompletely = false
  /// The values that are set explicitly.
  var features = Features()
  var hasFeatures = false
  var needsLifetimeCheck = false
  var needsTargetCheck = false
}

/// What the parser found about a field.
struct FieldSite {
  var type = Handle.none
  var extendee = Handle.none
  var typePlace = Place.unknown
  var extendeePlace = Place.unknown
  var defaultPlace = Place.unknown
  var jsonPlace = Place.unknown
  var defaultValue: ByteRange?
  var jsonName: ByteRange?
  var hasType = false
}

struct MethodSite {
  var input = Handle.none
  var output = Handle.none
  var inputPlace = Place.unknown
  var outputPlace = Place.unknown
}

/// A name with dots as the source has it.
struct Reference {
  /// Its parts in `FileTables.words`.
  var first: Int32
  var count: Int32
  /// It begins with a dot.
  var isAbsolute: Bool
}

/// An option before its interpretation.
struct OptionNode: Linked {
  enum Value {
    case none
    case identifier(Name)
    case positive(UInt64)
    case negative(Int64)
    case number(Double)
    /// A range of `FileTables.texts`.
    case string(ByteRange)
    /// A range of the source between braces, and whether it has comments of the language.
    case aggregate(Range<Int>, hasComments: Bool)
  }

  var next = Handle.none
  /// The parts of its name in `FileTables.nameParts`.
  var firstPart: Int32 = 0
  var partCount: Int32 = 0
  var value = Value.none
  var namePlace = Place.unknown
  var valuePlace = Place.unknown
  /// The field in `FileTables.optionBytes`.
  var bytes = ByteRange()
  /// The path of the field from the options message, in `FileTables.paths`.
  var path = ByteRange()
  var isInterpreted = false
  /// The extension that it names is in an import that was not found.
  var isLeftUninterpreted = false
  /// Only sources have the field that it sets.
  var isSourceRetention = false
  /// Only sources have it or a part of its value.
  var needsStripping = false
  /// The declaration's options are removed as a whole.
  var isOwnerStripped = false
}

/// A part of an option's name: a field, or an extension in parentheses.
struct NamePart {
  var reference: Handle
  var isExtension: Bool
}

/// The place of a declaration or a part of it, for `SourceCodeInfo`. Its path is that of its parent with one or two numbers more.
struct Location {
  var parent: Handle
  var first: Int32
  var second: Int32
  var startLine: Int32
  var startColumn: Int32
  var endLine: Int32 = -1
  var endColumn: Int32 = 0
  /// An index into `FileTables.comments`.
  var comments = Handle.none
  /// The option that it is about: an index of an option, or the complement of one for the options of a declaration as a whole.
  var option = OptionMark.none

  enum OptionMark {
    case none
    case option(Handle)
    case block(Handle)
  }
}

struct LocationComments {
  var leading: ByteRange
  var trailing: ByteRange
  var detached: [ByteRange]
}

/// The tables of one file that are not needed after it is compiled.
struct FileTables {
  var file: Handle
  var source: [UInt8]
  var sites = ContiguousArray<Site>()
  /// The indices of the file's first field and method, and what was found about them and the following ones.
  var firstField: Handle = 0
  var fields = ContiguousArray<FieldSite>()
  var firstMethod: Handle = 0
  var methods = ContiguousArray<MethodSite>()
  var references = ContiguousArray<Reference>()
  var words = ContiguousArray<Name>()
  var options = ContiguousArray<OptionNode>()
  var nameParts = ContiguousArray<NamePart>()
  var paths = ContiguousArray<Int32>()
  var texts = ContiguousArray<UInt8>()
  var optionBytes = ContiguousArray<UInt8>()
  var locations = ContiguousArray<Location>()
  var comments = ContiguousArray<LocationComments>()
  var commentBytes = ContiguousArray<UInt8>()
  /// The places of the package and of the syntax or edition.
  var packagePlace = Place.unknown
  var syntaxPlace = Place.unknown

  init(file: Handle, source: [UInt8]) {
    self.file = file
    self.source = source
  }

  mutating func makeSite(name: Place = .unknown, number: Place = .unknown) -> Handle {
    sites.append(Site(name: name, number: number))
    return sites.nextIndex - 1
  }

  /// The text of a reference with dots.
  func text(_ reference: Handle, _ names: borrowing Names) -> String {
    let found = references[reference]
    var text = found.isAbsolute ? "." : ""
    for index in 0..<found.count {
      if index > 0 { text += "." }
      text += names[words[found.first + index]]
    }
    return text
  }
}
