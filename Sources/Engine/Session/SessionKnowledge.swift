import RPCurlLanguage
import RPCurlProtobuf

/// The data that completion and hints need from a session.
package protocol SessionKnowledge: AnyObject {
  /// The schema; nil until it is fetched.
  var pool: DescriptorPool? { get }
  /// The full names of the services.
  var services: [String] { get }
  /// The request type of the current stream; nil if there is none.
  var currentRequestType: MessageType? { get }
  /// The request type of a method; nil if unknown.
  func requestType(of method: String) -> MessageType?
  /// The response type of a method; nil if unknown.
  func responseType(of method: String) -> MessageType?
  /// The interceptors of the chain, in order.
  var interceptorNames: [String] { get }
  /// The keys of the attributes of calls, in order.
  var attributeKeys: [String] { get }
  /// The numbers of the open streams, with a short description and the type of their responses.
  var openStreams: [(number: Int, note: String, response: MessageType?)] { get }
  /// What values, paths and conditions can name: the variables, and the last call.
  var scope: LanguageScope { get }
  /// Fetches the schema, which may involve a request to the server, and prints an error if that fails. Then calls
  /// `completion`.
  func learn(_ completion: @escaping () -> Void)
}
