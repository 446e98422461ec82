import RPCurlChain
import RPCurlProgram

/// The attributes of `--attribute`: `KEY=VALUE`, or `KEY=` to remove one that was given before.
package enum AttributeArguments {
  /// Parses the values of the option, in the order given. A later value of a key replaces the earlier one.
  ///
  /// - Parameter option: What the attributes are set by, for errors.
  /// - Throws: `Failure` if one is invalid, or if there are too many; its value is not part of the error.
  package static func parse(
    _ arguments: [Argument], option: String = "--attribute"
  ) throws(Failure) -> CallAttributes {
    var attributes = CallAttributes()
    for argument in arguments {
      let source = argument.origin.place ?? option
      let (key, value) = try split(argument.text ?? "", source, hint: "write \(option) KEY=VALUE")
      do throws(InvalidValue) {
        try attributes.set(key, value.isEmpty ? nil : value)
      } catch {
        throw Failure(
          .usage, source, error.reason,
          hint: "a call has at most \(CallAttributes.limit) attributes of \(CallAttributes.maxBytes) bytes; "
            + "\(option) KEY= removes one")
      }
    }
    return attributes
  }

  /// The key of `KEY=VALUE`, and its value.
  private static func split(
    _ text: String, _ source: String, hint: String
  ) throws(Failure) -> (key: String, value: String) {
    // The text may be a secret, so no error contains it.
    guard case let (before, value?) = text.parted(at: "=") else {
      throw Failure(.usage, source, "missing = in the attribute", hint: hint)
    }
    let key = String(before)
    guard CallAttributes.isKey(key) else {
      throw Failure(
        .usage, source,
        key.isEmpty ? "missing key of the attribute" : "\(key.debugDescription) is not a key of an attribute",
        hint: "a key is ASCII without blanks, colons and control characters")
    }
    return (key, String(value))
  }
}
