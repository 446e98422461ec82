import Interceptors
import Output
import Protobuf

/// Selects one field of each response (`--filter`).
package struct FieldFilter {
  /// The response lacks the field.
  package struct Missing: Error {}

  package let path: FieldPath
  private let isList: Bool
  private let isMap: Bool

  /// The path of `--filter`; nil if not given.
  ///
  /// - Throws: `Failure` if it is invalid or the format cannot print a field.
  package static func path(_ options: ResponseOptions, format: OutputFormat?) throws(Failure) -> FieldPath? {
    guard let text = options.filter?.text else { return nil }
    if let format, format != .json, format != .pretty {
      throw Failure(.usage, "--filter", "cannot be combined with --format \(format.rawValue)")
    }
    do {
      return try FieldPath(text)
    } catch {
      throw Failure(
        .usage, "--filter \(text)", error.description, hint: "use a path such as user.addresses[0].city")
    }
  }

  /// Creates a filter for messages of a type; returns nil without a path.
  ///
  /// - Throws: `Failure` if the type has no such field.
  package init?(_ path: FieldPath?, of type: MessageType) throws(Failure) {
    guard let path else { return nil }
    self.path = path
    let isElement = if case .subscripted? = path.steps.last { true } else { false }
    do throws(FieldPathError) {
      let field = try type.field(at: path)
      isMap = field.isMap && !isElement
      isList = field.isRepeated && !field.isMap && !isElement
      try Self.check(path, of: type)
    } catch .unknownField(let name, let type, let nearest) {
      throw Failure(
        .schema, "--filter \(path)", "\(type) has no field \(name)",
        hint: nearest.isEmpty ? nil : "did you mean \(nearest.joined(separator: ", "))?")
    } catch {
      throw Failure(.usage, "--filter \(path)", error.description)
    }
  }

  /// A path through a list must name an element.
  private static func check(_ path: FieldPath, of type: MessageType) throws(FieldPathError) {
    do throws(FieldPathError) {
      _ = try Message(type).json(at: path)
    } catch .indexOutOfRange {
      return
    }
  }

  /// Appends the field of a message and a line feed. Strings have no quotes; each element of a list is on a line of
  /// its own.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - options: How values other than strings are written.
  ///   - escapesControls: Whether control characters in strings are escaped, for a terminal. A script gets the string
  ///     itself.
  ///   - out: Receives the text.
  package func append(
    _ message: Message, options: JSONEncodingOptions, escapesControls: Bool, to out: inout [UInt8]
  ) throws {
    guard try isList || isThere(in: message) else { throw Missing() }
    let json = try JSONValue(parsing: message.json(at: path, options: options))
    if isList, case .array(let elements) = json {
      for element in elements { append(element, escapesControls, to: &out) }
    } else {
      append(json, escapesControls, to: &out)
    }
  }

  private func isThere(in message: Message) throws(FieldPathError) -> Bool {
    if isMap { return true }
    do throws(FieldPathError) {
      return try message.value(at: path) != nil
    } catch .indexOutOfRange {
      return false
    }
  }

  private func append(_ value: JSONValue, _ escapesControls: Bool, to out: inout [UInt8]) {
    if case .string(let content) = value {
      out += Array((escapesControls ? TerminalText.escape(content) : content).utf8)
    } else {
      out += Array(value.text.utf8)
    }
    out.append(UInt8(ascii: "\n"))
  }
}
