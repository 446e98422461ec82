import System

extension Interrupt {
  /// The exit status of a process that ends because of the signal that arrived.
  package static var status: ExitStatus { isTermination ? .terminated : .interrupted }
}
