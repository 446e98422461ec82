import RPCurlCSchemas

/// An index of an element of a table, or `none`.
typealias Handle = Int32

extension Handle {
  static let none: Handle = -1
}

extension ContiguousArray {
  /// The element at an index of a table.
  @inline(__always)
  subscript(index: Handle) -> Element {
    get { self[Int(index)] }
    _modify { yield &self[Int(index)] }
  }

  /// The index that the next element will have.
  var nextIndex: Handle { Handle(truncatingIfNeeded: count) }
}

/// The elements of one parent in a table, linked by their `next`.
struct Children {
  var first = Handle.none
  var last = Handle.none
  var count: Int32 = 0
}

/// An element of a table that is linked with the others of its parent.
protocol Linked {
  var next: Handle { get set }
}

extension ContiguousArray where Element: Linked {
  /// Appends an element as the last one of its parent.
  @discardableResult
  mutating func append(_ element: Element, to children: inout Children) -> Handle {
    let index = nextIndex
    append(element)
    if children.last == .none { children.first = index } else { self[children.last].next = index }
    children.last = index
    children.count += 1
    return index
  }
}

/// What all declarations have.
struct Declaration {
  var name = Name.empty
  /// Its symbol; `none` before it is declared.
  var symbol = Handle.none
  /// What only the compilation of its own file needs: an index into `FileTables.sites`.
  var site = Handle.none
  /// The serialized options in `Schema.optionBytes`.
  var options = ByteRange()
  var features = Features()
}

struct MessageNode: Linked {
  var declaration: Declaration
  var next = Handle.none
  var file: Handle
  /// The message that contains it.
  var parent: Handle
  var fields = Children()
  var extensions = Children()
  var messages = Children()
  var enums = Children()
  var oneofs = Children()
  var extensionRanges = Children()
  var reservedRanges = Children()
  var reservedNames = Children()
  var visibility = Visibility.unset
  var isMapEntry = false
  var isMessageSet = false
  var hasRequiredField = false
}

struct FieldNode: Linked {
  var declaration: Declaration
  var next = Handle.none
  var file: Handle
  /// The message that contains the field, or the declaration of the extension; `none` for extensions at the top.
  var parent: Handle
  var number: Int32 = 0
  var label = Label.optional
  var type = FieldType.unknown
  /// The message or enum.
  var typeIndex = Handle.none
  /// The message that has the field.
  var extendee = Handle.none
  var oneof = Handle.none
  var isExtension = false
  var isProto3Optional = false
  /// It is an option that the compiled program does not keep.
  var isSourceRetention = false
  /// Its editions are limited.
  var hasFeatureSupport = false
  /// It may be set on some kinds of declarations only.
  var hasTargets = false
}

struct OneofNode: Linked {
  var declaration: Declaration
  var next = Handle.none
  var message: Handle
  /// Its number in the message.
  var position: Int32
  var fields: Int32 = 0
  var isSynthetic = false
}

struct EnumNode: Linked {
  var declaration: Declaration
  var next = Handle.none
  var file: Handle
  var parent: Handle
  var values = Children()
  var reservedRanges = Children()
  var reservedNames = Children()
  var visibility = Visibility.unset
}

struct EnumValueNode: Linked {
  var declaration: Declaration
  var next = Handle.none
  var owner: Handle
  var number: Int32 = 0
  var hasFeatureSupport = false
}

/// A range of numbers: of extensions, or a reserved one. Its end is not part of the range, save that of an enum.
struct RangeNode: Linked {
  var declaration = Declaration()
  var next = Handle.none
  var place = Place.unknown
  var start: Int32 = 0
  var end: Int32 = 0
}

struct ReservedName: Linked {
  var name: Name
  var next = Handle.none
}

struct ServiceNode: Linked {
  var declaration: Declaration
  var next = Handle.none
  var file: Handle
  var methods = Children()
}

struct MethodNode: Linked {
  var declaration: Declaration
  var next = Handle.none
  var service: Handle
  var input = Handle.none
  var output = Handle.none
  var isClientStreaming = false
  var isServerStreaming = false
  /// It ends with a block of options, which may be empty.
  var hasOptionsBlock = false
}

/// An import of a file.
struct ImportNode {
  var name: Name
  var file = Handle.none
  /// The place of its statement.
  var place = Place.unknown
  var isPublic = false
  var isWeak = false
  var isOption = false
}

struct FileNode {
  enum State: UInt8 {
    case open, done, failed
  }

  var name: Name
  var state = State.open
  var declaration = Declaration()
  var edition = Edition.proto2
  var package = Handle.none
  var imports: [ImportNode] = []
  var messages = Children()
  var enums = Children()
  var services = Children()
  var extensions = Children()
  var isLite = false
  /// It could not be compiled.
  var isBroken = false
  /// It or a file that it imports misses an import, whose options stay uninterpreted.
  var lacksImport = false
}

/// `FieldDescriptorProto.Label`
enum Label: UInt8 {
  case optional = 1
  case required = 2
  case repeated = 3
}

/// `FieldDescriptorProto.Type`
enum FieldType: UInt8 {
  case unknown
  case double, float, int64, uint64, int32, fixed64, fixed32, bool, string, group, message, bytes, uint32,
    `enum`
  case sfixed32, sfixed64, sint32, sint64

  /// The type that a keyword names.
  init?(_ name: Name) {
    switch name.id {
    case Word.double.rawValue...Word.group.rawValue: self.init(rawValue: UInt8(name.id))
    case Word.bytes.rawValue...Word.uint32.rawValue: self.init(rawValue: UInt8(name.id + 1))
    case Word.sfixed32.rawValue...Word.sint64.rawValue: self.init(rawValue: UInt8(name.id + 2))
    default: return nil
    }
  }

  var isMessage: Bool { self == .message || self == .group }
  var isText: Bool { self == .string || self == .bytes }
  /// Whether repeated fields of it can be packed.
  var isPackable: Bool { !isMessage && !isText && self != .unknown }

  /// The type of its value in C++, which messages of protoc name.
  var valueType: FieldType {
    switch self {
    case .sint32, .sfixed32, .int32: .int32
    case .sint64, .sfixed64, .int64: .int64
    case .fixed32, .uint32: .uint32
    case .fixed64, .uint64: .uint64
    default: self
    }
  }
}

/// `SymbolVisibility`
enum Visibility: UInt8 {
  case unset
  case local
  case export
}

/// `Edition`
struct Edition: RawRepresentable, Comparable {
  var rawValue: Int32

  static let legacy = Edition(rawValue: 900)
  static let proto2 = Edition(rawValue: 998)
  static let proto3 = Edition(rawValue: 999)
  static let edition2023 = Edition(rawValue: 1000)
  static let edition2024 = Edition(rawValue: 1001)
  static let edition2026 = Edition(rawValue: 1002)
  static let unstable = Edition(rawValue: 9999)

  static let newest = edition2026

  static func < (a: Edition, b: Edition) -> Bool { a.rawValue < b.rawValue }

  var isLegacy: Bool { self < .edition2023 }

  private static let names: [(text: String, number: Int32)] = [
    ("LEGACY", 900), ("PROTO2", 998), ("PROTO3", 999), ("2023", 1000), ("2024", 1001), ("2026", 1002),
    ("UNSTABLE", 9999), ("1_TEST_ONLY", 1), ("2_TEST_ONLY", 2), ("99997_TEST_ONLY", 99997),
    ("99998_TEST_ONLY", 99998), ("99999_TEST_ONLY", 99999), ("MAX", 0x7fff_ffff),
  ]

  /// The edition that a file names.
  init?(text: String) {
    guard let entry = Edition.names.first(where: { $0.text == text }) else { return nil }
    rawValue = entry.number
  }

  init(rawValue: Int32) { self.rawValue = rawValue }

  var text: String { Edition.names.first { $0.number == rawValue }?.text ?? String(rawValue) }
}

/// What a full name means.
struct Symbol {
  enum Kind: UInt8 {
    case package, message, field, oneof, `enum`, value, service, method
  }

  var kind: Kind
  var name: Name
  /// The symbol of its scope; `none` for the root of all packages.
  var parent: Handle
  /// The first file that declares it.
  var file: Handle
  /// Its index in the table of its kind.
  var index: Handle

  var isType: Bool { kind == .message || kind == .enum }
  /// Whether it can contain others.
  var isAggregate: Bool { kind == .message || kind == .package || kind == .enum || kind == .service }
}

/// All declarations of all files. Parents refer to their children, and fields to their types, by index.
struct Schema {
  var files = ContiguousArray<FileNode>()
  var messages = ContiguousArray<MessageNode>()
  var fields = ContiguousArray<FieldNode>()
  var oneofs = ContiguousArray<OneofNode>()
  var enums = ContiguousArray<EnumNode>()
  var values = ContiguousArray<EnumValueNode>()
  var ranges = ContiguousArray<RangeNode>()
  var reservedNames = ContiguousArray<ReservedName>()
  var services = ContiguousArray<ServiceNode>()
  var methods = ContiguousArray<MethodNode>()
  /// The serialized options of all declarations.
  var optionBytes = ContiguousArray<UInt8>()
  private(set) var symbols = ContiguousArray<Symbol>()
  /// Symbols by scope and name.
  private var members: PairTable
  /// Extensions by message and number.
  private var extensions: PairTable
  /// The extension ranges of messages that have many.
  private var manyRanges: [Handle: RangeSearch] = [:]
  /// What the present check has seen.
  var marks = Marks()

  /// The symbol of the package without a name, and of the one that holds the declarations of the compiler itself, which no file
  /// sees.
  static let root: Handle = 0
  static let hiddenRoot: Handle = 1

  /// Takes the place of a schema that is moved out for a while.
  static let placeholder = Schema(capacity: 0)

  private init(capacity: Int) {
    members = PairTable(capacity: capacity)
    extensions = PairTable(capacity: capacity)
  }

  init() {
    self.init(capacity: 256)
    for _ in 0..<2 {
      symbols.append(Symbol(kind: .package, name: .empty, parent: .none, file: .none, index: .none))
    }
  }

  /// Makes a symbol that no lookup finds before `declare`.
  mutating func makeSymbol(_ symbol: Symbol) -> Handle {
    symbols.append(symbol)
    return symbols.nextIndex - 1
  }

  /// Declares a symbol under the name of another declaration of its scope, or its own. Returns the symbol that has the name already.
  mutating func declare(_ symbol: Handle) -> Handle? {
    let found = symbols[symbol]
    return members.insert(found.parent, Handle(bitPattern: found.name.id), symbol)
  }

  /// The symbol of a name in a scope; `none` if there is none.
  @inline(__always)
  func member(_ name: Name, of scope: Handle) -> Handle { members[scope, Handle(bitPattern: name.id)] }

  /// Registers an extension. Returns the one that has its number already.
  mutating func register(_ field: Handle, of message: Handle, number: Int32) -> Handle? {
    extensions.insert(message, number, field)
  }

  /// The field with a name in a message, not an extension; `none` if there is none.
  func field(_ name: Name, of message: Handle) -> Handle {
    let symbol = member(name, of: messages[message].declaration.symbol)
    guard symbol != .none, symbols[symbol].kind == .field, !fields[symbols[symbol].index].isExtension else {
      return .none
    }
    return symbols[symbol].index
  }

  /// The field or extension with a number in a message; `none` if there is none.
  func field(number: Int32, of message: Handle) -> Handle {
    var field = messages[message].fields.first
    while field != .none {
      if fields[field].number == number { return field }
      field = fields[field].next
    }
    return extensions[message, number]
  }

  /// The value with a name in an enum; `none` if there is none.
  func value(_ name: Name, of owner: Handle) -> Handle {
    let symbol = member(name, of: symbols[enums[owner].declaration.symbol].parent)
    guard symbol != .none, symbols[symbol].kind == .value, values[symbols[symbol].index].owner == owner else {
      return .none
    }
    return symbols[symbol].index
  }

  /// The first value with a number in an enum; `none` if there is none.
  func value(number: Int32, of owner: Handle) -> Handle {
    var value = enums[owner].values.first
    while value != .none, values[value].number != number { value = values[value].next }
    return value
  }

  /// The extension range of a message with a number; `none` if there is none.
  mutating func extensionRange(containing number: Int32, of message: Handle) -> Handle {
    let all = messages[message].extensionRanges
    guard all.count < 16 else {
      let search = manyRanges[message] ?? RangeSearch(all, self)
      manyRanges[message] = search
      return search.overlapping(Int(number), Int(number)).first?.range ?? .none
    }
    var range = messages[message].extensionRanges.first
    while range != .none, !(ranges[range].start <= number && number < ranges[range].end) {
      range = ranges[range].next
    }
    return range
  }

  /// Appends the bytes of a symbol's full name.
  func appendFullName(of symbol: Handle, _ names: borrowing Names, to bytes: inout ContiguousArray<UInt8>) {
    let found = symbols[symbol]
    if found.parent > Schema.hiddenRoot {
      appendFullName(of: found.parent, names, to: &bytes)
      bytes.append(UInt8(ascii: "."))
    }
    names.withBytes(found.name) { bytes.append(contentsOf: $0) }
  }
}

/// A hash table from pairs of numbers to indices.
struct PairTable {
  private struct Slot {
    var key: UInt64 = 0
    var value = Handle.none
  }

  private var slots: ContiguousArray<Slot>
  private(set) var count = 0
  /// A file must not be able to contain many pairs with the same place.
  private let secret = rpcurl_name_hash_mask()

  init(capacity: Int) { slots = ContiguousArray(repeating: Slot(), count: capacity) }

  private static func key(_ a: Int32, _ b: Int32) -> UInt64 {
    UInt64(UInt32(bitPattern: a)) << 32 | UInt64(UInt32(bitPattern: b))
  }

  /// The place of a key, or the free one where it belongs.
  @inline(__always)
  private func place(_ key: UInt64) -> Int {
    let mask = slots.count - 1
    var hash = (key ^ secret) &* 0x9e37_79b9_7f4a_7c15
    hash ^= hash >> 32
    var place = Int(truncatingIfNeeded: (hash &* 0xd6e8_feb8_6659_fd93) >> 32) & mask
    while slots[place].value != .none, slots[place].key != key { place = (place + 1) & mask }
    return place
  }

  @inline(__always)
  subscript(a: Int32, b: Int32) -> Handle { slots[place(PairTable.key(a, b))].value }

  /// Adds a pair. Returns the value that it has already.
  mutating func insert(_ a: Int32, _ b: Int32, _ value: Handle) -> Handle? {
    let key = PairTable.key(a, b)
    let place = place(key)
    if slots[place].value != .none { return slots[place].value }
    slots[place] = Slot(key: key, value: value)
    count += 1
    if count * 2 > slots.count { grow() }
    return nil
  }

  private mutating func grow() {
    let old = slots
    slots = ContiguousArray(repeating: Slot(), count: old.count * 2)
    for slot in old where slot.value != .none { slots[place(slot.key)] = slot }
  }
}

/// What was seen in one check: a number for each key. The memory is that of the check before, and no type of dictionary is made.
struct Marks {
  private var table = PairTable(capacity: 64)
  private var round: Int32 = 0

  /// Begins another check.
  mutating func begin() {
    round += 1
    guard table.count > 4096 else { return }
    table = PairTable(capacity: 64)
    round = 0
  }

  /// Notes a number for a key. Returns the one that it has already.
  mutating func insert(_ key: Int32, _ value: Handle = 0) -> Handle? { table.insert(round, key, value) }

  mutating func insert(_ name: Name, _ value: Handle = 0) -> Handle? {
    insert(Int32(bitPattern: name.id), value)
  }

  subscript(key: Int32) -> Handle { table[round, key] }
  subscript(name: Name) -> Handle { self[Int32(bitPattern: name.id)] }
}
