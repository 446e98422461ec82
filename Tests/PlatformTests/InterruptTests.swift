import Testing

@testable import RPCurlPlatform

struct InterruptTests {
  /// ThreadSanitizer reports state that is not shared safely: suites of a test process handle signals side by side.
  @Test func threadsShareTheState() async {
    let descriptors = await withTaskGroup(of: Int32?.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let descriptor = Interrupt.install()
          for _ in 0..<1000 {
            Interrupt.rearm()
            guard !Interrupt.isPending else { return nil }
          }
          return descriptor
        }
      }
      return await group.reduce(into: Set<Int32?>()) { $0.insert($1) }
    }
    #expect(descriptors == [Interrupt.descriptor])
    #expect(Interrupt.descriptor >= 0)
  }
}
