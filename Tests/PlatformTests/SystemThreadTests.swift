import RPCurlBase
import RPCurlPlatform
import Testing

@Suite("Threads of the system")
struct SystemThreadTests {
  @Test("A joined thread has ended, and was another one")
  func joinWaitsForTheEnd() throws {
    let identity = Locked<UInt>(0)
    try SystemThread { identity.withLock { $0 = currentThreadIdentity() } }.join()
    let found = identity.withLock { $0 }
    #expect(found != 0 && found != currentThreadIdentity())
  }
}
