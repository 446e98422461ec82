import RPCurlCPlugins
import RPCurlProtobuf
import RPCurlProtocols

/// RPCURL_FORM_...
enum MessageForm: UInt32 {
  /// In the call's codec.
  case serialized
  case json
  case binary

  init(_ number: UInt32) throws(ABIFailure) {
    guard let form = MessageForm(rawValue: number) else {
      throw ABIFailure.invalid("unknown message form: \(number)")
    }
    self = form
  }

  /// Parses a message in the form ``json`` or ``binary``.
  func parse(_ content: [UInt8], _ type: MessageType) throws(ABIFailure) -> Message {
    do {
      return self == .json ? try Message(type, json: content) : try Message(type, serialized: content)
    } catch {
      throw ABIFailure(RPCURL_EPARSE, "\(error)")
    }
  }

  /// Serializes a message in the form ``json`` or ``binary``.
  func serialize(_ message: Message) throws(DecodeError) -> [UInt8] {
    self == .json ? try message.json() : message.serialized()
  }
}

extension CodecName {
  /// The form of serialized messages.
  var form: MessageForm {
    switch self {
    case .json: .json
    case .proto: .binary
    }
  }
}
