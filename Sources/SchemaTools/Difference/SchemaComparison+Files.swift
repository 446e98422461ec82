import RPCurlProtobuf

extension SchemaComparison {
  /// The options of files that rules compare, by their number in `google.protobuf.FileOptions`. The rule's name ends
  /// with that of the option.
  private static let texts: [(Rule, UInt32)] = [
    (.fileSameJavaPackage, 1), (.fileSameJavaOuterClassname, 8), (.fileSameGoPackage, 11),
    (.fileSameObjcClassPrefix, 36), (.fileSameCsharpNamespace, 37), (.fileSameSwiftPrefix, 39),
    (.fileSamePhpClassPrefix, 40), (.fileSamePhpNamespace, 41), (.fileSamePhpMetadataNamespace, 44),
    (.fileSameRubyPackage, 45),
  ]

  /// Those that are Bools or an enum, with their default.
  private static let numbers: [(Rule, UInt32, UInt64)] = [
    (.fileSameOptimizeFor, 9, 1), (.fileSameJavaMultipleFiles, 10, 0), (.fileSameCcGenericServices, 16, 0),
    (.fileSameJavaGenericServices, 17, 0), (.fileSamePyGenericServices, 18, 0),
    (.fileSameCcEnableArenas, 31, 1),
  ]

  /// The number of the option that a rule compares; nil for a rule about something else.
  static func fileOption(_ rule: Rule) -> UInt32? {
    texts.first { $0.0 == rule }?.1 ?? numbers.first { $0.0 == rule }?.1
  }

  /// Compares a file with the one of the same name.
  mutating func compareFile(_ before: FileDeclaration, _ after: FileDeclaration) {
    var changes: [(rule: Rule, what: String)] = []
    if before.package != after.package {
      changes.append((.fileSamePackage, "package changed from \"\(before.package)\" to \"\(after.package)\""))
    }
    let (syntax, other) = (Self.name(before.syntax), Self.name(after.syntax))
    if syntax != other {
      changes.append((.fileSameSyntax, Self.change("syntax changed", syntax, other)))
    }
    if before.options != after.options {
      let (old, new) = (WireFields(before.options), WireFields(after.options))
      for (rule, number) in Self.texts where old.text(number) != new.text(number) {
        let what = "option \(Self.option(rule)) changed"
        changes.append((rule, Self.change(what, "\"\(old.text(number))\"", "\"\(new.text(number))\"")))
      }
      for (rule, number, standard) in Self.numbers {
        let (first, second) = (old.bits(number) ?? standard, new.bits(number) ?? standard)
        guard first != second else { continue }
        let names = rule == .fileSameOptimizeFor ? "UNKNOWN SPEED CODE_SIZE LITE_RUNTIME" : "false true"
        changes.append((rule, Self.change("option \(Self.option(rule)) changed", first, second, names)))
      }
    }
    for (rule, what) in changes {
      report(
        rule, after.name, before.package, what, others: rule == .fileSamePackage ? Self.names(of: before) : []
      )
    }
  }

  private static func option(_ rule: Rule) -> String {
    rule.rawValue.dropFirst("FILE_SAME_".count).lowercased()
  }

  private static func name(_ syntax: FileDeclaration.Syntax) -> String {
    switch syntax {
    case .proto2: "proto2"
    case .proto3: "proto3"
    case .edition: "editions"
    }
  }

  /// Compares a service with the one of the same name.
  mutating func compareService(
    _ before: ServiceDeclaration, _ after: SchemaContents.Entry<ServiceDeclaration>
  ) {
    let file = newFile(after.file)
    let remaining = Dictionary(after.declaration.methods.map { ($0.name, $0) }) { first, _ in first }
    for method in before.methods {
      let subject = "service \(before.fullName): method \(method.name)"
      guard let other = remaining[method.name] else {
        report(.rpcNoDelete, file, method.path, "\(subject) was removed")
        continue
      }
      for (rule, what) in Self.changes(method, other) {
        report(rule, file, method.path, "\(subject) changed its \(what)")
      }
    }
  }

  /// The rules about a method that a change breaks, each with what changed.
  private static func changes(
    _ before: ServiceDeclaration.Method, _ after: ServiceDeclaration.Method
  ) -> [(rule: Rule, what: String)] {
    var found: [(rule: Rule, what: String)] = []
    if before.input != after.input {
      found.append((.rpcSameRequestType, change("request type", before.input, after.input)))
    }
    if before.output != after.output {
      found.append((.rpcSameResponseType, change("response type", before.output, after.output)))
    }
    let kind = { (isStream: Bool) in isStream ? "a stream" : "one message" }
    if before.clientStreaming != after.clientStreaming {
      let (old, new) = (kind(before.clientStreaming), kind(after.clientStreaming))
      found.append((.rpcSameClientStreaming, change("request", old, new)))
    }
    if before.serverStreaming != after.serverStreaming {
      let (old, new) = (kind(before.serverStreaming), kind(after.serverStreaming))
      found.append((.rpcSameServerStreaming, change("response", old, new)))
    }
    let level = { (method: ServiceDeclaration.Method) in WireFields(method.options).bits(34) ?? 0 }
    if level(before) != level(after) {
      let names = "IDEMPOTENCY_UNKNOWN NO_SIDE_EFFECTS IDEMPOTENT"
      found.append(
        (.rpcSameIdempotencyLevel, change("idempotency_level", level(before), level(after), names)))
    }
    return found
  }
}
