import RPCurlCall
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

extension RequestMessage {
  /// Encodes the message in the form that the call's chain and codec need.
  ///
  /// - Throws: `Failure` if the message is invalid.
  package func encode(for call: Call) throws(Failure) -> Payload {
    guard form.expansion == nil else { return try expanded(call.inputType).encode(for: call) }
    let payload = try encoded(for: call)
    guard case .typed = payload else { return payload }
    do {
      return try call.serialized(payload)
    } catch {
      throw Failure(.input, source, "the message cannot be sent as JSON: \(error)", hint: "use --codec proto")
        .lacking((error as? MessageParseError)?.missingName)
    }
  }

  @inline(__always)
  private func encoded(for call: Call) throws(Failure) -> Payload {
    guard form.edits.isEmpty, form.chunks == nil else { return .typed(try edited(call.inputType)) }
    switch form.format {
    case .json:
      do {
        return try readJSON { (options) throws(MessageParseError) in
          try call.encode(json: bytes, options: options)
        }
      } catch {
        throw failure(error, hint: arrayHint(error))
      }
    case .text:
      do {
        return try call.encode(
          text: bytes, options: TextDecodingOptions(allowUnknownFields: form.allowsUnknownFields))
      } catch {
        throw failure(error)
      }
    case .binary:
      do {
        return try call.encode(serialized: bytes)
      } catch {
        let place = start.byteOffset == 0 ? "" : "the message at byte \(start.byteOffset): "
        throw Failure(.input, source, place + error.description)
      }
    }
  }
}
