import RPCurlProtocols

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension RPCError: LocalizedError {
  /// The name of the code and the message, as `description`: `error.localizedDescription` has this text.
  public var errorDescription: String? { description }
}

extension RPCError {
  /// The error of a call for an error that a function of the program has thrown; nil if it has none of its own.
  init?(thrown error: any Error) {
    switch error {
    case let error as RPCError: self = error
    case is CancellationError: self = ActiveCall.taskCanceled
    default: return nil
    }
  }
}
