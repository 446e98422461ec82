import RPCurlProtoCompiler

/// Compiles sources that are given as text. The first one is `t.proto`, unless names are given.
func compile(
  _ files: KeyValuePairs<String, String>, options: ProtoCompilerOptions = ProtoCompilerOptions(),
  main: String = "t.proto"
) -> ProtoCompilation {
  let compiler = ProtoCompiler(options: options) { name in
    files.first { $0.key == name }.map { .found(Array($0.value.utf8)) } ?? .missing(tried: ["protos"])
  }
  return compiler.compile([main])
}

extension ProtoCompilation {
  /// The errors and warnings, one a line, without the lines of the source.
  var summaries: [String] { diagnostics.map(\.summary) }
}
