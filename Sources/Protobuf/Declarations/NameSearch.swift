/// Finds names in descriptor sets by how they begin, as a person types them, without unpacking any file.
///
/// This is for completion: it must answer before a person notices, whatever the size of the sets. So nothing is kept
/// of what does not match, and files of other packages are passed over.
public struct NameSearch {
  /// A declared name that goes on from what was typed.
  public struct Match: Equatable, Sendable {
    /// What was typed and the rest of the name.
    public let text: String
    /// The full name: `pkg.Message.field`; for methods `pkg.Service/Method`.
    public let name: String
    /// What it stands for.
    public let kind: SymbolKind
    /// Of a method, what it takes and gives.
    public let method: MethodOutline?

    /// A name that was found in another way.
    public init(text: String, name: String, kind: SymbolKind, method: MethodOutline? = nil) {
      self.text = text
      self.name = name
      self.kind = kind
      self.method = method
    }
  }

  /// What a method takes and gives.
  public struct MethodOutline: Equatable, Sendable {
    /// The full name of the type of request messages.
    public var input = ""
    /// The full name of the type of response messages.
    public var output = ""
    /// Whether the request is a stream.
    public var clientStreaming = false
    /// Whether the response is a stream.
    public var serverStreaming = false
  }

  /// What was found.
  public struct Answer: Equatable, Sendable {
    /// The names; when there are more than `crowd`, those only that are in no package below what was typed.
    public var matches: [Match] = []
    /// Packages as far as the next dot, such as `google.cloud.`, when there are too many names to tell.
    public var packages: [String] = []
  }

  /// Which names are meant.
  public enum Part: Sendable {
    /// Full names that begin with what was typed.
    case beginning
    /// Ends of names, such as `Demo/Hello`, that do.
    case end
  }

  private let sets: [SchemaBytes]
  private let files: SchemaFiles
  private let crowd: Int
  private let limit: Int
  private let isOver: () -> Bool

  /// Makes a search.
  ///
  /// - Parameters:
  ///   - crowd: How many names are told before their packages are told instead.
  ///   - limit: How many names are told at most.
  ///   - isOver: Asked now and then; when it says so, what was found by then is the answer.
  public init(_ sets: [SchemaBytes], crowd: Int, limit: Int, isOver: @escaping () -> Bool) {
    self.sets = sets
    self.crowd = crowd
    self.limit = limit
    self.isOver = isOver
    // What cannot be read has no names to tell.
    var files = SchemaFiles()
    for (number, set) in sets.enumerated() { try? files.append(set.bytes, source: number) }
    self.files = files
  }

  /// The names of these kinds that go on from `typed`, in the order of the sets.
  public func names(_ part: Part, _ typed: String, _ kinds: Set<SymbolKind>) -> Answer {
    let scanner = NameScanner(part, typed, kinds, crowd: crowd, limit: limit)
    // The files point into the sets.
    withExtendedLifetime(sets) {
      for (index, file) in files.enumerated() {
        if index % 64 == 63, isOver() { break }
        scanner.look(into: file)
      }
    }
    return scanner.answer
  }
}

/// Walks through the declarations of files, with the full name of where it is in one buffer.
private final class NameScanner {
  typealias Malformed = DescriptorSetScanner.Malformed

  private let part: NameSearch.Part
  private let typed: [UInt8]
  /// What was typed of the last part of a name, and how many whole parts stand before it.
  private let typedLast: [UInt8]
  private let partsBefore: Int
  private let kinds: Set<SymbolKind>
  private let intoMessages: Bool
  private let crowd: Int
  private let limit: Int
  private var name: [UInt8] = []
  /// The package as far as the next dot behind what was typed; `nil` where that is within the package already.
  private var group: String?
  private var count = 0
  private var matches: [(match: NameSearch.Match, isGrouped: Bool)] = []
  private var groups: [String] = []
  private var knownGroups: Set<String> = []
  private var seen: Set<String> = []

  init(_ part: NameSearch.Part, _ typed: String, _ kinds: Set<SymbolKind>, crowd: Int, limit: Int) {
    self.part = part
    let typed = Array(typed.utf8)
    self.typed = typed
    let separators = typed.indices.filter { Self.isSeparator(typed[$0]) }
    typedLast = Array(typed[(separators.last.map { $0 + 1 } ?? 0)...])
    partsBefore = separators.count
    self.kinds = kinds
    intoMessages = !kinds.isSubset(of: [.service, .method])
    self.crowd = crowd
    self.limit = limit
  }

  var answer: NameSearch.Answer {
    guard count > crowd, !groups.isEmpty else { return .init(matches: matches.map(\.match)) }
    return .init(matches: matches.filter { !$0.isGrouped }.map(\.match), packages: groups)
  }

  func look(into file: SchemaIndex.File) {
    name = Array(file.package)
    group = nil
    if part == .beginning, !name.isEmpty {
      guard zip(name + [UInt8(ascii: ".")], typed).allSatisfy({ $0 == $1 }) else { return }
      if typed.count <= name.count {
        let end = name[typed.count...].firstIndex(of: UInt8(ascii: ".")) ?? name.endIndex
        group = String(decoding: name[..<end], as: UTF8.self) + "."
      }
    }
    // What was read of a damaged file before the damage is good.
    try? DescriptorSetScanner.fields(of: file.bytes) { (tag, value) throws(Malformed) in
      // Of a crowd, that the package has a name is all that is told.
      if let group, count > crowd, knownGroups.contains(group) { return false }
      guard tag.wireType == .lengthDelimited else { return true }
      switch tag.number {
      case 4 where intoMessages: try message(value, depth: 1)
      case 5 where intoMessages: try enumeration(value)
      case 6: try service(value)
      case 7: try named(value, .extensionField)
      default: break
      }
      return true
    }
  }

  // MARK: Declarations

  private func message(_ bytes: UnsafeRawBufferPointer, depth: Int) throws(Malformed) {
    guard depth <= nestingLimit, let own = try DescriptorSetScanner.firstName(of: bytes), !own.isEmpty
    else { return }
    let length = push(own, UInt8(ascii: "."))
    defer { name.removeLast(name.count - length) }
    guard isOnTheWay, try !isMapEntry(bytes) else { return }
    consider(.message)
    try DescriptorSetScanner.fields(of: bytes) { (tag, value) throws(Malformed) in
      guard tag.wireType == .lengthDelimited else { return true }
      switch tag.number {
      case 2: try named(value, .field)
      case 3: try message(value, depth: depth + 1)
      case 4: try enumeration(value)
      case 6: try named(value, .extensionField)
      case 8: try named(value, .oneof)
      default: break
      }
      return true
    }
  }

  /// By its name first, which is seldom such a one.
  private func isMapEntry(_ message: UnsafeRawBufferPointer) throws(Malformed) -> Bool {
    guard name.suffix(5).elementsEqual("Entry".utf8) else { return false }
    return try DescriptorSetScanner.isMapEntry(message)
  }

  private func enumeration(_ bytes: UnsafeRawBufferPointer) throws(Malformed) {
    guard !kinds.isDisjoint(with: [.enumeration, .enumValue]),
      let own = try DescriptorSetScanner.firstName(of: bytes)
    else { return }
    let length = push(own, UInt8(ascii: "."))
    defer { name.removeLast(name.count - length) }
    guard isOnTheWay else { return }
    consider(.enumeration)
    guard kinds.contains(.enumValue) else { return }
    try DescriptorSetScanner.fields(of: bytes) { (tag, value) throws(Malformed) in
      if tag == Tag(2, .lengthDelimited) { try named(value, .enumValue) }
      return true
    }
  }

  private func service(_ bytes: UnsafeRawBufferPointer) throws(Malformed) {
    guard let own = try DescriptorSetScanner.firstName(of: bytes) else { return }
    let length = push(own, UInt8(ascii: "."))
    defer { name.removeLast(name.count - length) }
    guard isOnTheWay else { return }
    consider(.service)
    guard kinds.contains(.method) else { return }
    try DescriptorSetScanner.fields(of: bytes) { (tag, value) throws(Malformed) in
      guard tag == Tag(2, .lengthDelimited), let own = try DescriptorSetScanner.firstName(of: value) else {
        return true
      }
      guard mayEnd(with: own) else { return true }
      let length = push(own, UInt8(ascii: "/"))
      defer { name.removeLast(name.count - length) }
      consider(.method, value)
      return true
    }
  }

  private func named(_ bytes: UnsafeRawBufferPointer, _ kind: SymbolKind) throws(Malformed) {
    // Members are told when what holds them was typed: a person who begins looks for something larger.
    guard kinds.contains(kind), part == .end || kind == .extensionField || typed.count > name.count,
      let own = try DescriptorSetScanner.firstName(of: bytes)
    else { return }
    guard mayEnd(with: own) else { return }
    let length = push(own, UInt8(ascii: "."))
    defer { name.removeLast(name.count - length) }
    consider(kind)
  }

  // MARK: Names

  /// Goes on to a name within the present one; gives the length to go back to.
  private func push(_ own: UnsafeRawBufferPointer, _ separator: UInt8) -> Int {
    let length = name.count
    if length > 0 { name.append(separator) }
    name.append(contentsOf: own)
    return length
  }

  /// Whether the present name, or one within it, may begin as typed.
  private var isOnTheWay: Bool {
    part == .end || zip(name, typed).allSatisfy { $0 == $1 }
  }

  private func consider(_ kind: SymbolKind, _ method: UnsafeRawBufferPointer? = nil) {
    guard kinds.contains(kind), let start else { return }
    count += 1
    if let group, knownGroups.insert(group).inserted { groups.append(group) }
    guard matches.count < limit, group == nil || count <= crowd else { return }
    let rest = String(decoding: name[(start + typed.count)...], as: UTF8.self)
    let text = String(decoding: typed, as: UTF8.self) + rest
    guard seen.insert(text).inserted else { return }
    matches.append(
      (
        NameSearch.Match(
          text: text, name: String(decoding: name, as: UTF8.self), kind: kind, method: method.map(outline)),
        group != nil
      ))
  }

  private static func isSeparator(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/")
  }

  /// Whether a name with this last part may be meant; most are not, which is told by a glance at it.
  private func mayEnd(with own: UnsafeRawBufferPointer) -> Bool {
    part == .beginning || own.starts(with: typedLast)
  }

  /// Where what was typed stands in the present name: of an end, as many parts from the right as were typed.
  private var start: Int? {
    guard part == .end else { return isTyped(at: 0) ? 0 : nil }
    var left = partsBefore + 1
    var index = name.count
    while index > 0 {
      if Self.isSeparator(name[index - 1]) {
        left -= 1
        if left == 0 { break }
      }
      index -= 1
    }
    return left <= 1 && isTyped(at: index) ? index : nil
  }

  /// `Service.Method` is `Service/Method` too.
  private func isTyped(at start: Int) -> Bool {
    guard typed.count <= name.count - start else { return false }
    for (index, byte) in typed.enumerated() {
      let own = name[start + index]
      guard own == byte || own == UInt8(ascii: "/") && byte == UInt8(ascii: ".") else { return false }
    }
    return true
  }

  private func outline(_ method: UnsafeRawBufferPointer) -> NameSearch.MethodOutline {
    var outline = NameSearch.MethodOutline()
    try? DescriptorSetScanner.fields(
      of: method,
      varint: { number, value in
        if number == 5 { outline.clientStreaming = value != 0 }
        if number == 6 { outline.serverStreaming = value != 0 }
      }
    ) { (tag, value) throws(Malformed) in
      let type = String(
        decoding: value.first == UInt8(ascii: ".") ? .init(rebasing: value.dropFirst()) : value, as: UTF8.self
      )
      if tag == Tag(2, .lengthDelimited) { outline.input = type }
      if tag == Tag(3, .lengthDelimited) { outline.output = type }
      return true
    }
    return outline
  }
}
