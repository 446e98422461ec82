import RPCurlProgram

/// The sources of the schema.
package struct SchemaOptions {
  package let descriptorSets: [Argument]
  package let protos: [Argument]
  package let importPaths: [String]
  private let importArguments: [Argument]
  /// Where the options are from that name `.proto` files.
  let originsOfProtos: [Origin]

  package init(_ invocation: Invocation) {
    descriptorSets = Self.distinct(invocation.all(.descriptorSet))
    protos = Self.distinct(invocation.all(.proto))
    importPaths = invocation.texts(.importPath)
    importArguments = invocation.all(.importPath)
    originsOfProtos = invocation.all(.proto).map(\.origin)
  }

  /// The typed options as words of a command. Those of the configuration apply to each command.
  package var words: String {
    (descriptorSets + protos + importArguments).filter { $0.origin.place == nil }
      .map { "\($0.name) \(ShellText($0.text ?? "").quoted)" }.joined(separator: " ")
  }

  /// The first argument of each text. A session names a source again to read it again; its content is needed once.
  private static func distinct(_ arguments: [Argument]) -> [Argument] {
    // A set of a type that is used for the first time costs more than the rest of this.
    guard arguments.count > 1 else { return arguments }
    var texts: Set<String?> = []
    return arguments.filter { texts.insert($0.text).inserted }
  }

  /// Whether a source other than the server is given.
  package var hasSources: Bool { !descriptorSets.isEmpty || !protos.isEmpty }
}
