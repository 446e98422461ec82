import RPCurlCall
import RPCurlCommandSupport
import RPCurlProtobuf
import Testing

@testable import RPCurlEngine

struct ReflectionCacheTests {
  private func name(_ target: String, _ service: String, _ facts: [String] = []) -> String {
    ReflectionCache.Key(target: target, service: service, facts: facts).fileName
  }

  @Test(arguments: [
    ("localhost:50051", "demo.v1.Demo", "localhost_50051-demo.v1.Demo-"),
    ("unix/run/a", "*", "unix_run_a-_-"),
    ("../../etc", "/x", "etc-x-"), ("größ", "", "gr__-"),
    (String(repeating: "a", count: 90), "", "aaaaaaaaaa"),
  ])
  func namesFileReadably(target: String, service: String, start: String) {
    let name = name(target, service)
    #expect(name.hasPrefix(start), "\(name)")
    #expect(!name.contains("/") && !name.hasPrefix("."))
    #expect(name.utf8.count <= 180)
  }

  @Test func isStable() {
    // Earlier versions' entries are still found.
    #expect(name("localhost:50051", "demo.v1.Demo", ["a", "b"]).split(separator: "-").last?.count == 16)
    #expect(name("a", "b", ["c"]) == name("a", "b", ["c"]))
  }

  @Test func dependsOnEachFactAndOnTheirBorders() {
    let names = [
      name("a", "b"), name("a", "b", [""]), name("a", "b", ["c"]), name("a", "b", ["c", ""]),
      name("a", "b", ["", "c"]),
      name("a", "bc"), name("ab", "c"), name("a", "b", ["cd"]), name("a", "b", ["c", "d"]), name("A", "b"),
    ]
    #expect(Set(names.map { $0.split(separator: "-").last }).count == names.count)
  }

  @Test(arguments: [
    (["XDG_CACHE_HOME": "/x"], true), (["HOME": "/h"], true), (["XDG_CACHE_HOME": "x"], false),
    (["HOME": "h"], false),
    ([:], false),
  ])
  func needsAbsoluteDirectory(environment: [String: String], exists: Bool) {
    #expect((ReflectionCache { environment[$0] } != nil) == exists)
  }

  @Test func hasABound() throws {
    let directory = try #require(TemporaryDirectory())
    let cache = try #require(ReflectionCache { $0 == "XDG_CACHE_HOME" ? directory.path : nil })
    let limit = ReflectionCache.limits.files
    for number in 0...limit {
      let key = ReflectionCache.Key(target: "host:80", service: "", facts: ["\(number)"])
      #expect(cache.store(services: ["a.S\(number)"], key) == nil)
    }
    let known = cache.known(of: Target(baseURL: "http://host:80")).services
    #expect(known.count < limit && known.contains("a.S\(limit)") && !known.contains("a.S0"))
  }

  @Test func listsServersAndServicesForCompletion() throws {
    let directory = try #require(TemporaryDirectory())
    let cache = try #require(ReflectionCache { $0 == "XDG_CACHE_HOME" ? directory.path : nil })
    #expect(cache.targets.isEmpty)
    for (target, services) in [("host:80", ["a.B", "a.C"]), ("other:443", ["d.E"]), ("unix/run/x", ["f.G"])] {
      let key = ReflectionCache.Key(target: target, service: "", facts: [])
      #expect(cache.store(services: services, key) == nil)
    }
    #expect(cache.targets == ["host:80", "other:443"])
    #expect(cache.known(of: Target(baseURL: "http://host:80")).services == ["a.B", "a.C"])
    #expect(cache.known(of: Target(baseURL: "http://localhost", unixSocket: "/run/x")).services == ["f.G"])
    #expect(cache.known(of: Target(baseURL: "http://none:80")).services.isEmpty)
  }

  @Test func loadsTheBytesThatTheServerSent() throws {
    let directory = try #require(TemporaryDirectory())
    let cache = try #require(ReflectionCache { $0 == "XDG_CACHE_HOME" ? directory.path : nil })
    let key = ReflectionCache.Key(target: "a", service: "b", facts: [])
    var schema = ReflectedSchema(version: .v1)
    schema.descriptorSet = Array(1...50)
    #expect(cache.store(schema, key) == nil)
    let set = try #require(cache.load(key, notOlderThan: .seconds(300))).set
    #expect(set.bytes.elementsEqual(schema.descriptorSet))
  }

  @Test func reportsUnusableDirectory() throws {
    let directory = try #require(TemporaryDirectory())
    directory.write("rpcurl", [])
    let cache = try #require(ReflectionCache { $0 == "XDG_CACHE_HOME" ? directory.path : nil })
    let key = ReflectionCache.Key(target: "a", service: "b", facts: [])
    #expect(cache.store(services: ["a"], key)?.hasSuffix("/rpcurl/reflection: Not a directory") == true)
    #expect(cache.load(key, notOlderThan: .seconds(10)) == nil)
  }
}
