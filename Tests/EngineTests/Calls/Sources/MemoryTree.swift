import RPCurlBase
import RPCurlPlatform

@testable import RPCurlEngine

extension RevisionFiles {
  /// The files of a revision of a repository at `/w`.
  static func memory(
    _ sources: [String: String], links: [String: String], submodules: Set<String> = []
  ) -> FileTree {
    var files = RevisionFiles(GitRepository(top: "/w"))
    files.sources = sources.mapValues { Array($0.utf8) }
    (files.links, files.submodules) = (links, submodules)
    return files.tree(.memory(["/w/own.proto": ""]))
  }
}

extension FileTree {
  /// Files in memory, by absolute path; links have the path of a file after `->`.
  static func memory(_ files: [String: String]) -> FileTree {
    var places: [String: (kind: Kind, text: String, node: UInt64)] = ["/": (.directory, "", 0)]
    for (index, path) in files.keys.sorted().enumerated() {
      places[path] = (.file, files[path] ?? "", UInt64(index * 1_000))
      for (depth, directory) in DirectoryPath.ancestors(path).dropFirst().enumerated()
      where places[directory] == nil {
        places[directory] = (.directory, "", UInt64(index * 1_000 + depth + 1))
      }
    }
    let all = places
    func place(_ path: String) -> (kind: Kind, text: String, node: UInt64)? {
      guard let found = all[path], found.text.hasPrefix("->") else { return all[path] }
      return place(String(found.text.dropFirst(2)))
    }
    return FileTree(
      status: { path in
        place(path).map { Status(kind: $0.kind, identity: FileFacts.Identity(device: 1, number: $0.node)) }
      },
      read: { (path) throws(SystemError) in
        guard let found = place(path) else {
          throw SystemError("No such file", .missing)
        }
        return Array(found.text.utf8)
      },
      entries: { (directory) throws(SystemError) in
        guard all[directory]?.kind == .directory else {
          throw SystemError("Not a directory", path: directory)
        }
        return all.compactMap { path, found in
          guard path != "/", DirectoryPath.parent(path) == directory else { return nil }
          let name = path.split(separator: Character("/")).last.map(String.init) ?? ""
          return Directory.Entry(name: name, mayBeDirectory: found.kind == .directory)
        }
      })
  }
}
