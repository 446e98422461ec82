// `import RPCClient` alone is sufficient: the modules of which the API of this one consists.
@_exported import AsyncInterception
@_exported import Interception
@_exported import Protobuf
@_exported import RPCProtocols
@_exported import struct Transport.ConnectionOptions
