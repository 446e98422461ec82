import RPCurlPlatform

/// Reads an input; properties that do not hold end the process.
private typealias Target = @Sendable (_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt

/// The targets, by their names in README.md, in `Corpus` and in arguments.
private let targets: [String: Target] = [
  "arguments": fuzzArguments,
  "binary": fuzzBinary,
  "cassette": fuzzCassette,
  "check": fuzzCheck,
  "compiler": fuzzCompiler,
  "configuration": fuzzConfiguration,
  "declaration": fuzzDeclaration,
  "difference": fuzzDifference,
  "document": fuzzDocument,
  "event": fuzzEvent,
  "frames": fuzzFrames,
  "header": fuzzHeader,
  "http1": fuzzHTTP1,
  "http2": fuzzHTTP2,
  "json": fuzzJSON,
  "language": fuzzLanguage,
  "object": fuzzObject,
  "reflection": fuzzReflection,
  "rule": fuzzRule,
  "schema": fuzzSchema,
  "script": fuzzScript,
  "server": fuzzServer,
  "session": fuzzSession,
  "source": fuzzSource,
  "stub": fuzzStub,
  "suite": fuzzSuite,
  "template": fuzzTemplate,
  "text": fuzzText,
  "validation": fuzzValidation,
]

/// libFuzzer's own main function.
@_silgen_name("LLVMFuzzerRunDriver")
private func runLibFuzzer(
  _ argc: UnsafeMutablePointer<CInt>,
  _ argv: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ target: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

@main
private enum Program {
  /// The target that the first argument names; libFuzzer has the others.
  private static let target: Target = {
    let name = CommandLine.arguments.dropFirst().first ?? ""
    if let target = targets[name] { return target }
    let isList = name == "targets"
    if !isList { print("usage: Fuzz TARGET [OPTION OF LIBFUZZER...], or Fuzz targets; the targets are:") }
    print(targets.keys.sorted().joined(separator: "\n"))
    exit(isList ? 0 : 2)
  }()

  static func main() {
    _ = target
    var count = CommandLine.argc - 1
    var arguments = CommandLine.unsafeArgv
    swap(&arguments[0], &arguments[1])
    arguments += 1
    exit(runLibFuzzer(&count, &arguments, fuzz))
  }

  fileprivate static func run(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt { target(start, count) }
}

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt { Program.run(start, count) }

/// In place of libc's, so that the hashes of names do not differ between runs: they are the fixed ones without it.
@_cdecl("getentropy")
public func noEntropy(_ bytes: UnsafeMutableRawPointer?, _ count: Int) -> CInt { -1 }
