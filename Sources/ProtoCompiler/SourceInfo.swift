/// Writes `SourceCodeInfo`: the places of declarations with their comments.
enum SourceInfo {
  static func write(_ linker: borrowing Linker, _ writer: inout ByteWriter) {
    let start = writer.begin(9)
    var path = ContiguousArray<Int32>()
    for index in linker.tables.locations.indices {
      let location = linker.tables.locations[index]
      guard !isRemoved(location, linker) else { continue }
      path.removeAll(keepingCapacity: true)
      appendPath(of: location, linker, to: &path)
      write(location, path, linker, &writer)
    }
    writer.end(start)
  }

  /// Whether the location is one of an option that only sources have, or of one that is not part of the descriptor.
  private static func isRemoved(_ location: Location, _ linker: borrowing Linker) -> Bool {
    guard !linker.options.retainsOptions else { return false }
    switch location.option {
    case .none: return false
    case .option(let option):
      return linker.tables.options[option].isSourceRetention || linker.tables.options[option].isOwnerStripped
    case .block(let option): return linker.tables.options[option].isOwnerStripped
    }
  }

  private static func appendPath(
    of location: Location, _ linker: borrowing Linker, to path: inout ContiguousArray<Int32>
  ) {
    if location.parent != .none {
      appendPath(of: linker.tables.locations[location.parent], linker, to: &path)
    }
    if case .option(let option) = location.option, linker.tables.options[option].isInterpreted {
      path.append(contentsOf: linker.tables.paths[linker.tables.options[option].path.range])
      return
    }
    if location.first >= 0 { path.append(location.first) }
    if location.second >= 0 { path.append(location.second) }
  }

  private static func write(
    _ location: Location, _ path: ContiguousArray<Int32>, _ linker: borrowing Linker,
    _ writer: inout ByteWriter
  ) {
    let start = writer.begin(1)
    if !path.isEmpty {
      let pathStart = writer.begin(1)
      for number in path { writer.varint(UInt64(bitPattern: Int64(number))) }
      writer.end(pathStart)
    }
    let spanStart = writer.begin(2)
    writer.varint(UInt64(bitPattern: Int64(location.startLine)))
    writer.varint(UInt64(bitPattern: Int64(location.startColumn)))
    if location.endLine != location.startLine { writer.varint(UInt64(bitPattern: Int64(location.endLine))) }
    writer.varint(UInt64(bitPattern: Int64(location.endColumn)))
    writer.end(spanStart)
    if location.comments != .none { write(linker.tables.comments[location.comments], linker, &writer) }
    writer.end(start)
  }

  private static func write(
    _ comments: LocationComments, _ linker: borrowing Linker, _ writer: inout ByteWriter
  ) {
    linker.tables.commentBytes.withUnsafeBufferPointer { bytes in
      if !comments.leading.isEmpty {
        writer.field(3, bytes: UnsafeBufferPointer(rebasing: bytes[comments.leading.range]))
      }
      if !comments.trailing.isEmpty {
        writer.field(4, bytes: UnsafeBufferPointer(rebasing: bytes[comments.trailing.range]))
      }
      for range in comments.detached {
        writer.field(6, bytes: UnsafeBufferPointer(rebasing: bytes[range.range]))
      }
    }
  }
}
