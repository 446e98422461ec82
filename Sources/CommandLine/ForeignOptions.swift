/// Options of grpcurl, buf curl, evans and curl for which rpcurl has something else than an option of the same meaning.
enum ForeignOptions {
  /// What to do instead of an option of another tool; nil if the name is not known.
  static func hint(_ name: String) -> String? {
    switch name {
    // buf curl
    case "--list-services": "use \"rpcurl list\""
    case "--list-methods": "use \"rpcurl list --kind method\""
    case "--schema": "use --descriptor-set FILE for an image of buf build, or --proto FILE for sources"
    case "--debug": "-vv shows the connection, --explain the resolved call"
    case "--log-format": "--format events and --error-format json are for programs"
    case "--no-keepalive": "omit it: without --keepalive-time, no keepalive is sent"
    // evans
    case "--host", "-p", "--port": "the target is an argument: HOST:PORT"
    case "-r", "--reflection": "omit it: reflection is used if no file is named"
    case "-t", "--tls": "omit it: TLS is the default"
    case "--path": "use -I DIR"
    case "--web": "use --protocol grpc-web"
    case "--package", "--service": "any unique suffix of a method's name is accepted"
    case "--call": "the method is the last argument"
    case "-f", "--file": "use -d @FILE"
    case "-e", "--edit", "--edit-global": "the configuration is a text file, see rpcurl-config(5)"
    case "--repl", "--cli": "use \"rpcurl session\""
    // curl
    case "-X", "--request": "omit it: the protocol determines the method; --connect-get uses GET"
    case "-F", "--form", "-T", "--upload-file": "use -d @FILE for the message"
    case "-L", "--location": "omit it: redirects are errors"
    case "-G", "--get": "use --connect-get"
    case "-b", "--cookie": "use -H 'cookie: NAME=VALUE'"
    case "--referer": "use -H 'referer: URL'"
    case "--fail", "--fail-with-body": "omit it: a failed call has an exit code of its own"
    case "-D", "--dump-header": "-v shows the headers on standard error"
    case "-w", "--write-out": "use --timing, or --format events"
    case "-Z", "--parallel": "use --each --jobs NUMBER"
    case "--parallel-max": "use --jobs NUMBER"
    case "--retry", "--retry-delay", "--retry-max-time", "--retry-all-errors": "use --use retry,attempts=N"
    case "--compressed": "omit it: all available compressions are accepted; --accept-compression selects"
    case "--socks5", "--socks5-hostname": "use --proxy socks5h://HOST:PORT"
    case "--socks4", "--socks4a": "use --proxy socks4a://HOST:PORT"
    case "--noproxy": "use --proxy '', or set no_proxy"
    case "--trace", "--trace-ascii", "--trace-time": "use -vv"
    case "-#", "--progress-bar": "omit it: progress is shown on a terminal"
    case "-N", "--no-buffer": "omit it: each message is printed when it arrives"
    case "-g", "--globoff": "omit it: URLs are not expanded"
    case "--limit-rate": "use --use fault,rate=BYTES for responses"
    case "-O", "--remote-name": "use -o FILE"
    case "--data-urlencode": "use -d JSON"
    case "--interface", "--local-port", "--dns-servers":
      "there is no such option; --resolve and --connect-to select addresses"
    // Others
    case "--tls-skip-verify", "--skip-verify", "--no-verify": "use -k"
    case "--proto-path": "use -I DIR"
    case "--metadata", "--meta": "use -H 'NAME: VALUE'"
    case "--deadline": "use --max-time DURATION"
    case "--service-config": "use --use retry,policy=FILE"
    default: grpcurl(String(name.drop { $0 == "-" }))
    }
  }

  /// What to do instead of an option of grpcurl's, named without dashes; nil if grpcurl has no such option.
  static func grpcurl(_ name: String) -> String? {
    switch name {
    case "format-error": "use --error-format json"
    case "msg-template": "use \"rpcurl template TARGET METHOD|TYPE\""
    case "protoset-out": "use \"rpcurl export TARGET [SYMBOL] -o FILE\""
    case "proto-out-dir": "use \"rpcurl describe TARGET FILE.proto\", which prints the file"
    case "unix": "write the target as unix:PATH"
    case "alts", "alts-handshaker-service", "alts-target-service-account": "ALTS is not available"
    default: nil
    }
  }
}
