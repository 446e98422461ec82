import RPCurlPlatform

/// The files that the results of suites depend on, as far as the command line, the suites and `.proto` files name them.
package struct SuiteSources {
  /// What files there are.
  package struct Files {
    /// Whether a path is that of a file, and not of a directory.
    var isFile: (String) -> Bool
    var isDirectory: (String) -> Bool
    /// The text of a file; nil if it cannot be read.
    var text: (String) -> String?
    /// The `.proto` files of a directory and of those in it.
    var protos: (String) -> [String]

    /// Those of the machine.
    package static var ofMachine: Files {
      Files(
        isFile: { FileContents.isRegularFile($0) }, isDirectory: { DirectoryPath.isDirectory($0) },
        text: { path in
          (try? FileContents.read(path, limitBytes: SuiteSources.limitBytes, waitLimit: nil)).map {
            String(decoding: $0, as: UTF8.self)
          }
        },
        protos: {
          (try? Directory.files(below: $0, suffix: SuiteSources.protoSuffix, limit: SuiteSources.fileLimit))
            ?? []
        })
    }
  }

  private static let protoSuffix = ".proto"
  /// The largest file in which names are searched, and the most files of a directory.
  private static let (limitBytes, fileLimit) = (16 << 20, 10_000)

  /// The suites in their order, each with the files that it names, and those that these name.
  private var suites: [(name: String, files: Set<String>)] = []
  /// The files that the options name, and those that these name.
  private var common: Set<String> = []
  /// Directories in which the options search for files.
  private var directories: [String] = []
  private let arguments: [String]
  private let system: Files

  /// Finds the files.
  ///
  /// - Parameters:
  ///   - suites: The paths of the suites.
  ///   - arguments: The files and directories that the command line names.
  ///   - options: The options, with their values.
  ///   - system: What files there are.
  package init(_ suites: [String], arguments: [String], options: [String], _ system: Files = .ofMachine) {
    self.system = system
    self.arguments = arguments
    for name in options.flatMap({ Self.names(in: $0) }) where system.isDirectory(name) {
      directories.append(name)
    }
    for directory in directories {
      for file in system.protos(directory) { add(file, to: &common) }
    }
    for name in options.flatMap({ Self.names(in: $0) }) where system.isFile(name) { add(name, to: &common) }
    for suite in suites {
      var files: Set<String> = []
      add(suite, to: &files)
      self.suites.append((suite, files))
    }
  }

  /// All files.
  package var files: Set<String> { suites.reduce(common) { $0.union($1.files) } }

  /// The directories in which a change concerns the suites.
  package var watched: Set<String> {
    Set(
      files.map { Directory.path(of: "", besides: $0) } + arguments.filter(system.isDirectory) + directories)
  }

  /// The suites that depend on one of some files, in their order.
  package func suites(of changed: Set<String>) -> [String] {
    suites.filter { !common.isDisjoint(with: changed) || !$0.files.isDisjoint(with: changed) }.map(\.name)
  }

  /// Whether a file is a suite or a part of a schema, whose text names others. A run does not write it, as it may write a
  /// report, a golden file or a log.
  package static func namesOthers(_ file: String) -> Bool {
    file.hasSuffix(SuiteFiles.suffix) || file.hasSuffix(protoSuffix)
  }

  private func add(_ file: String, to files: inout Set<String>) {
    var added = [file]
    while let file = added.popLast() {
      guard files.insert(file).inserted, Self.namesOthers(file), let text = system.text(file) else {
        continue
      }
      added += Set(Self.names(in: text)).compactMap { self.file($0, namedBy: file) }
    }
  }

  /// The file of a name: relative to the file that names it, to the working directory, or to a directory of the options.
  private func file(_ name: String, namedBy file: String) -> String? {
    let places =
      [Directory.path(of: name, besides: file), name]
      + (name.hasPrefix("/") ? [] : directories.map { "\($0)/\(name)" })
    return places.first(where: system.isFile)
  }

  /// The parts of a text that may be names of files.
  private static func names(in text: String) -> [String] {
    let parts = text.split { $0.isWhitespace || ",;:=@\"'`()[]{}<>|".contains($0) }
    // Others are words, unless they are all of an option.
    return parts.filter { $0.contains(".") || $0.contains("/") || text.utf8.count == $0.utf8.count }.map(
      String.init)
  }
}
