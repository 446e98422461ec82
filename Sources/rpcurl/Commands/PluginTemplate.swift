import Glibc
import Output
import System

/// A small plugin to start from: it adds a header, which a key sets, to each request.
struct PluginTemplate {
  /// What it is written in.
  enum Language: String {
    case c, swift
  }

  private let name: String
  private let files: [(path: String, text: String)]

  /// Prepares a plugin.
  init(name: String, language: Language) throws(Failure) {
    let isName =
      name.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d }
      && name.utf8.first.map { (0x61...0x7a).contains($0) } == true && !name.hasSuffix("-")
    guard isName else {
      throw Failure(
        .usage, "", "'\(name)' is not a plugin's name",
        hint: "it has lower-case letters, digits and hyphens, and begins with a letter")
    }
    self.name = name
    switch language {
    case .c:
      guard let headers = Installation.headers else { throw Self.missing("include/rpcurl/plugin.h") }
      files = Self.c(name, headers: headers)
    case .swift:
      guard let kit = Installation.swiftKit else { throw Self.missing("share/rpcurl/SwiftKit") }
      files = Self.swift(name, kit: kit)
    }
  }

  private static func missing(_ what: String) -> Failure {
    Failure(
      .interceptor, "", "\(Installation.prefix)/\(what) is not there", hint: "make install puts it there")
  }

  /// Writes it. What is there already is left alone.
  func write(to directory: String) throws(Failure) {
    if access(directory, F_OK) == 0, files.contains(where: { access("\(directory)/\($0.path)", F_OK) == 0 }) {
      throw Failure(
        .usage, directory, "it has such files already, which are not overwritten", hint: "give --dir")
    }
    for file in files {
      let path = "\(directory)/\(file.path)"
      try Self.makeDirectories(above: path)
      try Self.write(file.text, to: path)
    }
  }

  private static func makeDirectories(above path: String) throws(Failure) {
    var made = ""
    for part in path.split(separator: "/", omittingEmptySubsequences: false).dropLast() {
      made += "\(part)/"
      guard mkdir(made, 0o755) != 0, errno != EEXIST else { continue }
      throw Failure(.input, made, FileContents.lastError())
    }
  }

  private static func write(_ text: String, to path: String) throws(Failure) {
    // Nothing is overwritten, not even what came between the look and this.
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Failure(.input, path, FileContents.lastError()) }
    defer { close(descriptor) }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Failure(.input, path, FileContents.lastError()) }
      rest = rest.dropFirst(count)
    }
  }
}
