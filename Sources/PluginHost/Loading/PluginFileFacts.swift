/// The facts about a plugin's file that are known without running its code.
package struct PluginFileFacts: Sendable, Equatable {
  /// The version of the ABI that it was built against.
  package struct Version: Sendable, Equatable {
    /// The major version.
    package let major: UInt32
    /// The minor version.
    package let minor: UInt32
    /// The oldest minor version of a host that it supports.
    package let hostMinor: UInt32
  }

  /// The version in its note.
  package let version: Version
  /// Whether it exports the entry symbol; `nil` if the file has no symbol table.
  package let exportsEntry: Bool?
}
