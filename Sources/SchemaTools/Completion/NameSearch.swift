import RPCurlProtobuf

/// Finds names in descriptor sets by a prefix or suffix, without unpacking files.
///
/// Completion requires a response without noticeable delay, for sets of any size. So nothing is stored for
/// names that do not match, and files of other packages are skipped.
package struct NameSearch {
  /// A declared name that matches.
  package struct Match: Equatable, Sendable {
    /// The typed text with the rest of the name, in the case of the name.
    package let text: String
    /// The full name: `pkg.Message.field`; for methods `pkg.Service/Method`.
    package let name: String
    /// The kind of the declaration.
    package let kind: SymbolKind
    /// The types of a method.
    package let method: MethodOutline?

    /// Makes a match that was found in another way.
    package init(text: String, name: String, kind: SymbolKind, method: MethodOutline? = nil) {
      self.text = text
      self.name = name
      self.kind = kind
      self.method = method
    }
  }

  /// The types of a method.
  package struct MethodOutline: Equatable, Sendable {
    /// The full name of the type of request messages.
    package var input = ""
    /// The full name of the type of response messages.
    package var output = ""
    /// Whether the request is a stream.
    package var clientStreaming = false
    /// Whether the response is a stream.
    package var serverStreaming = false
  }

  /// The result of a search.
  package struct Answer: Equatable, Sendable {
    /// The names; if there are more than `crowd`, only those that are not in a package below the typed one.
    package var matches: [Match] = []
    /// Package names up to the next dot, such as `google.cloud.`, if there are too many names.
    package var packages: [String] = []
  }

  /// The part of names to match.
  package enum Part: Sendable {
    /// The beginning of full names.
    case beginning
    /// The end of names, such as `Demo/Hello`.
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
  ///   - sets: The descriptor sets.
  ///   - crowd: The number of names above which their packages are returned instead.
  ///   - limit: The maximum number of names.
  ///   - isOver: Called at intervals; once it returns true, the search returns what it has found.
  package init(_ sets: [SchemaBytes], crowd: Int, limit: Int, isOver: @escaping () -> Bool) {
    self.sets = sets
    self.crowd = crowd
    self.limit = limit
    self.isOver = isOver
    // Invalid sets are ignored.
    var files = SchemaFiles()
    for (number, set) in sets.enumerated() { try? files.append(set.bytes, source: number) }
    self.files = files
  }

  /// The matching names of these kinds, in the order of the sets; if there are none, those that match in another case.
  package func names(_ part: Part, _ typed: String, _ kinds: Set<SymbolKind>) -> Answer {
    let exact = names(part, typed, kinds, ignoresCase: false)
    let isFound = !exact.matches.isEmpty || !exact.packages.isEmpty
    return isFound || typed.isEmpty || isOver() ? exact : names(part, typed, kinds, ignoresCase: true)
  }

  private func names(
    _ part: Part, _ typed: String, _ kinds: Set<SymbolKind>, ignoresCase: Bool
  ) -> Answer {
    let scanner = NameScanner(part, typed, kinds, ignoresCase: ignoresCase, crowd: crowd, limit: limit)
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

/// Scans the declarations of files, with the current full name in one buffer.
private final class NameScanner {
  typealias Malformed = DescriptorSetScanner.Malformed

  private let part: NameSearch.Part
  /// In lower case if case is ignored.
  private let typed: [UInt8]
  private let ignoresCase: Bool
  /// The typed last part of a name, and the number of complete parts before it.
  private let typedLast: [UInt8]
  private let partsBefore: Int
  private let kinds: Set<SymbolKind>
  private let intoMessages: Bool
  private let crowd: Int
  private let limit: Int
  private var name: [UInt8] = []
  /// The package up to the next dot after the typed text; `nil` if that is within the package.
  private var group: String?
  private var count = 0
  private var matches: [(match: NameSearch.Match, isGrouped: Bool)] = []
  private var groups: [String] = []
  private var knownGroups: Set<String> = []
  private var seen: Set<String> = []

  init(
    _ part: NameSearch.Part, _ typed: String, _ kinds: Set<SymbolKind>, ignoresCase: Bool, crowd: Int,
    limit: Int
  ) {
    self.part = part
    self.ignoresCase = ignoresCase
    let typed = typed.utf8.map { ignoresCase ? Self.lowercased($0) : $0 }
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
      guard zip(name + [UInt8(ascii: ".")], typed).allSatisfy(isSame) else { return }
      if typed.count <= name.count {
        let end = name[typed.count...].firstIndex(of: UInt8(ascii: ".")) ?? name.endIndex
        group = String(decoding: name[..<end], as: UTF8.self) + "."
      }
    }
    // Declarations read before the damage of a file are valid.
    try? DescriptorSetScanner.fields(of: file.bytes) { (tag, value) throws(Malformed) in
      // Above the crowd limit, one name per package is enough.
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

  /// Checks the name first, which rules out most messages.
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
    // Suggest members only once their parent has been typed.
    guard kinds.contains(kind), part == .end || kind == .extensionField || typed.count > name.count,
      let own = try DescriptorSetScanner.firstName(of: bytes)
    else { return }
    guard mayEnd(with: own) else { return }
    let length = push(own, UInt8(ascii: "."))
    defer { name.removeLast(name.count - length) }
    consider(kind)
  }

  // MARK: Names

  /// Appends a name to the current one; returns the previous length.
  private func push(_ own: UnsafeRawBufferPointer, _ separator: UInt8) -> Int {
    let length = name.count
    if length > 0 { name.append(separator) }
    name.append(contentsOf: own)
    return length
  }

  /// Whether the current name, or one within it, may match the prefix.
  private var isOnTheWay: Bool {
    part == .end || zip(name, typed).allSatisfy(isSame)
  }

  private func consider(_ kind: SymbolKind, _ method: UnsafeRawBufferPointer? = nil) {
    guard kinds.contains(kind), let start else { return }
    count += 1
    if let group, knownGroups.insert(group).inserted { groups.append(group) }
    guard matches.count < limit, group == nil || count <= crowd else { return }
    let text = String(decoding: spelled(from: start), as: UTF8.self)
    guard seen.insert(text).inserted else { return }
    matches.append(
      (
        NameSearch.Match(
          text: text, name: String(decoding: name, as: UTF8.self), kind: kind, method: method.map(outline)),
        group != nil
      ))
  }

  /// The current name from an index on, with the separators that were typed.
  private func spelled(from start: Int) -> [UInt8] {
    zip(name[start...], typed).map { Self.isSeparator($1) ? $1 : $0 } + name[(start + typed.count)...]
  }

  /// Whether a byte of a name is a typed one.
  private func isSame(_ own: UInt8, _ typed: UInt8) -> Bool {
    own == typed || ignoresCase && Self.lowercased(own) == typed
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  private static func isSeparator(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/")
  }

  /// Whether a name with this last part may match; a quick check that rules out most names.
  private func mayEnd(with own: UnsafeRawBufferPointer) -> Bool {
    part == .beginning || own.starts(with: typedLast, by: isSame)
  }

  /// The start of the match in the current name: for a suffix, as many parts from the right as were typed.
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

  /// Also treats `Service.Method` as `Service/Method`.
  private func isTyped(at start: Int) -> Bool {
    guard typed.count <= name.count - start else { return false }
    for (index, byte) in typed.enumerated() {
      let own = name[start + index]
      guard isSame(own, byte) || own == UInt8(ascii: "/") && byte == UInt8(ascii: ".") else { return false }
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
