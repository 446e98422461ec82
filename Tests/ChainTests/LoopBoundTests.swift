import RPCurlChain
import RPCurlPlatform
import Testing

/// Values of the loop's thread in containers.
struct LoopBoundTests {
  private final class Argument: Sendable {
    let bound = LoopBound([1])
  }

  @Test func valueIsReadOnTheThreadOfTheContainer() {
    #expect(Argument().bound.value == [1])
  }

  @Test func readingOnAnotherThreadEndsTheProcess() async {
    await #expect(processExitsWith: .failure) {
      var thread = pthread_t()
      pthread_create(
        &thread, nil,
        { argument in
          guard let argument else { return nil }
          _ = Unmanaged<Argument>.fromOpaque(argument).takeRetainedValue().bound.value
          return nil
        }, Unmanaged.passRetained(Argument()).toOpaque())
      pthread_join(thread, nil)
    }
  }
}
