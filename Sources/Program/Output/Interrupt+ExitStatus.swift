import RPCurlPlatform

extension Interrupt {
  /// The exit status of a process that ends because of the signal that arrived.
  package static var status: ExitStatus { isTermination ? .terminated : .interrupted }

  /// The error of the signal that arrived; nil if none has.
  package static var failure: Failure? { isPending ? Failure(status, "", reason) : nil }
}
