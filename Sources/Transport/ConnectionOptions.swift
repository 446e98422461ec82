/// How to reach a server, beyond its URL.
public struct ConnectionOptions: Sendable, Equatable {
  /// The version of HTTP to use.
  public enum HTTPVersion: Sendable {
    /// HTTP/1.1.
    case http1
    /// HTTP/2, the only version that is offered over TLS; with prior knowledge on a connection without TLS.
    case http2
    /// HTTP/2 with prior knowledge, also over TLS that negotiates nothing.
    case http2PriorKnowledge
    /// HTTP/3, or the version that the server supports.
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

  /// A client certificate and its key, as files or in memory.
  public struct Certificate: Sendable, Equatable {
    /// The file of the certificate, and of the key unless `keyFile` is set. For a certificate in memory, its name in errors.
    public var file: String
    /// The format of the file by libcurl's name: `P12` or `DER`; nil for PEM.
    public var format: String?
    /// The file of the key, in PEM.
    public var keyFile: String?
    /// The passphrase of the key.
    public var passphrase: String?
    /// The certificate in PEM, and the key unless `keyPEM` is set; nil if they are files.
    public let pem: [UInt8]?
    /// The key in PEM.
    public let keyPEM: [UInt8]?

    /// Makes a certificate that is in memory.
    ///
    /// A call fails with the cause `invalidClientCertificate`, `missingKey` or `wrongKey` if the bytes are
    /// not a certificate and its key.
    ///
    /// - Parameters:
    ///   - pem: The certificate in PEM, followed by those of its authorities, if the server needs them; and the key, unless it is
    ///     given apart.
    ///   - keyPEM: The key in PEM.
    ///   - passphrase: The passphrase of the key.
    public init(pem: [UInt8], keyPEM: [UInt8]? = nil, passphrase: String? = nil) {
      file = PEM.name(of: "certificate")
      keyFile = keyPEM == nil ? nil : PEM.name(of: "key")
      (self.pem, self.keyPEM, self.passphrase) = (pem, keyPEM, passphrase)
    }

    /// Makes a certificate in files.
    public init(file: String, keyFile: String? = nil, passphrase: String? = nil) {
      self.file = file
      self.keyFile = keyFile
      self.passphrase = passphrase
      (pem, keyPEM) = (nil, nil)
    }
  }

  /// The version of HTTP to use.
  public var httpVersion = HTTPVersion.negotiated
  /// A PEM file of authorities to trust, instead of the system's.
  public var authoritiesFile: String?
  /// A directory of authorities to trust, prepared with `openssl rehash`.
  public var authoritiesDirectory: String?
  /// Authorities to trust, in PEM, instead of the system's and of those in files. A call fails with the cause
  /// `invalidAuthorities` if the bytes contain no certificate.
  public var authoritiesPEM: [UInt8]?
  /// The client certificate.
  public var certificate: Certificate?
  /// Whether the server's certificate is not verified.
  public var isInsecure = false
  /// The minimum version of TLS.
  public var oldestTLS: TLSVersion?
  /// The name for TLS SNI and certificate verification, instead of the URL's host.
  public var serverName: String?
  /// The path of a Unix socket to connect to instead of the URL's host.
  public var unixSocket: String?
  /// The name of a Unix socket of the abstract namespace to connect to instead of the URL's host.
  public var abstractUnixSocket: String?
  /// The version of IP to resolve names to; nil for both.
  public var ipVersion: IPVersion?
  /// Servers to connect to instead of others: `HOST:PORT:HOST:PORT`. An empty first host or port matches any,
  /// an empty second one means no change.
  public var connectTo: [String] = []
  /// The credentials for the proxy: `NAME:PASSWORD`.
  public var proxyCredentials: String?
  /// The proxy's URL; empty for no proxy. `nil` uses the environment.
  public var proxy: String?
  /// A file with credentials for hosts, in the format of `.netrc`; empty for the one in the home directory.
  public var netrcFile: String?
  /// Addresses for names: `HOST:PORT:ADDRESS`.
  public var resolve: [String] = []
  /// The maximum time to connect, TLS included.
  public var connectTimeout = Duration.seconds(10)
  /// The time after which a silent connection is probed: by TCP, which uses whole seconds, and over HTTP/2 by a PING, if libcurl is
  /// 8.14 or newer. Nil for no probes.
  public var keepaliveTime: Duration?
  /// The time that the peer may take to respond to a probe before the connection counts as lost; nil for `keepaliveTime`.
  public var keepaliveTimeout: Duration?

  /// Whether a transfer waits for a connection that is being established, to share it if it uses HTTP/2,
  /// instead of opening its own.
  package var sharesConnection = false
  /// Whether a canceled transfer closes its connection if no other transfer uses it. Otherwise libcurl may
  /// not send the reset before the next transfer.
  package var closesWhenGivenUp = false

  /// How long further connections to the server may take to find out the cause of a failed one.
  public var diagnosisTime = Duration.zero

  /// Makes the default options.
  public init() {}
}
