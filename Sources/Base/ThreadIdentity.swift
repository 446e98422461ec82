import RPCurlCSystem

/// A number that no other running thread has; never 0.
@inline(__always)
package func currentThreadIdentity() -> UInt {
  csystem_thread()
}
