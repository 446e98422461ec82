import Protobuf
import SchemaTools

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

  /// Compares a file with the one of the same name.
  mutating func compareFile(_ before: FileDeclaration, _ after: FileDeclaration) {
    let (name, package) = (after.name, before.package)
    if package != after.package {
      report(.fileSamePackage, name, package, "package changed from \"\(package)\" to \"\(after.package)\"")
    }
    let (syntax, other) = (Self.name(before.syntax), Self.name(after.syntax))
    if syntax != other {
      report(.fileSameSyntax, name, package, "syntax changed from \(syntax) to \(other)")
    }
    guard before.options != after.options else { return }
    let (old, new) = (OptionValues(before.options), OptionValues(after.options))
    for (rule, number) in Self.texts where old.text(number) != new.text(number) {
      report(
        rule, name, package,
        "option \(Self.option(rule)) changed from \"\(old.text(number))\" to \"\(new.text(number))\"")
    }
    for (rule, number, standard) in Self.numbers {
      let (first, second) = (old.number(number) ?? standard, new.number(number) ?? standard)
      guard first != second else { continue }
      let names =
        rule == .fileSameOptimizeFor ? ["", "SPEED", "CODE_SIZE", "LITE_RUNTIME"] : ["false", "true"]
      report(
        rule, name, package, "option \(Self.option(rule)) changed \(Self.change(first, second, names))")
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
      if method.input != other.input {
        report(
          .rpcSameRequestType, file, method.path,
          "\(subject) changed its request type from \(method.input) to \(other.input)")
      }
      if method.output != other.output {
        report(
          .rpcSameResponseType, file, method.path,
          "\(subject) changed its response type from \(method.output) to \(other.output)")
      }
      let kinds = { (isStream: Bool) in
        isStream ? "from one message to a stream" : "from a stream to one message"
      }
      if method.clientStreaming != other.clientStreaming {
        report(
          .rpcSameClientStreaming, file, method.path,
          "\(subject) changed its request \(kinds(other.clientStreaming))")
      }
      if method.serverStreaming != other.serverStreaming {
        report(
          .rpcSameServerStreaming, file, method.path,
          "\(subject) changed its response \(kinds(other.serverStreaming))")
      }
      let level = { (method: ServiceDeclaration.Method) in OptionValues(method.options).number(34) ?? 0 }
      if level(method) != level(other) {
        let names = ["IDEMPOTENCY_UNKNOWN", "NO_SIDE_EFFECTS", "IDEMPOTENT"]
        report(
          .rpcSameIdempotencyLevel, file, method.path,
          "\(subject) changed its idempotency_level \(Self.change(level(method), level(other), names))")
      }
    }
  }
}
