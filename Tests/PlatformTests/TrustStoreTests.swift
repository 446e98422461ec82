import RPCurlBase
import RPCurlCommandSupport
import RPCurlProtobuf
import Testing

@testable import RPCurlPlatform

struct TrustStoreTests {
  private let directory = TemporaryDirectory()

  private func folder() throws -> TemporaryDirectory { try #require(directory) }

  private func store() throws -> TrustStore {
    let path = try folder().path
    return try #require(TrustStore { ["XDG_STATE_HOME": path][$0] })
  }

  private func problem(_ body: () throws -> Void) -> SystemError? {
    #expect(throws: SystemError.self, performing: body)
  }

  @Test(arguments: [[:], ["HOME": "relative"], ["XDG_STATE_HOME": "relative"]])
  func needsDirectory(environment: [String: String]) {
    #expect(TrustStore { environment[$0] } == nil)
  }

  @Test func keepsDigestOfLastTrustedContents() throws {
    let store = try store()
    #expect(try store.entries() == [])
    #expect(try store.entry(of: "/a\n\u{1b}b/.rpcurl") == nil)
    try store.trust("/a\n\u{1b}b/.rpcurl", contents: Array("1".utf8))
    try store.trust("/a/.rpcurl", contents: Array("2".utf8))
    try store.trust("/a/.rpcurl", contents: Array("3".utf8))
    let expected = [
      TrustStore.Entry(path: "/a\n\u{1b}b/.rpcurl", digest: SHA256.digest(of: Array("1".utf8))),
      TrustStore.Entry(path: "/a/.rpcurl", digest: SHA256.digest(of: Array("3".utf8))),
    ]
    #expect(try store.entries() == expected)
    #expect(try store.entry(of: "/a/.rpcurl") == expected[1])
    #expect(try store.revoke("/a/.rpcurl"))
    #expect(try !store.revoke("/a/.rpcurl"))
    #expect(try store.entries() == [expected[0]])
  }

  /// A file that is replaced while it is read is opened again.
  @Test func severalThreadsUseOneEntry() async throws {
    let store = try store()
    let problems = await withTaskGroup(of: [SystemError].self) { group in
      for number in 0..<4 {
        group.addTask {
          var problems: [SystemError] = []
          for _ in 0..<300 {
            do throws(SystemError) {
              try store.trust("/a/.rpcurl", contents: [UInt8(number)])
              _ = try store.entry(of: "/a/.rpcurl")
            } catch {
              problems.append(error)
            }
          }
          return problems
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    #expect(problems.map(\.reason) == [])
  }

  @Test func writesPrivateFiles() throws {
    let store = try store()
    try store.trust("/a/.rpcurl", contents: [])
    let trust = "\(try folder().path)/rpcurl/trust"
    let name = SHA256.digest(of: Array("/a/.rpcurl".utf8))
    var status = stat()
    #expect(lstat("\(trust)/\(name)", &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(lstat(trust, &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test func rejectsEntryThatOthersCanWrite() throws {
    let store = try store()
    try store.trust("/a/.rpcurl", contents: [])
    let file = "\(try folder().path)/rpcurl/trust/\(SHA256.digest(of: Array("/a/.rpcurl".utf8)))"
    chmod(file, 0o606)
    #expect(problem { _ = try store.entry(of: "/a/.rpcurl") }?.hint == "chmod go-w \(file)")
    chmod(file, 0o600)
    chmod("\(try folder().path)/rpcurl", 0o777)
    #expect(problem { _ = try store.entries() }?.reason.contains("others can write the directory") == true)
    #expect(problem { try store.trust("/b/.rpcurl", contents: []) } != nil)
  }

  @Test(arguments: ["", "rpcurl trust 1\n", "rpcurl trust 1\nx\n/other\n", "rpcurl trust 1\nx\n/a/.rpcurl"])
  func rejectsDamagedEntry(contents: String) throws {
    let store = try store()
    try store.trust("/a/.rpcurl", contents: [])
    try folder().write(
      "rpcurl/trust/\(SHA256.digest(of: Array("/a/.rpcurl".utf8)))", Array(contents.utf8))
    #expect(problem { _ = try store.entry(of: "/a/.rpcurl") }?.reason == "not a file of rpcurl trust")
  }

  @Test func followsNoLink() throws {
    let store = try store()
    try store.trust("/a/.rpcurl", contents: [])
    let trust = "\(try folder().path)/rpcurl/trust"
    let name = SHA256.digest(of: Array("/a/.rpcurl".utf8))
    #expect(rename("\(trust)/\(name)", "\(trust)/moved") == 0 && symlink("moved", "\(trust)/\(name)") == 0)
    #expect(problem { _ = try store.entry(of: "/a/.rpcurl") } != nil)
  }
}
