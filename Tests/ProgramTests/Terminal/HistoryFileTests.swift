import Foundation
import RPCurlCommandSupport
import RPCurlPlatform
import Testing

@testable import RPCurlProgram

struct HistoryFileTests {
  private func withDirectory(_ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  private func history(_ directory: String) throws -> HistoryFile {
    try #require(
      HistoryFile(
        environment: { $0 == "XDG_STATE_HOME" ? directory : nil }, isSecret: { $0.contains("authorization") })
    )
  }

  @Test func writesTheLinesOfAPasteTogether() throws {
    try withDirectory { directory in
      var history = try history(directory)
      history.add("one", isLast: false)
      #expect(try self.history(directory).lines() == [])
      history.add("two", isLast: false)
      history.flush()
      #expect(try self.history(directory).lines() == ["one", "two"])
    }
  }

  @Test func keepsLinesOfConcurrentSessions() throws {
    try withDirectory { directory in
      var first = try history(directory)
      var second = try history(directory)
      first.add("one")
      second.add("two")
      first.add("two")
      first.add("header authorization: x")
      first.add("three\nfour")
      first.add("header\nauthorization: x")
      first.add("a\u{2028}b")
      first.add("")
      second.add("five")
      #expect(try history(directory).lines() == ["one", "two", "three\nfour", "five"])
      let path = "\(directory)/rpcurl/history"
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "one\ntwo\nthree\u{0B}four\nfive\n")
    }
  }

  /// A line that cannot be written now is written with the next one.
  @Test func keepsLinesWhileAnotherProcessHoldsTheFile() throws {
    try withDirectory { directory in
      var history = try history(directory)
      history.add("one")
      let other = open(history.path, O_RDONLY | O_CLOEXEC)
      FileLock.lockForReading(other)
      history.add("two")
      #expect(throws: (any Error).self) { try history.close() }
      close(other)
      history.add("three")
      #expect(try self.history(directory).lines() == ["one", "two", "three"])
    }
  }

  @Test func keepsLinesOfManyThreads() throws {
    try withDirectory { directory in
      let waits = (0..<8).map { number in
        startThread {
          guard var history = try? self.history(directory) else { return }
          for count in 0..<50 { history.add("\(number) \(count)") }
          // Other threads may take longer than it waits.
          while (try? history.close()) == nil {}
        }
      }
      for wait in waits { wait() }
      let lines = try history(directory).lines()
      #expect(lines.count == 400)
      for number in 0..<8 {
        #expect(lines.filter { $0.hasPrefix("\(number) ") } == (0..<50).map { "\(number) \($0)" })
      }
    }
  }

  @Test func isPrivate() throws {
    try withDirectory { directory in
      var history = try history("\(directory)/state")
      history.add("one")
      let manager = FileManager.default
      let modes = try ["state", "state/rpcurl", "state/rpcurl/history"].map {
        try #require(manager.attributesOfItem(atPath: "\(directory)/\($0)")[.posixPermissions] as? Int)
      }
      #expect(modes == [0o700, 0o700, 0o600])
    }
  }

  @Test func limitsLines() throws {
    try withDirectory { directory in
      let lines = (0..<HistoryFile.limit).map { "line \($0)\n" }.joined()
      var history = try history(directory)
      history.add("first")
      try lines.write(toFile: "\(directory)/rpcurl/history", atomically: true, encoding: .utf8)
      history.add("last")
      let all = try history.lines()
      #expect(all.count == HistoryFile.limit)
      #expect(all.first == "line 1")
      #expect(all.last == "last")
    }
  }

  @Test func keepsLinesThatAreNotUTF8() throws {
    try withDirectory { directory in
      var history = try history(directory)
      history.add("first")
      let file = URL(fileURLWithPath: history.path)
      try Data(Array("one\nna\u{E9}ve\ntwo\n".unicodeScalars.map { UInt8($0.value) })).write(to: file)
      history.add("last")
      #expect(try history.lines() == ["one", "two", "last"])
      let expected = "one\nna\u{E9}ve\ntwo\nlast\n".unicodeScalars.map { UInt8($0.value) }
      #expect(try Array(Data(contentsOf: file)) == expected)
    }
  }

  @Test func keepsFileThatCannotBeRead() throws {
    try withDirectory { directory in
      var history = try history(directory)
      history.add("first")
      try FileManager.default.removeItem(atPath: history.path)
      // Sparse, larger than the limit.
      #expect(FileManager.default.createFile(atPath: history.path, contents: Data("kept\n".utf8)))
      #expect(truncate(history.path, 65 << 20) == 0)
      #expect(throws: (any Error).self) { try history.lines() }
      history.add("last")
      #expect(throws: (any Error).self) { try history.close() }
      let size = try FileManager.default.attributesOfItem(atPath: history.path)[.size] as? Int
      #expect(size == 65 << 20)
    }
  }

  @Test func linkToNullDeviceIsNoHistory() throws {
    try withDirectory { directory in
      var history = try history(directory)
      history.add("first")
      try FileManager.default.removeItem(atPath: history.path)
      try FileManager.default.createSymbolicLink(atPath: history.path, withDestinationPath: "/dev/null")
      history.add("last")
      #expect(try history.lines() == [])
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: history.path) == "/dev/null")
    }
  }

  @Test func returnsNilWithoutHomeDirectory() throws {
    #expect(HistoryFile(environment: { _ in nil }, isSecret: { _ in false }) == nil)
    #expect(HistoryFile(environment: { $0 == "HOME" ? "relative" : nil }, isSecret: { _ in false }) == nil)
  }
}
