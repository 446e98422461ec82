import RPCurlBase
import RPCurlProtobuf

/// Where functions, and references to the environment, get their values. This layer does no I/O.
package struct TemplateSources: Sendable {
  /// The time of day, in nanoseconds since 1970 (UTC).
  let nanosecondsSince1970: @Sendable () -> Int64
  /// The value of a variable of the environment; nil if it is not set.
  let environment: @Sendable (String) -> String?
  /// The content of a file. Throws with the reason alone, such as `no such file`.
  let file: @Sendable (String) throws(LanguageError) -> [UInt8]

  /// Makes sources.
  package init(
    nanosecondsSince1970: @escaping @Sendable () -> Int64,
    environment: @escaping @Sendable (String) -> String?,
    file: @escaping @Sendable (String) throws(LanguageError) -> [UInt8]
  ) {
    self.nanosecondsSince1970 = nanosecondsSince1970
    self.environment = environment
    self.file = file
  }
}

/// A piece of a file that is sent in pieces (`--chunk`).
package struct FilePiece: Equatable, Sendable {
  /// Its position in the file, in bytes.
  let offset: Int64
  /// Whether it is the last piece.
  let isLast: Bool

  /// Makes a piece.
  package init(offset: Int64, isLast: Bool) {
    self.offset = offset
    self.isLast = isLast
  }
}

/// The functions of templates. Their random values go on from call to call. rpcurl-language(7), VALUES.
package final class TemplateFunctions: Sendable {
  private let sources: TemplateSources
  private let random: Locked<SeededGenerator>

  /// Makes functions.
  ///
  /// - Parameters:
  ///   - sources: The clock, the environment and the files.
  ///   - seed: The seed of random values; nil for a random one.
  package init(_ sources: TemplateSources, seed: UInt64?) {
    self.sources = sources
    random = Locked(SeededGenerator(seed: seed))
  }

  /// The result of a function.
  ///
  /// - Parameters:
  ///   - function: The function.
  ///   - arguments: Its arguments, whose number is right.
  ///   - piece: The piece of a file that the text belongs to; nil if there is none.
  ///   - pool: The schema of `message(TYPE, JSON)`; nil if it is not known.
  ///   - type: A type of this schema, in place of the pool.
  /// - Throws: ``LanguageError`` if it has no result for these arguments.
  package func value(
    of function: Function, _ arguments: [JSONValue], piece: FilePiece? = nil, pool: DescriptorPool? = nil,
    schemaOf type: MessageType? = nil
  ) throws(LanguageError) -> JSONValue {
    let call = Call(function: function, arguments: arguments.map(\.plainText))
    let argument = arguments.first ?? .null
    switch function {
    case .uuid: return .string(uuid())
    case .now: return .string(try now(call))
    case .random: return .number(String(try number(call)))
    case .base64: return .string(Base64.encode(Array(call[0].utf8)))
    case .base64decode: return .string(try Self.decoded(call))
    case .count: return .number(String(try Self.count(call, argument)))
    case .regex: return .string(try Self.found(call, argument))
    case .toInt: return .number(try Self.integer(call, argument))
    case .sort: return try Self.sorted(call, argument)
    case .file: return .string(try file(call))
    case .offset, .last:
      guard let piece else { throw call.error("only the fields of a piece of --chunk have a value of it") }
      return function == .offset ? .number(String(piece.offset)) : .bool(piece.isLast)
    case .message:
      let find: (String) -> MessageType? = { name in
        if let type { return try? type.relative(named: name) }
        return try? pool?.messageType(named: name)
      }
      guard pool != nil || type != nil else { throw call.error("the schema is not known here") }
      return .string(try message(call, find, arguments.last ?? .null))
    }
  }

  /// The value of a variable of the environment.
  ///
  /// - Throws: ``LanguageError`` if it is not set.
  package func environment(_ name: String) throws(LanguageError) -> JSONValue {
    guard let text = sources.environment(name) else {
      throw LanguageError("env.\(name): the environment variable is not set")
    }
    return .string(text)
  }

  // MARK: Functions

  /// A call, for errors.
  struct Call {
    let function: Function
    let arguments: [String]

    subscript(index: Int) -> String { arguments.indices.contains(index) ? arguments[index] : "" }

    func error(_ reason: String, hint: String? = nil) -> LanguageError {
      let shown = function == .now || function == .random || function == .file ? arguments : []
      return LanguageError(
        "\(function.rawValue)(\(shown.joined(separator: ","))): \(reason)", hint: hint)
    }
  }

  /// A random UUID (RFC 9562, version 4).
  private func uuid() -> String {
    let (high, low) = random.withLock { ($0.next(), $0.next()) }
    let digits = [high & ~0xf000 | 0x4000, low & ~(0b11 << 62) | 1 << 63].map { half in
      let text = String(half, radix: 16)
      return String(repeating: "0", count: 16 - text.utf8.count) + text
    }.joined()
    var text = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { text += "-" }
      text.append(digit)
    }
    return text
  }

  /// The time in UTC (RFC 3339), with an offset such as `+1h` or `-90s`.
  private func now(_ call: Call) throws(LanguageError) -> String {
    let time = sources.nanosecondsSince1970()
    guard !call.arguments.isEmpty else { return CivilTime.text(nanosecondsSince1970: time) }
    guard let offset = Self.offset(call[0]) else {
      throw call.error("not an offset such as +1h, -30m, +90s, +500ms or +7d")
    }
    let (sum, overflow) = time.addingReportingOverflow(offset)
    guard !overflow else { throw call.error("the time is out of range") }
    return CivilTime.text(nanosecondsSince1970: sum)
  }

  /// Nanoseconds of an offset: a sign, a whole number and a unit.
  private static func offset(_ text: String) -> Int64? {
    guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
    let digits = text.dropFirst().prefix { ("0"..."9").contains($0) }
    let units: [Substring: Int64] = [
      "ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000,
      "d": 86_400_000_000_000,
    ]
    guard let number = Int64(digits), let unit = units[text.dropFirst(digits.count + 1)] else { return nil }
    let (offset, overflow) = number.multipliedReportingOverflow(by: unit)
    return overflow ? nil : sign == "-" ? -offset : offset
  }

  /// A random number between two, inclusive.
  private func number(_ call: Call) throws(LanguageError) -> Int64 {
    guard let low = Int64(call[0]), let high = Int64(call[1]), low <= high else {
      throw call.error("not two whole numbers in ascending order")
    }
    return random.withLock { Int64.random(in: low...high, using: &$0) }
  }

  /// The content of a file, without its last line end.
  private func file(_ call: Call) throws(LanguageError) -> String {
    let bytes: [UInt8]
    do throws(LanguageError) { bytes = try sources.file(call[0]) } catch { throw call.error(error.reason) }
    guard var text = String(validating: bytes, as: UTF8.self) else {
      throw call.error("not UTF-8", hint: "--set-file sends any bytes in a bytes field")
    }
    // `\r\n` is one character.
    if text.last == "\n" || text.last == "\r\n" { text.removeLast() }
    return text
  }

  /// The bytes of a message, in base64.
  private func message(
    _ call: Call, _ find: (String) -> MessageType?, _ json: JSONValue
  ) throws(LanguageError) -> String {
    let name = call[0]
    guard let type = find(name) else {
      throw LanguageError(
        "message(\(name)): the schema does not define this type",
        hint: "write the full name of a message type",
        missingName: .symbol(name))
    }
    do throws(MessageParseError) {
      return Base64.encode(try Message(type, json: Array(json.text.utf8)).serialized())
    } catch {
      throw LanguageError(
        "message(\(name)): \(error.message)", hint: error.hint, missingName: error.missingName)
    }
  }
}

extension TemplateFunctions: Equatable {
  /// Equal only to itself: its random values go on.
  package static func == (a: TemplateFunctions, b: TemplateFunctions) -> Bool { a === b }
}

/// The values of templates outside of sessions: functions, the environment and the variables of `--var`.
package struct FunctionValues: TemplateValues, Sendable {
  private let functions: TemplateFunctions
  /// The variables; nil if `--var` does not apply.
  private let variables: [String: JSONValue]?
  /// The schema of `message(TYPE, JSON)`; nil if it is not known.
  private let pool: DescriptorPool?
  /// A type of this schema, in place of the pool.
  private let type: MessageType?
  /// The piece of a file that the text belongs to; nil if there is none.
  private let piece: FilePiece?
  /// The row of data that the text is for; nil if there is none.
  private let row: JSONValue?
  /// Whether the text may read the environment and files.
  private let readsElsewhere: Bool
  /// What grants this to text that may not, for errors.
  private static let hint = "--expand=all also replaces env and file in files and standard input"

  /// Makes values.
  ///
  /// - Parameters:
  ///   - functions: The functions.
  ///   - variables: The variables; nil if `--var` does not apply.
  ///   - pool: The schema of `message(TYPE, JSON)`; nil if it is not known.
  ///   - type: A type of this schema, in place of the pool.
  ///   - piece: The piece of a file that the text belongs to; nil if there is none.
  ///   - row: The row of data that the text is for; nil if there is none.
  ///   - readsElsewhere: Whether the text may read the environment and files.
  package init(
    _ functions: TemplateFunctions, variables: [String: JSONValue]? = nil, pool: DescriptorPool?,
    schemaOf type: MessageType? = nil, piece: FilePiece? = nil, row: JSONValue? = nil,
    readsElsewhere: Bool = true
  ) {
    self.functions = functions
    self.variables = variables
    self.pool = pool
    self.type = type
    self.piece = piece
    self.row = row
    self.readsElsewhere = readsElsewhere
  }

  package func value(of reference: Reference) throws(LanguageError) -> JSONValue {
    switch reference {
    case .environment(let name):
      guard readsElsewhere else {
        throw LanguageError("env.\(name): this text must not read the environment", hint: Self.hint)
      }
      return try functions.environment(name)
    case .variable(let path):
      guard let value = variables?[reference.name] else { throw noValue(of: reference, path) }
      return try value.value(ofVariableAt: path)
    case .row(let path):
      guard let row else {
        throw LanguageError(
          "\(reference): no row here",
          hint:
            "--rows FILE makes a call for each row, with its values in -d and --set; in a suite, rows FILE")
      }
      return try path.map { path throws(LanguageError) in try row.value(at: path, "\(reference)") } ?? row
    case .last: throw LanguageError("\(reference): only sessions and suites have a last call")
    case .request: throw LanguageError("\(reference): only stubs of mock have a request")
    }
  }

  private func noValue(of reference: Reference, _ path: FieldPath) -> LanguageError {
    let name = path.steps.count == 1 ? "\(path)" : "NAME"
    let written = "write ${env.\(name)} for the environment, ${'\(path)'} for text; $${ is a literal ${"
    guard let variables else {
      return LanguageError(
        "\(path): there are no variables here", hint: reference.hint(among: []) ?? written)
    }
    return LanguageError(
      "\(path): no such variable",
      hint: reference.hint(among: variables.keys.sorted())
        ?? "--var \(reference.name)=VALUE sets it; \(written)")
  }

  package func value(of function: Function, _ arguments: [JSONValue]) throws(LanguageError) -> JSONValue {
    guard readsElsewhere || function != .file else {
      throw LanguageError(
        "file(\(arguments.first?.plainText ?? "")): this text must not read files", hint: Self.hint)
    }
    return try functions.value(of: function, arguments, piece: piece, pool: pool, schemaOf: type)
  }

  package func hasValues(of name: String) -> Bool { false }
}
