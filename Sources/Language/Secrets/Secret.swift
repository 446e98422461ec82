/// A value that is shown only where it is revealed on purpose: its description is a placeholder.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The value, for what sends or compares it.
  package let revealed: String

  /// Makes a secret of a value.
  package init(_ value: String) { revealed = value }

  /// The placeholder of all secrets.
  package var description: String { SecretMask.placeholder }
  /// The placeholder of all secrets.
  package var debugDescription: String { description }
  /// A mirror without the value, for `dump`.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
