import CallEngine
import Output
import Protobuf
import RPCProtocols

extension RequestMessage {
  /// Encodes the message; looks up names that the schema lacks. Runs the event loop.
  ///
  /// - Throws: `Failure` if the message is invalid, or if a signal arrived.
  package func encode(for call: Call, _ lookup: NameLookup?) throws(Failure) -> Payload {
    let message = try expanded()
    return try NameLookup.resolving(lookup) { () throws(Failure) in
      try message.encode(for: call, asking: lookup)
    }
  }

  /// Encodes the message. If unknown fields are ignored, fails as long as `lookup` can find a name of them.
  ///
  /// - Throws: `Failure` if the message is invalid.
  func encode(for call: Call, asking lookup: NameLookup?) throws(Failure) -> Payload {
    if form.allowsUnknownFields, let lookup {
      let names: [UnresolvedName] =
        switch form.format {
        case .json: UnresolvedName.all(inJSON: bytes)
        case .text: UnresolvedName.all(inText: bytes)
        case .binary: []
        }
      if let missing = lookup.missing(among: names) {
        throw Failure(.input, source, "the schema lacks names").lacking(missing)
      }
    }
    return try encode(for: call)
  }

  /// Encodes the message in the form that the call's chain and codec need.
  ///
  /// - Throws: `Failure` if the message is invalid.
  package func encode(for call: Call) throws(Failure) -> Payload {
    guard form.functions == nil else { return try expanded().encode(for: call) }
    let payload = try encoded(for: call)
    do {
      return try call.serialized(payload)
    } catch {
      throw Failure(.input, source, "the message cannot be sent as JSON: \(error)", hint: "use --codec proto")
    }
  }

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
