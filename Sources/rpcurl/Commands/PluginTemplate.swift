import RPCurlPlatform
import RPCurlProgram

/// The source of a small new plugin, which adds a header to each request.
struct PluginTemplate {
  /// The language of the plugin; the last three make scripts.
  enum Language: String {
    case c, cpp, swift, rust, python, js, sh
  }

  private let files: [(path: String, text: String)]
  /// Whether the plugin is a script, which is not built.
  let isScript: Bool

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
    let (templates, others) = Self.templates(of: language)
    guard !templates.contains(where: { $0.path == name + ".py" || $0.path == name + ".js" }) else {
      throw Failure(.usage, "", "'\(name)' is the name of the kit", hint: "use another name")
    }
    guard language != .python || !Self.pythonModules.split(whereSeparator: \.isWhitespace).contains(name[...])
    else {
      throw Failure(
        .usage, "", "'\(name)' is the name of a module of Python, which the script would replace",
        hint: "use another name")
    }
    let find = String(decoding: PackageResources.find_mk, as: UTF8.self)
    let module = name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    let crate = name.replacing("-", with: "_")
    let words =
      [("@FIND@\n", find), ("@NAME@", name), ("@MODULE@", module), ("@CRATE@", crate)] + others
    func fill(_ text: String) -> String {
      words.reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
    isScript = [.python, .js, .sh].contains(language)
    files = templates.map { (fill($0.path), fill(String(decoding: $0.bytes, as: UTF8.self))) }
  }

  /// The modules of Python's standard library, of Python 3.9 to 3.13: the folder of a script comes first in its search path.
  private static let pythonModules = """
    abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect
    builtins bz2 calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall concurrent
    configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal
    difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput
    fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq
    hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3
    linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt
    multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib
    pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd
    pyclbr pydoc pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select
    selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 ssl stat
    statistics string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib
    tempfile termios textwrap this threading time timeit tkinter token tokenize tomllib trace traceback
    tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref
    webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo
    """

  /// The paths of the files with their texts, and what further words in them stand for.
  private static func templates(
    of language: Language
  ) -> (files: [(path: String, bytes: [UInt8])], words: [(String, String)]) {
    switch language {
    case .c:
      return (
        [("@NAME@.c", PackageResources.plugin_c), ("Makefile", PackageResources.c_mk), readme],
        [
          ("@ENDING@", "c"), ("@COMPILER@", "CC"), ("@FLAGS@", "CFLAGS"), ("@STANDARD@", "-std=gnu11"),
          ("@VARIABLE@", "HEADERS"), ("@DIRECTORY@", "includedir"),
        ]
      )
    case .cpp:
      return (
        [("@NAME@.cpp", PackageResources.plugin_cpp), ("Makefile", PackageResources.c_mk), readme],
        [
          ("@ENDING@", "cpp"), ("@COMPILER@", "CXX"), ("@FLAGS@", "CXXFLAGS"), ("@STANDARD@", "-std=c++17"),
          ("@VARIABLE@", "HEADERS"), ("@DIRECTORY@", "includedir"),
        ]
      )
    case .swift:
      return (
        [
          ("Package.swift", PackageResources.Package_swift_in), ("Makefile", PackageResources.swift_mk),
          ("Sources/@MODULE@/@MODULE@.swift", PackageResources.Plugin_swift_in),
          ("Tests/@MODULE@Tests/@MODULE@Tests.swift", PackageResources.PluginTests_swift_in),
          readme,
        ], [("@VARIABLE@", "KIT"), ("@DIRECTORY@", "swiftkit")]
      )
    case .rust:
      return (
        [
          ("Cargo.toml", PackageResources.Cargo_toml), ("build.rs", PackageResources.build_rs),
          ("Makefile", PackageResources.rust_mk), ("src/lib.rs", PackageResources.lib_rs),
          readme,
        ], [("@VARIABLE@", "KIT"), ("@DIRECTORY@", "rustkit")]
      )
    case .python:
      return script(
        "py", PackageResources.script_py_in, PackageResources.script_test_py_in,
        kit: PackageResources.rpcurl_py,
        needs: "Python 3.9 or newer; `rpcurl.py` is the kit of rpcurl")
    case .js:
      return script(
        "js", PackageResources.script_js_in, PackageResources.script_test_js_in,
        kit: PackageResources.rpcurl_js,
        needs: "Node.js 18 or newer; `rpcurl.js` is the kit of rpcurl")
    case .sh:
      return script(
        "sh", PackageResources.script_sh_in, PackageResources.script_test_sh_in, kit: nil, needs: "jq")
    }
  }

  private static var readme: (path: String, bytes: [UInt8]) { ("README.md", PackageResources.README_md) }

  /// The files of a script, with the kit beside it.
  private static func script(
    _ ending: String, _ script: [UInt8], _ test: [UInt8], kit: [UInt8]?, needs: String
  ) -> (files: [(path: String, bytes: [UInt8])], words: [(String, String)]) {
    let files = [
      ("@NAME@.\(ending)", script), ("test_@NAME@.\(ending)", test), ("Makefile", PackageResources.script_mk),
      ("README.md", PackageResources.script_README_md),
    ]
    return (
      files + (kit.map { [("rpcurl.\(ending)", $0)] } ?? []), [("@ENDING@", ending), ("@NEEDS@", needs)]
    )
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
    // A script can be run.
    let mode: mode_t = text.hasPrefix("#!") ? 0o755 : 0o644
    // O_EXCL: do not overwrite a file that was created since the check.
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw Failure(.internalError, path, FileContents.lastError()) }
    defer { close(descriptor) }
    made.append(path)
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { RPCurlPlatform.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Failure(.internalError, path, FileContents.lastError()) }
      rest = rest.dropFirst(count)
    }
  }
}
