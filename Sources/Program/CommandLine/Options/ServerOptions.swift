extension OptionTable {
  static let server: [Option] = [
    Option(
      .plaintext, "--plaintext", .flag, "", .server, .remote,
      "Use HTTP without TLS if the target is not a URL.",
      "A server on this machine that responds without TLS is called so without the option, with a note; not if a credential, a "
        + "certificate, a plugin or another way of connecting is given.",
      example: "rpcurl --plaintext localhost:50051 demo.v1.Demo/Hello",
      grpcurl: "plaintext", expressed: .all, trust: .effects, isCommon: true),
    Option(
      .insecure, "-k --insecure", .flag, "", .server, .remote,
      "Do not verify the server's certificate.",
      example: "rpcurl -k https://localhost:50052 demo.v1.Demo/Hello",
      grpcurl: "insecure", same: .curl, expressed: [.grpcurl, .buf, .k6], trust: .effects, impliesTLS: true,
      isCommon: true),
    Option(
      .cacert, "--cacert", .text, "FILE", .server, .remote,
      "Certificate authorities to trust (PEM).",
      example: "rpcurl --cacert ca.pem https://localhost:50052 demo.v1.Demo/Hello",
      grpcurl: "cacert", same: [.curl, .grpcurl], expressed: [.buf, .k6], trust: .effects, impliesTLS: true,
      isCommon: true,
      completion: "file"),
    Option(
      .capath, "--capath", .text, "DIR", .server, .remote,
      "Directory of certificate authorities to trust, prepared by openssl rehash.",
      example: "rpcurl --capath /etc/ssl/certs https://demo.example demo.v1.Demo/Hello", same: .curl,
      trust: .effects,
      impliesTLS: true, completion: "dir"),
    Option(
      .cert, "-E --cert", .text, "FILE", .server, .remote,
      "Client certificate (PEM).",
      example: "rpcurl --cert client.pem --key client.key https://demo.example demo.v1.Demo/Hello",
      grpcurl: "cert", same: [.grpcurl, .buf], expressed: [.curl, .k6], impliesTLS: true, isCommon: true,
      completion: "file"),
    Option(
      .certType, "--cert-type", .choice("PEM P12 DER", spellings: "pem=PEM p12=P12 der=DER"), "TYPE", .server,
      .remote, "Format of the client certificate: PEM, P12 (PKCS #12) or DER.",
      example:
        "rpcurl --cert client.p12 --cert-type P12 --pass @phrase https://demo.example demo.v1.Demo/Hello",
      standard: "PEM", same: .curl),
    Option(
      .key, "--key", .text, "FILE", .server, .remote,
      "Key of the client certificate, if it is in another file.",
      example: "rpcurl --cert client.pem --key client.key https://demo.example demo.v1.Demo/Hello",
      aliases: "--certkey", grpcurl: "key", same: .curl, expressed: [.grpcurl, .buf, .k6], completion: "file"),
    Option(
      .pass, "--pass", .text, "@FILE|env:NAME|cmd:COMMAND", .server, .remote,
      "Passphrase of the client key (default: ask on the terminal).",
      "@FILE reads it from the first line of a file, env:NAME from a variable of the environment, cmd:COMMAND from the "
        + "output of a command.",
      example: "rpcurl --cert client.pem --pass env:PHRASE https://demo.example demo.v1.Demo/Hello",
      expressed: .curl, secrecy: .whole),
    Option(
      .servername, "--servername", .word, "NAME", .server, .remote,
      "Name for TLS SNI and certificate verification.", "It excludes --netrc and --netrc-file over TLS.",
      example: "rpcurl --servername demo.example https://192.0.2.1 demo.v1.Demo/Hello", grpcurl: "servername",
      same: [.grpcurl, .buf], expressed: .curl, trust: .effects, impliesTLS: true),
    Option(
      .authority, "--authority", .word, "HOST", .server, .remote,
      "Value of the Host header / :authority.",
      example: "rpcurl --authority demo.example https://192.0.2.1 demo.v1.Demo/Hello", grpcurl: "authority",
      same: .grpcurl, expressed: [.curl, .buf, .k6], trust: .effects),
    Option(
      .tls12, "--tlsv1.2", .flag, "", .server, .remote, "Require TLS 1.2 or newer.",
      example: "rpcurl --tlsv1.2 https://demo.example demo.v1.Demo/Hello", same: .curl, trust: .effects,
      impliesTLS: true),
    Option(
      .tls13, "--tlsv1.3", .flag, "", .server, .remote, "Require TLS 1.3 or newer.",
      example: "rpcurl --tlsv1.3 https://demo.example demo.v1.Demo/Hello", same: .curl, trust: .effects,
      impliesTLS: true),
    Option(
      .http1, "--http1.1", .flag, "", .server, .remote,
      "Use HTTP/1.1 (the default of Connect and gRPC-Web without TLS).",
      example: "rpcurl --protocol connect --http1.1 https://demo.example demo.v1.Demo/Hello",
      expressed: [.curl, .buf], trust: .harmless
    ),
    Option(
      .http2, "--http2", .flag, "", .server, .remote,
      "Use HTTP/2 (the default of gRPC and of bidi methods).",
      example: "rpcurl --protocol connect --http2 https://demo.example demo.v1.Demo/Hello", expressed: .all,
      trust: .harmless),
    Option(
      .http2PriorKnowledge, "--http2-prior-knowledge", .flag, "", .server, .remote,
      "Use HTTP/2 from the first byte: without TLS, or over TLS that negotiates no protocol.",
      example: "rpcurl --protocol connect --http2-prior-knowledge http://localhost:8080 demo.v1.Demo/Hello",
      expressed: .all, trust: .harmless),
    Option(
      .http3, "--http3", .flag, "", .server, .remote,
      "Use HTTP/3 only (needs a libcurl with HTTP/3).",
      example: "rpcurl --http3 https://demo.example demo.v1.Demo/Hello", same: .buf, expressed: .curl,
      trust: .harmless),
    Option(
      .ipv4, "-4 --ipv4", .flag, "", .server, .remote, "Resolve names to IPv4 addresses only.",
      example: "rpcurl -4 https://demo.example demo.v1.Demo/Hello", same: .curl, trust: .harmless),
    Option(
      .ipv6, "-6 --ipv6", .flag, "", .server, .remote, "Resolve names to IPv6 addresses only.",
      example: "rpcurl -6 https://demo.example demo.v1.Demo/Hello", same: .curl, trust: .harmless),
    Option(
      .unixSocket, "--unix-socket", .text, "PATH", .server, .remote,
      "Connect to this Unix socket instead of the URL's host.",
      "The scheme of the URL chooses TLS. A target unix:PATH is without TLS, unless an option for TLS is given, such as "
        + "--cacert or -k.",
      example: "rpcurl --unix-socket demo.sock http://localhost demo.v1.Demo/Hello", same: [.curl, .buf],
      expressed: .grpcurl, trust: .effects,
      completion: "file"),
    Option(
      .abstractUnixSocket, "--abstract-unix-socket", .text, "NAME", .server, .remote,
      "Connect to this Unix socket of the abstract namespace.",
      example: "rpcurl --abstract-unix-socket demo http://localhost demo.v1.Demo/Hello", same: .curl,
      trust: .effects),
    Option(
      .proxy, "-x --proxy", .word, "URL", .server, .remote,
      "Proxy: http://, https://, socks4://, socks4a://, socks5:// or socks5h://.",
      "Without it, http_proxy, https_proxy, all_proxy and no_proxy of the environment apply. An empty value means no "
        + "proxy.",
      example: "rpcurl -x socks5h://localhost:1080 https://demo.example demo.v1.Demo/Hello", same: .curl,
      trust: .effects,
      secrecy: .login),
    Option(
      .proxyUser, "-U --proxy-user", .text, "NAME[:PASSWORD]", .server, .remote,
      "Credentials for the proxy.",
      "If the password is omitted, rpcurl asks for it on the terminal. @FILE, env:NAME and cmd:COMMAND read both.",
      example: "rpcurl -x http://proxy:3128 -U ada:secret https://demo.example demo.v1.Demo/Hello",
      same: .curl, trust: .effects, secrecy: .whole),
    Option(
      .resolve, "--resolve", .word, "HOST:PORT:ADDRESS", .server, .remote,
      "Use this address for a host and port; may repeat.",
      example: "rpcurl --resolve demo.example:443:192.0.2.1 https://demo.example demo.v1.Demo/Hello",
      same: .curl, repeats: true, trust: .effects),
    Option(
      .connectTo, "--connect-to", .word, "HOST:PORT:HOST:PORT", .server, .remote,
      "Connect to the second host and port instead of the first; may repeat.",
      "An empty first host or port matches any; an empty second one is unchanged.",
      example: "rpcurl --connect-to demo.example:443:localhost:8443 https://demo.example demo.v1.Demo/Hello",
      same: .curl, repeats: true, trust: .effects),
    Option(
      .connectTimeout, "--connect-timeout", .duration, "DURATION", .server, .remote,
      "Time limit for connecting, such as 1.5 or 500ms (default: 10 seconds).",
      example: "rpcurl --connect-timeout 2 https://demo.example demo.v1.Demo/Hello",
      grpcurl: "connect-timeout", same: [.curl, .grpcurl, .buf], trust: .harmless),
    Option(
      .wait, "--wait", .duration, "DURATION", .server, .waiting,
      "Wait at most this long for a server that is not ready.",
      "A server is not ready while its name is not known, no connection to it can be made, or the connection is closed in the "
        + "TLS handshake or, without TLS, before the first byte of HTTP/2. Anything else ends the wait at once, such as a "
        + "certificate that is not trusted, or a server with TLS that is called without it. The time is not part of --max-time. health also waits for the status SERVING.",
      example: "rpcurl --wait 30s https://demo.example demo.v1.Demo/Hello", trust: .harmless),
    Option(
      .keepaliveTime, "--keepalive-time", .duration, "DURATION", .server, .remote,
      "Probe a silent server after this time.",
      "The probe is TCP's keepalive, in whole seconds, and over HTTP/2 also a PING, if libcurl is 8.14 or newer. The "
        + "connection counts as lost if nothing arrives for the same time again, or for --keepalive-timeout. "
        + "Servers may accept fewer PINGs, and "
        + "then end the connection (too_many_pings): gRPC's in Go and C++ by default more than one in five minutes "
        + "without data, also in a call.",
      example: "rpcurl --keepalive-time 300 https://demo.example demo.v1.Demo/Watch",
      grpcurl: "keepalive-time", same: [.grpcurl, .buf], expressed: .curl, trust: .harmless),
    Option(
      .keepaliveTimeout, "--keepalive-timeout", .duration, "DURATION", .server, .remote,
      "Time limit for a response to a probe of --keepalive-time.",
      example: "rpcurl --keepalive-time 300 --keepalive-timeout 20 https://demo.example demo.v1.Demo/Watch",
      trust: .harmless),
  ]
}
