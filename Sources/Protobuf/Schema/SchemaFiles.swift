/// The files of descriptor sets, each in 32 bytes: a set may contain ten thousand, of which a call needs two.
///
/// The name and package of a file are at its beginning, and are read there when needed.
package struct SchemaFiles: RandomAccessCollection {
  private struct Entry {
    let bytes: UnsafeRawBufferPointer
    let nameHash: UInt32
    /// The mark of the package; its hash once the file is in a list.
    var package: UInt32
    let source: Int32
    /// The next file of a list of files, or `end` or `taken`.
    var next: Int32

    var file: SchemaIndex.File { DescriptorSetScanner.knownFile(bytes, source: Int(source)) }
  }

  private static let end: Int32 = -1
  /// Instead of the next file: the file is in no list.
  private static let taken: Int32 = -2
  /// The number of searches through all files before the lists are made: a call needs few packages.
  static let searchLimit = 4

  private var entries: [Entry] = []
  private var table = NameTable()
  /// The number of searches through all files.
  private(set) var searchCount = 0
  /// A file of each package that has no pending ones.
  private var exhausted: [Int] = []
  /// Lists of the pending files in order, each for the packages with certain hashes; made after `searchLimit` searches.
  private var heads: [Int32] = []
  /// The number of files from which the lists were made.
  private var listedCount = 0

  package init() {}

  package var startIndex: Int { 0 }
  package var endIndex: Int { entries.count }

  package subscript(number: Int) -> SchemaIndex.File { entries[number].file }

  func source(of number: Int) -> Int { Int(entries[number].source) }

  // MARK: Adding

  /// Adds the files of a set, all or none; they are not found by name yet.
  package mutating func append(_ set: UnsafeRawBufferPointer, source: Int) throws(DescriptorSetScanner
    .Malformed)
  {
    let firstNew = entries.count
    exhausted = []
    var failure: DescriptorSetScanner.Malformed?
    withUnsafeTemporaryAllocation(of: Entry.self, capacity: 128) { batch in
      var count = 0
      do throws(DescriptorSetScanner.Malformed) {
        try DescriptorSetScanner.files(of: set) { bytes, marks in
          if count == batch.count {
            append(batch[..<count], firstNew: firstNew, of: set, until: bytes.baseAddress)
            count = 0
          }
          batch.initializeElement(
            at: count,
            to: Entry(
              bytes: bytes, nameHash: marks.name, package: marks.package,
              source: Int32(truncatingIfNeeded: source), next: SchemaFiles.end))
          count &+= 1
        }
        append(batch[..<count], firstNew: firstNew, of: set, until: nil)
      } catch {
        failure = error
      }
    }
    if let failure {
      entries.removeSubrange(firstNew...)
      throw failure
    }
  }

  /// Adds entries, and reserves room for as many more as the set probably contains, to avoid copies.
  @inline(never)
  private mutating func append(
    _ batch: Slice<UnsafeMutableBufferPointer<Entry>>, firstNew: Int, of set: UnsafeRawBufferPointer,
    until position: UnsafeRawPointer?
  ) {
    if entries.count + batch.count > entries.capacity, let start = set.baseAddress, let position,
      start < position
    {
      let count = entries.count + batch.count - firstNew
      let expected = Double(count) * Double(set.count) / Double(position - start) * 1.1
      entries.reserveCapacity(firstNew + batch.count + Swift.max(Int(expected), count * 2))
    }
    entries.append(contentsOf: UnsafeBufferPointer(rebasing: batch))
  }

  /// Makes the files from `firstNew` on available by their names. Omits those with the name of a file in an
  /// earlier source, and duplicates in their own source.
  ///
  /// - Returns: The name of the first file that differs from another one with its name in the same source; it
  ///   and the following ones are omitted.
  mutating func merge(from firstNew: Int) -> String? {
    var count = firstNew
    let rival = entries.withUnsafeMutableBufferPointer { entries in
      table.fill(to: entries.count) { table -> Int? in
        var number = firstNew
        while number < entries.count {
          if !table.insert(entries[number].nameHash, count),
            let earlier = SchemaFiles.insert(entries[number], count, into: &table, of: entries)
          {
            guard earlier < firstNew || sameBytes(entries[earlier].bytes, entries[number].bytes) else {
              return number
            }
          } else {
            if count < number { entries[count] = entries[number] }
            count &+= 1
          }
          number &+= 1
        }
        return nil
      }
    }
    let name = rival.map { String(decoding: self[$0].name, as: UTF8.self) }
    entries.removeSubrange(count...)
    return name
  }

  /// Adds an entry with the hash of another; returns the entry with the same name if there is one.
  @inline(never)
  private static func insert(
    _ entry: Entry, _ number: Int, into table: inout NameTable.Filling,
    of entries: UnsafeMutableBufferPointer<Entry>
  ) -> Int? {
    table.insert(entry.nameHash, number) { sameBytes(entries[$0].file.name, entry.file.name) }
  }

  // MARK: Looking up

  func number(named name: UnsafeRawBufferPointer) -> Int? {
    table.find(NameTable.hash(name)) { sameBytes(self[$0].name, name) }
  }

  /// Whether the symbols of a file were not read yet.
  func isPending(_ number: Int) -> Bool { entries[number].next != SchemaFiles.taken }

  /// The first pending file of a package from `start` on, which is no longer pending.
  ///
  /// - Parameter start: 0, or the number after the previous result for the same package.
  mutating func takePending(of package: UnsafeRawBufferPointer, from start: Int) -> Int? {
    if heads.isEmpty {
      if exhausted.contains(where: { sameBytes(self[$0].package, package) }) { return nil }
      if start > 0 || searchCount < SchemaFiles.searchLimit { return search(package, from: start) }
    }
    if listedCount < entries.count { list() }
    return takeListed(of: package)
  }

  private mutating func search(_ package: UnsafeRawBufferPointer, from start: Int) -> Int? {
    if start == 0 { searchCount += 1 }
    let mark = DescriptorSetScanner.mark(ofPackage: package)
    var known: Int?
    let found = entries.withUnsafeMutableBufferPointer { entries -> Int? in
      var number = start
      while number < entries.count {
        if entries[number].package == mark, SchemaFiles.isFile(entries[number], of: package) {
          if entries[number].next != SchemaFiles.taken {
            entries[number].next = SchemaFiles.taken
            return number
          }
          known = number
        }
        number &+= 1
      }
      return nil
    }
    // The one before `start` is of the package too.
    if found == nil, let file = known ?? (start > 0 ? start - 1 : nil) { exhausted.append(file) }
    return found
  }

  @inline(never)
  private static func isFile(_ entry: Entry, of package: UnsafeRawBufferPointer) -> Bool {
    sameBytes(entry.file.package, package)
  }

  private mutating func takeListed(of package: UnsafeRawBufferPointer) -> Int? {
    guard !heads.isEmpty else { return nil }
    let hash = NameTable.fold(NameTable.hash(package))
    let head = Int(hash) & (heads.count - 1)
    var before: Int?
    var next = heads[head]
    while next >= 0 {
      let number = Int(next)
      next = entries[number].next
      if entries[number].package == hash, sameBytes(self[number].package, package) {
        if let before { entries[before].next = next } else { heads[head] = next }
        entries[number].next = SchemaFiles.taken
        return number
      }
      before = number
    }
    return nil
  }

  private mutating func list() {
    let size = NameTable.size(for: entries.count)
    heads = [Int32](unsafeUninitializedCapacity: size) { heads, count in
      heads.initialize(repeating: SchemaFiles.end)
      count = size
      entries.withUnsafeMutableBufferPointer { entries in
        for number in entries.indices.reversed() {
          if number >= listedCount {
            entries[number].package = NameTable.fold(NameTable.hash(entries[number].file.package))
          }
          guard entries[number].next != SchemaFiles.taken else { continue }
          let head = Int(entries[number].package) & (size - 1)
          entries[number].next = heads[head]
          heads[head] = Int32(truncatingIfNeeded: number)
        }
      }
    }
    listedCount = entries.count
  }
}
