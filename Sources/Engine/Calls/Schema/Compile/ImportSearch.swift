import RPCurlPlatform

/// Searches for the directory that `-I` needs, near the files and the working directory.
struct ImportSearch {
  /// The largest number of directory entries that are read.
  static let entryLimit = 20_000
  /// How far below a directory the search goes, and how far above it in a git repository.
  private static let depthLimit = 8
  private static let levelLimit = 6
  /// The largest number of names.
  private static let nameLimit = 8

  private var entriesLeft: Int
  private var searched: Set<String> = []
  private var wanted: [String]
  /// The directory of each name that was found.
  private(set) var found: [String: String] = [:]

  /// Searches for names such as `google/api/annotations.proto`.
  ///
  /// - Parameters:
  ///   - names: The names.
  ///   - places: The absolute paths of directories. Those above them are searched first, then those below them, and then
  ///     those below the directories above them: up to the root of a git repository, or else one.
  ///   - entryLimit: The largest number of directory entries that are read.
  init(for names: [String], from places: [String], entryLimit: Int = entryLimit) {
    entriesLeft = entryLimit
    wanted = Array(
      names.filter { !$0.split(separator: Character("/")).contains("..") }.prefix(Self.nameLimit))
    for place in places {
      for directory in DirectoryPath.ancestors(place) { check(directory) }
    }
    for level in 0...Self.levelLimit {
      for place in places {
        let above = Self.reachable(place)
        if level < above.count { searchBelow(above[level]) }
      }
    }
  }

  /// The directory and those above it that are likely to belong to the same project.
  private static func reachable(_ place: String) -> ArraySlice<String> {
    let all = DirectoryPath.ancestors(place).dropLast()
    let root = all.firstIndex { DirectoryPath.exists(DirectoryPath.join($0, ".git")) }
    return root.map { all[...$0] } ?? all.prefix(2)
  }

  private mutating func check(_ directory: String) {
    for name in wanted where FileContents.isRegularFile(DirectoryPath.join(directory, name)) {
      found[name] = directory
      wanted.removeAll { $0 == name }
    }
  }

  /// Searches the directories below one, the nearest first. Symbolic links are not followed.
  private mutating func searchBelow(_ start: String) {
    var level = [start]
    for _ in 0...Self.depthLimit {
      var next: [String] = []
      for directory in level where !wanted.isEmpty && searched.insert(directory).inserted {
        check(directory)
        next += directories(in: directory)
      }
      level = next
    }
  }

  /// The directories in a directory, sorted, except hidden ones and those of packages.
  private mutating func directories(in directory: String) -> [String] {
    let entries = Directory.entries(in: directory, limit: entriesLeft)
    entriesLeft -= entries.count
    return entries.filter {
      $0.mayBeDirectory && !$0.isLink && !$0.name.hasPrefix(".") && $0.name != "node_modules"
    }
    .map { DirectoryPath.join(directory, $0.name) }.sorted()
  }
}
