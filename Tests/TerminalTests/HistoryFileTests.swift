import Foundation
import Testing

@testable import Terminal

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

  @Test func keepsLinesOfConcurrentSessions() throws {
    try withDirectory { directory in
      var first = try history(directory)
      var second = try history(directory)
      first.add("one")
      second.add("two")
      first.add("two")
      first.add("header authorization: x")
      first.add("three\nfour")
      first.add("")
      second.add("five")
      #expect(try history(directory).lines() == ["one", "two", "five"])
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
      let all = history.lines()
      #expect(all.count == HistoryFile.limit)
      #expect(all.first == "line 1")
      #expect(all.last == "last")
    }
  }

  @Test func returnsNilWithoutHomeDirectory() throws {
    #expect(HistoryFile(environment: { _ in nil }, isSecret: { _ in false }) == nil)
    #expect(HistoryFile(environment: { $0 == "HOME" ? "relative" : nil }, isSecret: { _ in false }) == nil)
  }
}
