import RPCurlPlatform
import RPCurlProgram

/// The source of a small new plugin, which adds a header to each request.
struct PluginTemplate {
  /// The language of the plugin.
  enum Language: String {
    case c, cpp, swift, rust
  }

  private let files: [(path: String, text: String)]

  /// Creates the files of a plugin.
  ///
  /// - Throws: `Failure` if the name is invalid.
  init(name: String, language: Language) throws(Failure) {
    let isName =
      name.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d }
      && name.utf8.first.map { (0x61...0x7a).contains($0) } == true && !name.hasSuffix("-")
    guard isName else {
      throw Failure(
        .usage, "", "'\(name)' is not a valid plugin name",
        hint: "use lower-case letters, digits and hyphens, starting with a letter")
    }
    let templates =
      switch language {
      case .c: Self.c
      case .cpp: Self.cpp
      case .swift: Self.swift
      case .rust: Self.rust
      }
    let module = name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    func fill(_ text: String) -> String {
      text.replacing("@NAME@", with: name).replacing("@MODULE@", with: module)
        .replacing("@CRATE@", with: name.replacing("-", with: "_"))
    }
    files = (templates + [("README.md", Self.readme)]).map { (fill($0.0), fill($0.1)) }
  }

  private static let readme = """
    # @NAME@

    A plugin for rpcurl that adds a header to each request.

        make         builds @NAME@.so
        make test    tests it, in calls of every kind
        rpcurl --plugin ./@NAME@.so,name=x-test ...

    | Key | Meaning |
    |---|---|
    | `name=TEXT` | the name of the header to add; required |

    `make test CONFIG=key=value,key=value` tests another configuration, and `make test CHECKFLAGS='--descriptor-set FILE
    --method PKG.SERVICE/METHOD'` with calls of another method.

    The build finds rpcurl by pkg-config, which searches also below the prefix of the `rpcurl` on the `PATH`. The package
    `rpcurl-dev` or `rpcurl-devel` has the files for it. If they are in another place, set
    `PKG_CONFIG_PATH=PREFIX/lib/pkgconfig`. `man rpcurl-plugin` describes what a plugin can do.

    """

  /// The line of a Makefile that checks the plugin, with a configuration that may be empty.
  static let checksPlugin = """
    \t$(RPCURL) plugins check $(CHECKFLAGS) './@NAME@.so$(if $(CONFIG),$(COMMA)$(CONFIG))'
    """

  /// The lines of a Makefile that set a variable to a directory of the installed rpcurl.
  static func findsRpcurl(_ variable: String, _ directory: String) -> String {
    """
    COMMA := ,
    # pkg-config also searches below the prefix of the rpcurl on the PATH.
    PREFIX := $(patsubst %/bin/,%,$(filter %/bin/,$(dir $(shell command -v $(RPCURL)))))
    export PKG_CONFIG_PATH := $(PKG_CONFIG_PATH)$(if $(PREFIX),:$(PREFIX)/lib/pkgconfig)
    \(variable) := $(shell PKG_CONFIG_PATH='$(PKG_CONFIG_PATH)' pkg-config --variable=\(directory) rpcurl)
    ifeq ($(\(variable))$(filter clean,$(MAKECMDGOALS)),)
    ifeq ($(shell command -v pkg-config),)
    $(error pkg-config is not installed)
    endif
    $(error pkg-config does not find rpcurl: install rpcurl-dev or rpcurl-devel, or set PKG_CONFIG_PATH=PREFIX/lib/pkgconfig, where PREFIX/bin/rpcurl is installed)
    endif
    """
  }

  /// Writes the files. Does not overwrite existing files.
  func write(to directory: String) throws(Failure) {
    if access(directory, F_OK) == 0, files.contains(where: { access("\(directory)/\($0.path)", F_OK) == 0 }) {
      throw Failure(
        .usage, directory, "the files exist already", hint: "use --dir DIRECTORY")
    }
    var made: [String] = []
    do throws(Failure) {
      for file in files {
        let path = "\(directory)/\(file.path)"
        try Self.makeDirectories(above: path, &made)
        try Self.write(file.text, to: path, &made)
      }
    } catch {
      // A part of the files would prevent another attempt.
      for path in made.reversed() { remove(path) }
      throw error
    }
  }

  private static func makeDirectories(above path: String, _ made: inout [String]) throws(Failure) {
    var directory = ""
    for part in path.split(separator: "/", omittingEmptySubsequences: false).dropLast() {
      directory += "\(part)/"
      if mkdir(directory, 0o755) == 0 {
        made.append(directory)
      } else if errno != EEXIST {
        throw Failure(.internalError, directory, FileContents.lastError())
      }
    }
  }

  private static func write(_ text: String, to path: String, _ made: inout [String]) throws(Failure) {
    // O_EXCL: do not overwrite a file that was created since the check.
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Failure(.internalError, path, FileContents.lastError()) }
    defer { close(descriptor) }
    made.append(path)
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Failure(.internalError, path, FileContents.lastError()) }
      rest = rest.dropFirst(count)
    }
  }
}
