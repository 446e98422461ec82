import Protobuf

/// What completion and hints need of the session: provided by the session to the editor.
package protocol SessionKnowledge: AnyObject {
  /// The schema as far as known.
  var pool: DescriptorPool? { get }
  /// Full names.
  var services: [String] { get }
  /// Message type of the open stream that lines go to; nil when none.
  var currentRequestType: MessageType? { get }
  /// For "call METHOD {…" lines; nil when unknown.
  func requestType(of method: String) -> MessageType?
  /// On the chain now, in order.
  var interceptorNames: [String] { get }
  /// The streams that are open, with what is to be known of them.
  var openStreams: [(number: Int, note: String)] { get }
  /// The variables that are set, without the dollar sign.
  var variables: [String] { get }
  /// What was typed of a statement that goes on in the next line; empty when none has begun.
  var begun: String { get }
  /// Learns the schema, which may mean to ask the server, while no lines are taken; tells when that fails. Then
  /// `completion` is called.
  func learn(_ completion: @escaping () -> Void)
  /// Name, usage, one-line help, what its arguments are (method, symbol, file, …).
  var commands: [SessionVerb] { get }
}
