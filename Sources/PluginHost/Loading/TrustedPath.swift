import RPCurlPlatform

/// Follows a path link by link, and rejects it if users other than root and this one control any part of it.
struct TrustedPath {
  private let path: String
  /// The names of the directories so far, without links.
  private var passed: [String] = []
  /// The remaining names, last to first.
  private var rest: [String]
  private var links = 0

  /// The kernel's limit (path_resolution(7)).
  private static let mostLinks = 40

  private init(_ path: String) throws(PluginError) {
    self.path = path
    guard path.hasPrefix("/") || Self.workingDirectory != nil else {
      throw .unreadable(path: path, reason: currentError())
    }
    let whole = path.hasPrefix("/") ? path : "\(Self.workingDirectory ?? "")/\(path)"
    rest = Self.names(whole).reversed()
  }

  /// Throws unless `path` leads to the file with these `facts`, and only through directories and links that
  /// only root and this user can change.
  static func require(_ path: String, leadsTo facts: FileFacts) throws(PluginError) {
    if let reason = facts.distrust { throw .untrusted(path: path, culprit: path, reason: reason) }
    var way = try TrustedPath(path)
    guard try way.follow().identity == facts.identity else { throw .replaced(path: path) }
  }

  /// Follows the whole path; returns the facts of the file at its end.
  private mutating func follow() throws(PluginError) -> FileFacts {
    var found = try check("/")
    while let name = rest.popLast() {
      if name == ".." {
        _ = passed.popLast()
        found = try check(place)
        continue
      }
      let next = (passed.isEmpty ? "" : place) + "/\(name)"
      let facts = try check(next)
      if facts.kind == .link {
        try follow(link: next)
      } else {
        passed.append(name)
        found = facts
      }
    }
    return found
  }

  private mutating func follow(link: String) throws(PluginError) {
    links += 1
    guard links <= Self.mostLinks, let target = Self.target(ofLink: link) else {
      if links > Self.mostLinks { errno = ELOOP }
      throw .unreadable(path: path, reason: currentError())
    }
    if target.hasPrefix("/") { passed = [] }
    rest += Self.names(target).reversed()
  }

  private var place: String { "/" + passed.joined(separator: "/") }

  private func check(_ place: String) throws(PluginError) -> FileFacts {
    guard let facts = FileFacts(link: place) else {
      throw .unreadable(path: path, reason: currentError())
    }
    guard let reason = facts.distrust else { return facts }
    if facts.kind == .link { throw .untrustedLink(path: path, link: place, reason: reason) }
    throw .untrusted(path: path, culprit: place, reason: reason)
  }

  private static func names(_ path: String) -> [String] {
    path.split(separator: "/").filter { $0 != "." }.map(String.init)
  }

  private static func target(ofLink path: String) -> String? {
    let buffer = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      buffer.withMemoryRebound(to: CChar.self) { characters in
        guard let start = characters.baseAddress else { return }
        count = max(0, readlink(path, start, characters.count))
      }
    }
    return buffer.isEmpty ? nil : String(decoding: buffer, as: UTF8.self)
  }

  private static var workingDirectory: String? {
    guard let path = getcwd(nil, 0) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }
}
