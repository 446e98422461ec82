import RPCurlClient

try await withRPCClient("http://localhost:50051", schema: .reflection) { client in
}
