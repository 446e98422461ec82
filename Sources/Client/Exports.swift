// `import RPCurlClient` alone is sufficient: the modules of which the API of this one consists.
@_exported import RPCurlChain
@_exported import RPCurlProtobuf
@_exported import RPCurlProtocols
@_exported import struct RPCurlTransport.ConnectionOptions
@_exported import enum RPCurlBase.MonotonicClock
