import RPCurlCall
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// Encoding a message with names that the schema lacks and the server has.
extension RequestMessage {
  /// Encodes the message; looks up names that the schema lacks. Runs the event loop.
  ///
  /// - Throws: `Failure` if the message is invalid, or if a signal arrived.
  package func encode(for call: Call, _ lookup: NameLookup?) throws(Failure) -> Payload {
    try NameLookup.resolving(lookup) { () throws(Failure) in
      try encode(for: call, asking: lookup)
    }
  }

  /// Encodes the message. If unknown fields are ignored, fails as long as `lookup` can find a name of them.
  ///
  /// - Throws: `Failure` if the message is invalid.
  func encode(for call: Call, asking lookup: NameLookup?) throws(Failure) -> Payload {
    guard form.expansion == nil else {
      return try expanded(call.inputType).encode(for: call, asking: lookup)
    }
    if form.allowsUnknownFields, let lookup {
      let names: [UnresolvedName] =
        switch form.format {
        case .json: UnresolvedName.all(inJSON: bytes)
        case .text: UnresolvedName.all(inBracketsOf: String(decoding: bytes, as: UTF8.self))
        case .binary: []
        }
      if let missing = lookup.missing(among: names) {
        throw Failure(.input, source, "the schema lacks names").with(.missingNames(missing))
      }
    }
    return try encode(for: call)
  }

  /// The message with the fields of the options, for a call's plan. Names that the schema lacks are looked up.
  ///
  /// - Throws: `Failure` if the message is invalid.
  package func message(for plan: CallPlan) throws(Failure) -> Message {
    try NameLookup.resolving(plan.pool, plan.reflection) { () throws(Failure) in
      try expanded(plan.method.input).edited(plan.method.input)
    }
  }
}
