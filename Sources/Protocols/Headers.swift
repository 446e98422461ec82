import RPCurlProtobuf

/// Metadata of a call: a list of names and values that keeps order and duplicates.
///
/// Names are lower case, as in HTTP/2. A value of a name that ends in `-bin` is its base64 text on the wire.
public struct Headers: Sendable, Equatable {
  /// One name with one value.
  public struct Field: Sendable, Equatable {
    /// The name in lower case.
    public let name: String
    /// The value on the wire.
    public var value: String

    /// Makes a field; the name is folded to lower case. Blanks at the start and the end are not part of the value (RFC 9110,
    /// section 5.5).
    public init(name: String, value: String) {
      self.name = Headers.folded(name)
      self.value = HeaderSyntax.trimmed(value)
    }
  }

  /// The fields in the order they were added or received.
  public private(set) var fields: [Field] = []

  /// Makes an empty list.
  public init() {}

  /// Makes a list of names and values, in order.
  ///
  /// - Parameter pairs: Names and values, in order.
  public init(_ pairs: [(String, String)]) {
    fields = pairs.map { Field(name: $0.0, value: $0.1) }
  }

  /// The number of fields.
  public var count: Int { fields.count }

  /// Whether there is no field.
  public var isEmpty: Bool { fields.isEmpty }

  /// The first value of `name`, or `nil`.
  ///
  /// - Parameter name: The name, in any case.
  public func first(_ name: String) -> String? {
    let name = Self.folded(name)
    return fields.first { $0.name == name }?.value
  }

  /// All values of `name`, in order.
  ///
  /// - Parameter name: The name, in any case.
  public func values(_ name: String) -> [String] {
    let name = Self.folded(name)
    return fields.compactMap { $0.name == name ? $0.value : nil }
  }

  /// The maximum number of header fields of a response, and of trailers.
  package static let maxResponseFields = 4096

  /// Appends a field, and keeps earlier values of the same name.
  ///
  /// - Parameters:
  ///   - name: The name, in any case.
  ///   - value: The value, as sent.
  public mutating func add(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// Appends the fields of `other`.
  mutating func append(_ other: Headers) {
    fields += other.fields
  }

  /// The fields of `self`, then those of `other`.
  ///
  /// - Parameter other: The fields that follow.
  public func appending(_ other: Headers) -> Headers {
    var all = self
    all.fields += other.fields
    return all
  }

  /// Replaces all values of `name` by one, at the place of the first.
  ///
  /// - Parameters:
  ///   - name: The name, in any case.
  ///   - value: The value, as sent.
  public mutating func set(_ name: String, _ value: String) {
    let field = Field(name: name, value: value)
    guard let index = fields.firstIndex(where: { $0.name == field.name }) else {
      fields.append(field)
      return
    }
    fields[index] = field
    fields[(index + 1)...].removeAll { $0.name == field.name }
  }

  /// Removes all values of `name`. Returns their number.
  ///
  /// - Parameter name: The name, in any case.
  @discardableResult
  public mutating func remove(_ name: String) -> Int {
    let name = Self.folded(name)
    let before = fields.count
    fields.removeAll { $0.name == name }
    return before - fields.count
  }

  /// Removes the fields for which `isRemoved` returns true.
  mutating func removeAll(_ isRemoved: (Field) -> Bool) { fields.removeAll(where: isRemoved) }

  /// The fields of other names.
  func without(_ names: [String]) -> Headers {
    var rest = self
    rest.fields.removeAll { names.contains($0.name) }
    return rest
  }

  /// The name in lower case. Most names are in lower case already.
  private static func folded(_ name: String) -> String {
    // Each access to a header calls this: over the bytes in place, it takes a fifth of the time.
    let isFolded = name.utf8.withContiguousStorageIfAvailable { bytes in
      for byte in bytes where byte >= 0x80 || byte &- 0x41 <= 0x5A - 0x41 { return false }
      return true
    }
    return isFolded == true ? name : name.lowercased()
  }

  /// The bytes of each value of a name in `-bin`, in order; `nil` for an invalid one.
  ///
  /// Proxies may join values with commas, and senders may omit the padding (gRPC over HTTP/2,
  /// "Custom-Metadata").
  ///
  /// - Parameter name: The name, which ends in `-bin`.
  public func binaryValues(_ name: String) -> [[UInt8]?] {
    values(name).flatMap { value in
      value.split(separator: ",", omittingEmptySubsequences: false).map { part in
        Base64.decode(HeaderSyntax.trimmed(part))
      }
    }
  }

  /// Whether values of `name` are base64 text.
  ///
  /// - Parameter name: The name.
  public static func isBinary(_ name: some StringProtocol) -> Bool {
    name.hasSuffix("-bin")
  }
}
