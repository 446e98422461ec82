#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A number that no other running thread has; never 0.
@inline(__always)
func currentThreadIdentity() -> UInt {
  UInt(pthread_self())
}
