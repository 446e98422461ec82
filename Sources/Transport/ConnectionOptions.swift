/// How to reach a server, beyond its URL.
public struct ConnectionOptions: Sendable, Equatable {
  /// Which version of HTTP to speak.
  public enum HTTPVersion: Sendable {
    /// HTTP/1.1.
    case http1
    /// HTTP/2, negotiated over TLS; on a plain connection from the first byte on.
    case http2
    /// HTTP/2 from the first byte on, also over TLS.
    case http2PriorKnowledge
    /// HTTP/3, or what the server speaks instead.
    case http3
    /// HTTP/2 where TLS negotiates it, otherwise HTTP/1.1.
    case negotiated
  }

  /// A version of TLS.
  public enum TLSVersion: Sendable, Comparable {
    /// TLS 1.2.
    case tls12
    /// TLS 1.3.
    case tls13
  }

  /// A version of IP.
  public enum IPVersion: Sendable {
    /// IPv4.
    case v4
    /// IPv6.
    case v6
  }

  /// A client's certificate and its key, as files.
  public struct Certificate: Sendable, Equatable {
    /// The file of the certificate, and of the key unless that has one of its own.
    public var file: String
    /// The format of the file as libcurl names it: `P12` or `DER`; nil for PEM.
    public var format: String?
    /// The file of the key, in PEM.
    public var keyFile: String?
    /// What the key is encrypted with.
    public var passphrase: String?

    /// Makes a certificate.
    public init(file: String, keyFile: String? = nil, passphrase: String? = nil) {
      self.file = file
      self.keyFile = keyFile
      self.passphrase = passphrase
    }
  }

  /// Which version of HTTP to speak.
  public var httpVersion = HTTPVersion.negotiated
  /// A PEM file of the authorities to trust, instead of the system's.
  public var authoritiesFile: String?
  /// A directory of authorities to trust, prepared with `openssl rehash`.
  public var authoritiesDirectory: String?
  /// What shows the server who calls.
  public var certificate: Certificate?
  /// Whether the server's certificate is taken unchecked.
  public var isInsecure = false
  /// The oldest version of TLS to accept.
  public var oldestTLS: TLSVersion?
  /// The name that the server is asked for in TLS and that its certificate must have, instead of the URL's host.
  public var serverName: String?
  /// The path of a Unix socket to connect to instead of the URL's host.
  public var unixSocket: String?
  /// The name of a Unix socket of the abstract namespace to connect to instead of the URL's host.
  public var abstractUnixSocket: String?
  /// The version of IP that names are resolved to; nil for both.
  public var ipVersion: IPVersion?
  /// Servers to connect to instead of others: `HOST:PORT:HOST:PORT`, where an empty host or port is any, or the same.
  public var connectTo: [String] = []
  /// The name and the password for the proxy: `NAME:PASSWORD`.
  public var proxyCredentials: String?
  /// A proxy's URL; empty for none. `nil` leaves it to the environment.
  public var proxy: String?
  /// A file with credentials for hosts, in the form of `.netrc`; empty for the one in the home directory.
  public var netrcFile: String?
  /// Addresses for names: `HOST:PORT:ADDRESS`.
  public var resolve: [String] = []
  /// How long connecting may take, TLS included.
  public var connectTimeout = Duration.seconds(10)
  /// How long a connection may be silent before the peer is asked for a sign of life, and how long the peer may then
  /// take. TCP's own probes have whole seconds.
  public var keepaliveTime: Duration?

  /// Whether a transfer waits for a connection that is being made, to share it if it speaks HTTP/2, rather than
  /// making one of its own.
  public var sharesConnection = false
  /// Whether a transfer that is given up closes its connection, if no other transfer uses that. Otherwise libcurl may
  /// keep the reset to itself until the next transfer, and the server does not hear of it.
  public var closesWhenGivenUp = false

  /// Makes the default options.
  public init() {}
}
