import Protobuf
import RPCProtocols

// The forms of a message, built when a stage needs them.
extension Chain {
  /// The value, a message with the form that a stage needs; nil if it cannot be built, which ends the call.
  func prepared(_ item: Item, for stage: Stage, _ node: PipelineNode) -> Item? {
    guard let forms = item.message else { return item }
    return prepared(forms, for: stage, node).map { .message($0, isRequest: item.isRequest) }
  }

  /// The message with the form that a stage needs; nil if it cannot be built, which ends the call.
  func prepared(_ forms: MessageForms, for stage: Stage, _ node: PipelineNode) -> MessageForms? {
    switch stage {
    case .requestMessage: return typed(forms, codec.parseRequest, node, flushing: nil)
    case .responseMessage: return typed(forms, codec.parseResponse, node, flushing: node.index)
    case .requestBytes: return serialized(forms, below: outbound.typedCount, flushing: nil)
    default: return serialized(forms, below: node.position + 1, flushing: node.index)
    }
  }

  private func typed(
    _ forms: MessageForms, _ parse: ([UInt8]) throws -> Message, _ node: PipelineNode, flushing: Int?
  ) -> MessageForms? {
    guard forms.typed == nil, let bytes = forms.bytes else { return forms }
    do {
      var forms = forms
      forms.typed = try parse(bytes)
      return forms
    } catch {
      let error =
        error as? RPCError
        ?? RPCError(
          .internal, "the message cannot be parsed: \(error)", origin: flushing == nil ? .client : .violation)
      end(.breakdown(below: node.position + 1, error, flushing: flushing))
      return nil
    }
  }

  func serialized(_ forms: MessageForms, below position: Int, flushing: Int?) -> MessageForms? {
    guard forms.bytes == nil, let message = forms.typed else { return forms }
    do {
      var forms = forms
      forms.bytes = try codec.serialize(message)
      forms.sizeBytes = forms.bytes?.count ?? 0
      return forms
    } catch {
      let error =
        error as? RPCError
        ?? RPCError(.internal, "the message cannot be serialized: \(error)", origin: .client)
      end(.breakdown(below: position, error, flushing: flushing))
      return nil
    }
  }
}
