/// The protocols by name.
package enum WireProtocols {
  /// Makes the state of a new call.
  package static func make(_ name: ProtocolName, _ parameters: CallParameters) -> any WireProtocol {
    switch name {
    case .grpc: EnvelopeCall<GRPCProtocol>(parameters)
    case .grpcWeb: EnvelopeCall<GRPCWebProtocol>(parameters)
    case .connect where parameters.kind == .unary: ConnectUnaryProtocol(parameters)
    case .connect: EnvelopeCall<ConnectStreamProtocol>(parameters)
    }
  }
}
