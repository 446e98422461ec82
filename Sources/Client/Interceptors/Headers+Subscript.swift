import RPCurlProtocols

extension Headers {
  /// The first value of a name; nil without a value. Setting it replaces all values of the name, and nil removes them.
  ///
  /// - Parameter name: The name, in any case.
  public subscript(name: String) -> String? {
    get { first(name) }
    set {
      if let newValue { set(name, newValue) } else { remove(name) }
    }
  }
}

extension Headers: ExpressibleByDictionaryLiteral {
  /// Makes a list of names and values, in order.
  public init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }
}

extension Headers: CustomStringConvertible {
  /// The fields, one on each line: `name: value`.
  public var description: String { fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n") }
}
