import RPCurlProtobuf

/// What the resolver of imports finds.
package enum ProtoSource: Sendable {
  /// The text of a `.proto` file.
  case found([UInt8])
  /// A serialized `FileDescriptorProto`, all names in which are full.
  case descriptor([UInt8])
  /// Nothing; the directories that were searched.
  case missing(tried: [String])
}

/// How sources are compiled.
package struct ProtoCompilerOptions: Sendable {
  /// Whether descriptors have the places and comments of declarations.
  package var sourceInfo: Bool
  /// Whether an import that is not found is a warning if only options need it, which then stay uninterpreted.
  package var isTolerant: Bool
  /// Whether descriptors have options that are meant for sources only.
  package var retainsOptions: Bool

  package init(sourceInfo: Bool = false, isTolerant: Bool = false, retainsOptions: Bool = false) {
    self.sourceInfo = sourceInfo
    self.isTolerant = isTolerant
    self.retainsOptions = retainsOptions
  }
}

/// The result for one file.
package struct CompiledProtoFile: Sendable {
  package var name: String
  /// The serialized `FileDescriptorProto`.
  package var descriptor: [UInt8]
}

/// The result for all files.
package struct ProtoCompilation: Sendable {
  /// The descriptor set of all files that could be compiled, imports before the files that import them.
  package var set = SchemaBytes([])
  package var diagnostics: [ProtoDiagnostic] = []

  package var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

  /// The files of the set.
  package var files: [CompiledProtoFile] {
    let bytes = set.bytes.bindMemory(to: UInt8.self)
    return WireFields(bytes).map { file in
      let name = WireFields(bytes, file.content).first { $0.number == 1 }?.content ?? 0..<0
      return CompiledProtoFile(
        name: String(decoding: bytes[name], as: UTF8.self), descriptor: Array(bytes[file.content]))
    }
  }
}

/// Compiles `.proto` sources to descriptors, as protoc does. It reads nothing but what its resolver returns.
package struct ProtoCompiler {
  private let options: ProtoCompilerOptions
  private let resolve: (String) -> ProtoSource

  /// Makes a compiler.
  ///
  /// - Parameter resolve: returns the content of a file that is compiled or imported. The types of `google.protobuf` and of other
  ///   well-known packages are built in, and are used where it finds nothing.
  package init(
    options: ProtoCompilerOptions = ProtoCompilerOptions(), resolve: @escaping (String) -> ProtoSource
  ) {
    self.options = options
    self.resolve = resolve
  }

  /// Compiles files and what they import.
  package func compile(_ files: [String]) -> ProtoCompilation {
    var run = Compilation(options: options, resolve: resolve)
    run.compile(files)
    return run.result
  }
}

/// The descriptors that are part of the program.
enum BundledFiles {
  /// The descriptor of a file; nil if it is not built in.
  static func descriptor(_ name: String) -> [UInt8]? {
    guard name.hasPrefix("google/protobuf/") || name.hasPrefix("google/rpc/") else { return nil }
    let isOfOptions = name == "google/protobuf/descriptor.proto"
    let set = isOfOptions ? WellKnownSchemas.optionTypes : WellKnownSchemas.set
    let bytes = set.bytes.bindMemory(to: UInt8.self)
    for file in WireFields(bytes) where file.number == 1 && file.type == .length {
      for field in WireFields(bytes, file.content) where field.number == 1 {
        guard bytes[field.content].elementsEqual(name.utf8) else { break }
        return Array(bytes[file.content])
      }
    }
    return nil
  }
}

/// The state of one compilation.
private struct Compilation: ~Copyable {
  private let options: ProtoCompilerOptions
  private let resolve: (String) -> ProtoSource
  private(set) var result = ProtoCompilation()
  private var names = Names()
  private var schema = Schema()
  private var report = Report()
  private var reach = Reach()
  private var writer = DescriptorWriter()
  /// The names of files: under 0 the ones of the schema, and under 1 those that were asked for.
  private var known = PairTable(capacity: 64)
  /// The files on the way from a main file to the current one.
  private var stack: [Frame] = []
  /// The size of sources that were compiled since freed memory was given back, in bytes.
  private var freedBytes = 0

  /// The largest size of such sources.
  private static let keptBytes = 16 << 20

  /// A file whose imports are compiled.
  private struct Frame {
    var name: Name
    var tables: FileTables
    var nextImport = 0
    /// The content of a descriptor, which is not linked.
    var descriptor: [UInt8]?
  }

  init(options: ProtoCompilerOptions, resolve: @escaping (String) -> ProtoSource) {
    self.options = options
    self.resolve = resolve
  }

  mutating func compile(_ files: [String]) {
    for file in files { _ = known.insert(1, Int32(bitPattern: names.intern(file).id), 0) }
    for file in files {
      let name = names.intern(file)
      guard self.file(name) == .none else { continue }
      if case .missing(let tried) = open(name) {
        schema.files[add(name)].state = .failed
        report.add(file: file, "file not found", hint: Compilation.hint(tried))
      }
      while !stack.isEmpty { step() }
    }
    report.finish()
    result.diagnostics = report.diagnostics
    result.set = writer.takeSet()
  }

  private func file(_ name: Name) -> Handle { known[0, Int32(bitPattern: name.id)] }

  private mutating func add(_ name: Name) -> Handle {
    let file = schema.files.nextIndex
    schema.files.append(FileNode(name: name))
    _ = known.insert(0, Int32(bitPattern: name.id), file)
    return file
  }

  private static func hint(_ tried: [String]) -> String? {
    tried.isEmpty ? nil : "searched in \(tried.joined(separator: ", "))"
  }

  private enum Opening {
    case opened
    case failed
    case missing(tried: [String])
  }

  /// Reads a file, and puts it on the stack.
  private mutating func open(_ name: Name) -> Opening {
    let text = names[name]
    guard Compilation.isPlain(text) else { return .missing(tried: []) }
    switch resolve(text) {
    case .found(let source): return parse(name, source) ? .opened : .failed
    case .descriptor(let bytes): openDescriptor(name, bytes)
    case .missing(let tried):
      guard let bytes = BundledFiles.descriptor(text) else { return .missing(tried: tried) }
      openDescriptor(name, bytes)
    }
    return .opened
  }

  /// Whether a name is the only one for its file: it has no empty part and neither `.` nor `..`.
  private static func isPlain(_ name: String) -> Bool {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    return parts.enumerated().allSatisfy { index, part in
      part != "." && part != ".." && (!part.isEmpty || index == 0 && parts.count > 1)
    }
  }

  private mutating func parse(_ name: Name, _ source: [UInt8]) -> Bool {
    let file = add(name)
    report.begin(file: names[name])
    var tables = FileTables(file: file, source: source)
    source.withUnsafeBufferPointer { bytes in
      var parser = Parser(
        bytes, tables: tables, names: take(&names), schema: take(&schema), report: take(&report),
        keepsLocations: options.sourceInfo)
      parser.parse()
      names = parser.names
      schema = parser.schema
      report = parser.report
      tables = parser.tables
    }
    if report.hasErrors {
      schema.files[file].state = .failed
      return false
    }
    stack.append(Frame(name: name, tables: tables))
    return true
  }

  private mutating func openDescriptor(_ name: Name, _ bytes: [UInt8]) {
    let file = add(name)
    bytes.withUnsafeBufferPointer { bytes in
      for entry in DescriptorReader.imports(bytes) {
        schema.files[file].imports.append(
          ImportNode(name: names.intern(entry.name), isPublic: entry.isPublic))
      }
    }
    stack.append(Frame(name: name, tables: FileTables(file: file, source: []), descriptor: bytes))
  }

  /// Compiles the next import of the file on top of the stack, or the file itself.
  private mutating func step() {
    let top = stack.count - 1
    let file = stack[top].tables.file
    let number = stack[top].nextImport
    guard number < schema.files[file].imports.count else { return finish() }
    let entry = schema.files[file].imports[number]
    let imported = self.file(entry.name)
    guard imported != .none else { return openImport(entry, file) }
    switch schema.files[imported].state {
    case .done:
      schema.files[file].imports[number].file = imported
      stack[top].nextImport += 1
    case .failed:
      schema.files[file].isBroken = true
      stack[top].nextImport += 1
    case .open: reportCycle(entry, file)
    }
  }

  private mutating func openImport(_ entry: ImportNode, _ file: Handle) {
    let top = stack.count - 1
    switch open(entry.name) {
    case .opened: break
    case .failed: break
    case .missing(let tried):
      let isOptional = options.isTolerant || stack[top].descriptor != nil
      if !entry.isOption, !isOptional { schema.files[file].isBroken = true }
      schema.files[file].lacksImport = true
      stack[top].nextImport += 1
      report.begin(file: names[schema.files[file].name])
      guard Compilation.isPlain(names[entry.name]) else {
        return report.add(
          "Import \"\(names[entry.name])\" has an empty part, \".\" or \"..\".", at: entry.place,
          in: stack[top].tables.source,
          hint: "imports are named from a directory of imports, not from this file")
      }
      if entry.isOption, !isOptional {
        schema.files[file].isBroken = true
      }
      report.add(
        "Import \"\(names[entry.name])\" was not found.", isOptional ? .warning : .error, at: entry.place,
        in: stack[top].tables.source, cause: .missingImport, hint: Compilation.hint(tried))
    }
  }

  private mutating func reportCycle(_ entry: ImportNode, _ file: Handle) {
    let first = stack.firstIndex { $0.name == entry.name } ?? 0
    let cycle = (stack[first...].map(\.name) + [entry.name]).map { names[$0] }
    // The error refers to the import with which the cycle begins.
    let opener = stack[first].tables.file
    let next = first + 1 < stack.count ? stack[first + 1].name : entry.name
    let place = schema.files[opener].imports.first { $0.name == next }?.place ?? .unknown
    report.begin(file: cycle[0])
    report.add(
      "File recursively imports itself: \(cycle.joined(separator: " -> "))", at: place,
      in: stack[first].tables.source)
    schema.files[file].isBroken = true
    stack[stack.count - 1].nextImport += 1
  }

  /// Compiles the file on top of the stack, whose imports are compiled.
  private mutating func finish() {
    guard let frame = stack.popLast() else { return }
    let file = frame.tables.file
    if schema.files[file].imports.contains(where: { $0.file != .none && schema.files[$0.file].lacksImport }) {
      schema.files[file].lacksImport = true
    }
    guard !schema.files[file].isBroken else {
      schema.files[file].state = .failed
      return
    }
    if let descriptor = frame.descriptor {
      DescriptorReader.read(descriptor, file, root: Schema.root, &names, &schema)
      writer.add(descriptor)
      schema.files[file].state = .done
    } else {
      link(frame)
    }
  }

  private mutating func link(_ frame: consuming Frame) {
    let name = frame.name
    let file = frame.tables.file
    freedBytes += frame.tables.source.count
    if freedBytes > Compilation.keptBytes {
      ByteWriter.giveBackFreedMemory()
      freedBytes = 0
    }
    report.begin(file: names[name])
    var linker = Linker(
      tables: frame.tables, names: take(&names), schema: take(&schema), report: take(&report),
      reach: take(&reach),
      options: options, isMain: known[1, Int32(bitPattern: name.id)] != .none)
    linker.link()
    if !linker.report.hasErrors { writer.add(&linker) }
    linker.schema.files[file].state = linker.report.hasErrors ? .failed : .done
    names = linker.names
    schema = linker.schema
    report = linker.report
    reach = linker.reach
  }
}

/// Moves a value out, and leaves an empty one.
func take(_ names: inout Names) -> Names { exchange(&names, .placeholder) }
func take(_ schema: inout Schema) -> Schema { exchange(&schema, .placeholder) }
private func take(_ report: inout Report) -> Report { exchange(&report, Report()) }
private func take(_ reach: inout Reach) -> Reach { exchange(&reach, Reach()) }

private func exchange<T>(_ value: inout T, _ other: consuming T) -> T {
  swap(&value, &other)
  return other
}
