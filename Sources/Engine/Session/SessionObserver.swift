import RPCurlLanguage
import RPCurlProgram

/// Follows the commands and calls of a session: a suite.
package protocol SessionObserver: AnyObject {
  /// Whether the time of the commands is over, which ends a sleep.
  var isTimeOver: Bool { get }
  /// The time that the commands have left; nil without a limit.
  var timeLeft: Duration? { get }
  /// A command follows those that have been run.
  ///
  /// - Parameter statement: The command.
  /// - Throws: An error if it may not follow what has failed.
  func settle(before statement: SessionStatement) throws
  /// A command is about to be run.
  ///
  /// - Parameter statement: The command, with its values.
  /// - Throws: Why it is not to be run.
  func willExecute(_ statement: SessionStatement) throws
  /// A call has begun.
  func began(_ stream: SessionStream)
  /// A message was encoded to be sent (`isRequest`), or was received.
  func exchanged(_ message: SessionMessage, isRequest: Bool, on stream: SessionStream)
  /// A call has ended and is printed, and commands see that.
  func ended(_ stream: SessionStream)
  /// A check of a call was made.
  ///
  /// - Parameters:
  ///   - check: The check, without `expect`.
  ///   - outcome: The outcome.
  ///   - stream: The call.
  /// - Returns: Whether the observer deals with a check that does not hold; otherwise the command fails.
  func checked(_ check: String, _ outcome: ConditionOutcome, of stream: SessionStream) -> Bool
}
