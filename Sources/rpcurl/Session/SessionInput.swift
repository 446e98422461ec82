import Protobuf

/// Where a session's lines come from, and what is shown meanwhile.
protocol SessionInput: AnyObject {
  /// Called with each line, without its end; `nil` at the end of input (Ctrl-D on an empty line, or a pipe's end).
  var onLine: ((String?) -> Void)? { get set }
  /// Called for Ctrl-C typed at the prompt (the line typed so far is dropped by the editor); true if something
  /// was there to drop.
  var onInterrupt: ((_ hadText: Bool) -> Void)? { get set }
  /// Asks for lines under this prompt from now on; several calls change the prompt.
  func ask(_ prompt: String)
  /// Takes no lines until `ask` is called again (while a unary call runs, an editor program is open …).
  func pause()
  /// Runs `body`, which writes to the terminal, with the line being typed out of the way, and shows it again.
  func aside(_ body: () throws -> Void) rethrows
  /// Adds to the history.
  func remember(_ line: String)
  /// Ends, giving the terminal back as it was.
  func close()
}

/// What completion and hints need of the session: provided by the session to the editor.
protocol SessionKnowledge: AnyObject {
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
