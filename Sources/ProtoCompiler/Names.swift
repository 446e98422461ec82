import RPCurlCSchemas

/// An interned text: an identifier, the name of a file or another short run of bytes. Two equal texts have one name.
struct Name: Hashable {
  var id: UInt32

  /// The empty text.
  static let empty = Name(Word.empty)

  init(id: UInt32) { self.id = id }

  init(_ word: Word) { id = word.rawValue }

  /// Whether the name is this word of the language.
  static func == (name: Name, word: Word) -> Bool { name.id == word.rawValue }
  static func != (name: Name, word: Word) -> Bool { name.id != word.rawValue }
}

/// The words that the compiler itself compares names with. Each table of names begins with them, so that such a comparison is one
/// of numbers.
enum Word: UInt32, CaseIterable {
  // The order of the types is that of `FieldDescriptorProto.Type`, less the three that no keyword names.
  case empty
  case double, float, int64, uint64, int32, fixed64, fixed32, bool, string, group, bytes, uint32, sfixed32,
    sfixed64, sint32, sint64
  case syntax, edition, package, `import`, option, message, `enum`, service, extend, extensions, reserved,
    oneof, rpc, returns, stream
  case map, optional, required, repeated, `public`, weak, export, local, to, max, `default`, json_name,
    `true`, `false`, inf, nan
  case key, value, features, enforce_utf8, map_entry, message_set_wire_format, allow_alias,
    uninterpreted_option, google, protobuf
  case FileOptions, MessageOptions, FieldOptions, OneofOptions, EnumOptions, EnumValueOptions, ServiceOptions,
    MethodOptions
  case ExtensionRangeOptions, FeatureSet, `Any`, type_url, True, t, False, f, descriptor, infinity

  /// The names of all words, in their order.
  static let texts: StaticString = """
     double float int64 uint64 int32 fixed64 fixed32 bool string group bytes uint32 sfixed32 sfixed64 sint32 sint64 \
    syntax edition package import option message enum service extend extensions reserved oneof rpc returns stream \
    map optional required repeated public weak export local to max default json_name true false inf nan \
    key value features enforce_utf8 map_entry message_set_wire_format allow_alias uninterpreted_option google protobuf \
    FileOptions MessageOptions FieldOptions OneofOptions EnumOptions EnumValueOptions ServiceOptions MethodOptions \
    ExtensionRangeOptions FeatureSet Any type_url True t False f descriptor infinity
    """
}

/// A table of interned texts.
struct Names {
  /// A text in `bytes`.
  private struct Entry {
    var start: UInt32
    var count: UInt32
    var hash: UInt32
  }

  private var bytes = ContiguousArray<UInt8>()
  private var entries = ContiguousArray<Entry>()
  /// Indices of entries plus one, at the place that the hash of the text selects or at the next free one after it; 0 is free.
  private var slots: ContiguousArray<UInt32>

  /// Takes the place of a table that is moved out for a while.
  static let placeholder = Names(slots: [])

  private init(slots: ContiguousArray<UInt32>) { self.slots = slots }

  init() {
    slots = ContiguousArray(repeating: 0, count: 1024)
    var start = 0
    let texts = Word.texts.utf8Start
    for end in 0...Word.texts.utf8CodeUnitCount
    where end == Word.texts.utf8CodeUnitCount || texts[end] == UInt8(ascii: " ") {
      _ = intern(texts + start, end - start)
      start = end + 1
    }
  }

  /// The start value of a hash: a file must not be able to contain many names with the same one.
  let seed = UInt32(truncatingIfNeeded: rpcurl_name_hash_seed())

  /// The hash of a text that is continued by one byte.
  @inline(__always)
  static func hash(_ hash: UInt32, _ byte: UInt8) -> UInt32 { (hash ^ UInt32(byte)) &* 0x0100_0193 }

  mutating func intern(_ text: UnsafePointer<UInt8>, _ count: Int) -> Name {
    var hash = seed
    for index in 0..<count { hash = Names.hash(hash, text[index]) }
    return intern(text, count, hash: hash)
  }

  mutating func intern(_ text: String) -> Name {
    var text = text
    return text.withUTF8 { utf8 in
      guard let base = utf8.baseAddress else { return .empty }
      return intern(base, utf8.count)
    }
  }

  /// Interns a text of `count` bytes whose hash is known.
  mutating func intern(_ text: UnsafePointer<UInt8>, _ count: Int, hash: UInt32) -> Name {
    let mask = slots.count - 1
    var slot = Names.slot(hash) & mask
    while true {
      let value = slots[slot]
      if value == 0 { break }
      let entry = entries[Int(value - 1)]
      if entry.hash == hash, entry.count == UInt32(truncatingIfNeeded: count), matches(text, count, entry) {
        return Name(id: value - 1)
      }
      slot = (slot + 1) & mask
    }
    let id = UInt32(truncatingIfNeeded: entries.count)
    entries.append(
      Entry(
        start: UInt32(truncatingIfNeeded: bytes.count), count: UInt32(truncatingIfNeeded: count), hash: hash))
    bytes.append(contentsOf: UnsafeBufferPointer(start: text, count: count))
    slots[slot] = id + 1
    if entries.count * 2 > slots.count { grow() }
    return Name(id: id)
  }

  private static func slot(_ hash: UInt32) -> Int { Int((hash &* 0x9e37_79b1) >> 4) }

  private func matches(_ text: UnsafePointer<UInt8>, _ count: Int, _ entry: Entry) -> Bool {
    bytes.withUnsafeBufferPointer { known in
      let start = Int(entry.start)
      for index in 0..<count where known[start + index] != text[index] { return false }
      return true
    }
  }

  private mutating func grow() {
    slots = ContiguousArray(repeating: 0, count: slots.count * 4)
    let mask = slots.count - 1
    for (id, entry) in entries.enumerated() {
      var slot = Names.slot(entry.hash) & mask
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = UInt32(truncatingIfNeeded: id) + 1
    }
  }

  /// The number of bytes of a name.
  func count(_ name: Name) -> Int { Int(entries[Int(name.id)].count) }

  /// Calls `body` with the bytes of a name.
  @inline(__always)
  func withBytes<R>(_ name: Name, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    let entry = entries[Int(name.id)]
    return bytes.withUnsafeBufferPointer { all in
      body(UnsafeBufferPointer(rebasing: all[Int(entry.start)..<Int(entry.start + entry.count)]))
    }
  }

  /// The text of a name; bytes that are not UTF-8 are replaced.
  subscript(name: Name) -> String { withBytes(name) { String(decoding: $0, as: UTF8.self) } }
}
