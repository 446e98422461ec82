import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Changes fields of the messages of one call.
final class Edit: StagedInterceptor {
  let stages: Stages
  private let request: [FieldChange]
  private let response: [FieldChange]
  private let context: CallContext

  init(
    request: [FieldChange], response: [FieldChange], _ context: CallContext
  ) {
    self.request = request
    self.response = response
    self.context = context
    stages = Self.stages(request: request, response: response)
  }

  /// The stages at which these changes are made.
  static func stages(request: [FieldChange], response: [FieldChange]) -> Stages {
    Stages((request.isEmpty ? [] : [Stages.requestMessage]) + (response.isEmpty ? [] : [.responseMessage]))
  }

  /// Throws unless the types of the call have the fields.
  func check(_ call: CallFacts) throws(RPCError) {
    for (changes, type) in [(request, call.requestType), (response, call.responseType)] {
      guard let type else { continue }
      for change in changes {
        do throws(FieldPathError) { try change.check(type) } catch { throw self.error(change, "\(error)") }
      }
    }
  }

  func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) throws {
    token.proceed(try changed(message, request))
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) throws {
    token.proceed(try changed(message, response))
  }

  private func changed(_ value: MessageValue, _ changes: [FieldChange]) throws -> MessageValue {
    var value = value
    var message = try value.typed
    for change in changes {
      do throws(LanguageError) {
        try change.apply(to: &message)
      } catch {
        throw self.error(change, error.reason)
      }
    }
    try value.setTyped(message)
    return value
  }

  private func error(_ change: FieldChange, _ reason: String) -> RPCError {
    RPCError(.failedPrecondition, "\(change.name): \(reason)", origin: .interceptor(context.name))
  }
}
