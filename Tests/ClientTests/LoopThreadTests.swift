import RPCurlBase
import RPCurlPlatform
import RPCurlProtobuf
import Testing

@testable import RPCurlClient

struct LoopThreadTests {
  /// A library such as OpenSSL frees its state of a thread at the thread's end, which must not happen beside the end of the
  /// process.
  @Test func endWaitsUntilLibrariesHaveFreedTheirState() {
    var key = pthread_key_t()
    #expect(pthread_key_create(&key) { $0?.storeBytes(of: 2, as: Int.self) } == 0)
    defer { pthread_key_delete(key) }
    for _ in 0..<100 {
      let state = UnsafeMutablePointer<Int>.allocate(capacity: 1)
      state.initialize(to: 1)
      defer { state.deallocate() }
      let (used, address) = (key, UInt(bitPattern: state))
      let thread = LoopThread()
      thread.start { pthread_setspecific(used, UnsafeRawPointer(bitPattern: address)) }
      thread.end()
      #expect(state.pointee == 2)
    }
  }

  @Test func threadDoesNotWaitForItself() {
    let thread = LoopThread()
    thread.start {}
    thread.add { thread.end() }
    thread.end()
    #expect(thread.isIsolatingCurrentContext() == false)
  }

  @Test func workAfterTheEndIsRunByOneThreadAtATime() async {
    let thread = LoopThread()
    thread.start {}
    thread.end()
    thread.end()
    // Without a lock: ThreadSanitizer reports a second thread.
    nonisolated(unsafe) var count = 0
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<1000 {
            thread.add {
              count += 1
              thread.add { count += 1 }
            }
          }
        }
      }
    }
    let total = Locked(0)
    thread.add { total.withLock { $0 = count } }
    #expect(total.withLock { $0 } == 8000)
    #expect(thread.isIsolatingCurrentContext() == false)
  }

  @Test func workOfAnEndedThreadIsNotInterrupted() {
    let thread = LoopThread()
    thread.start {}
    thread.end()
    let log = Locked<[String]>([])
    thread.add {
      thread.add { log.withLock { $0.append("second") } }
      log.withLock { $0.append("first") }
      thread.checkIsolated()
    }
    #expect(log.withLock { $0 } == ["first", "second"])
  }
}
