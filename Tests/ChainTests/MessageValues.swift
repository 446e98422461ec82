import RPCurlChainSupport

@testable import RPCurlChain

extension MessageValue {
  /// A typed message of these tests.
  static func typed(_ text: String) -> MessageValue { MessageValue(typed: TestMessages.make(text)) }
  /// A serialized message of these tests.
  static func bytes(_ text: String) -> MessageValue { MessageValue(bytes: TestMessages.bytes(text)) }
}
