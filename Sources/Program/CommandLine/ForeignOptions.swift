/// Options of grpcurl, buf curl, evans and curl for which rpcurl has something else than an option of the same meaning.
enum ForeignOptions {
  /// A program with options of its own.
  enum Tool: String {
    case grpcurl, evans, curl, other
    case bufCurl = "buf curl"
  }

  /// Options of another tool, and what to do instead of them.
  struct Entry {
    let tool: Tool
    /// The names with their dashes, with spaces between.
    let names: String
    let hint: String

    init(_ tool: Tool, _ names: String, _ hint: String) {
      self.tool = tool
      self.names = names
      self.hint = hint
    }
  }

  /// What to do instead of an option of another tool; nil if the name is not known.
  ///
  /// Options of grpcurl have one dash or two.
  static func hint(_ name: String, _ command: CommandID) -> String? {
    if command == .convert, name == "--format" { return "use --to" }
    if command == .load, let entry = load.first(where: { Option.has($0.names, name[...]) }) {
      return entry.hint
    }
    let grpcurl = name.begins(with: "--") ? name.dropFirst() : name[...]
    return all.first {
      Option.has($0.names, name[...]) || $0.tool == .grpcurl && Option.has($0.names, grpcurl)
    }?.hint
  }

  /// What to do instead of an option of grpcurl's, named with one dash; nil if grpcurl has no such option.
  static func grpcurl(_ name: String) -> String? {
    all.first { $0.tool == .grpcurl && Option.has($0.names, name[...]) }?.hint
  }

  /// Those of ghz, hey, h2load and other programs for loads. They hold for `rpcurl load`, before all others.
  static let load: [Entry] = [
    Entry(
      .other, "-c -j -P -Z --concurrency --parallel --parallelism --workers --clients --vus",
      "use --jobs NUMBER"),
    // -n10 is netrc with letters after it.
    Entry(.other, "--total --iterations -0 -1 -2 -3 -4 -5 -6 -7 -8 -9", "use --requests NUMBER"),
    Entry(.other, "-z -D", "use --duration DURATION"),
    Entry(.other, "-q -r --rps --qps", "use --rate CALLS"),
  ]

  /// All others, in the order in which names are looked up.
  static let all: [Entry] = [
    Entry(
      .grpcurl, "-expand-headers", "use --expand, and write ${env.NAME} for a variable of the environment"),
    Entry(.other, "--expand-data", "use --expand, and write ${env.NAME} for a variable of the environment"),
    Entry(.grpcurl, "-format-error", "use --error-format json"),
    Entry(.grpcurl, "-msg-template", "use \"rpcurl template TARGET METHOD|TYPE\""),
    Entry(.grpcurl, "-protoset-out", "use \"rpcurl export TARGET [SYMBOL] -o FILE\""),
    Entry(.grpcurl, "-proto-out-dir", "use \"rpcurl export TARGET [SYMBOL] --proto-dir DIR\""),
    Entry(.grpcurl, "-unix", "write the target as unix:PATH"),
    Entry(.grpcurl, "-alts -alts-handshaker-service -alts-target-service-account", "ALTS is not available"),
    Entry(.bufCurl, "--list-services", "use \"rpcurl list\""),
    Entry(.bufCurl, "--list-methods", "use \"rpcurl list --kind method\""),
    Entry(
      .bufCurl, "--schema", "use --descriptor-set FILE for an image of buf build, or --proto FILE for sources"
    ),
    Entry(.bufCurl, "--debug", "-vv shows the connection, --explain the resolved call"),
    Entry(.bufCurl, "--log-format", "--format events and --error-format json are for programs"),
    Entry(.bufCurl, "--no-keepalive", "omit it: without --keepalive-time, no keepalive is sent"),
    Entry(.evans, "--host -p --port", "the target is an argument: HOST:PORT"),
    Entry(.evans, "-r --reflection", "omit it: reflection is used if no file is named"),
    Entry(.evans, "-t --tls", "omit it: TLS is the default"),
    Entry(.evans, "--path", "use -I DIR"),
    Entry(.evans, "--web", "use --protocol grpc-web"),
    Entry(.evans, "--package --service", "any unique suffix of a method's name is accepted"),
    Entry(.evans, "--call", "the method is the last argument"),
    Entry(
      .evans, "-f --file",
      "use -d @FILE for data; a failed call has an exit code of its own, without an option"),
    Entry(.evans, "--edit --edit-global", "the configuration is a text file, see rpcurl-config(5)"),
    Entry(
      .evans, "-e",
      "the configuration is a text file, see rpcurl-config(5); -H 'referer: URL' sends a referer"),
    Entry(.evans, "--repl --cli", "use \"rpcurl session\""),
    Entry(.curl, "-X --request", "omit it: the protocol determines the method; --connect-get uses GET"),
    Entry(.curl, "-F --form --form-string -T --upload-file", "use -d @FILE for the message"),
    Entry(.curl, "-L --location --max-redirs --location-trusted", "omit it: redirects are errors"),
    Entry(.curl, "-G --get", "use --connect-get"),
    Entry(.curl, "-b --cookie -c --cookie-jar", "use -H 'cookie: NAME=VALUE'"),
    Entry(.curl, "--referer", "use -H 'referer: URL'"),
    Entry(.curl, "-f --fail --fail-with-body", "omit it: a failed call has an exit code of its own"),
    Entry(.curl, "-D --dump-header", "-v shows the headers on standard error"),
    Entry(.curl, "-w --write-out", "use --timing, or --format events"),
    Entry(.curl, "-Z --parallel -: --next", "use --each --jobs NUMBER"),
    Entry(.curl, "--parallel-max", "use --jobs NUMBER"),
    Entry(
      .curl, "--retry --retry-delay --retry-max-time --retry-all-errors --retry-connrefused",
      "use --use retry,attempts=N"),
    Entry(
      .curl, "--compressed", "omit it: all available compressions are accepted; --accept-compression selects"),
    Entry(.curl, "--socks5 --socks5-hostname", "use --proxy socks5h://HOST:PORT"),
    Entry(.curl, "--socks4 --socks4a", "use --proxy socks4a://HOST:PORT"),
    Entry(.curl, "--noproxy", "use --proxy '', or set no_proxy"),
    Entry(.curl, "--trace --trace-ascii --trace-time", "use -vv"),
    Entry(.curl, "-# --progress-bar", "omit it: progress is shown on a terminal"),
    Entry(.curl, "--no-progress-meter", "use -s"),
    Entry(.curl, "-N --no-buffer", "omit it: each message is printed when it arrives"),
    Entry(.curl, "-g --globoff", "omit it: URLs are not expanded"),
    Entry(.curl, "--limit-rate", "use --use fault,rate=BYTES for responses"),
    Entry(.curl, "-O --remote-name", "use -o FILE"),
    Entry(.curl, "--data-urlencode --data-ascii --url-query", "use -d JSON"),
    Entry(.curl, "--head", "omit it: the protocol determines the method"),
    Entry(.curl, "-0 --http1.0", "use --http1.1"),
    Entry(.curl, "--http3-only", "use --http3"),
    Entry(.curl, "--max-filesize", "use --max-message-size BYTES"),
    Entry(.curl, "-1 --tlsv1 --tlsv1.0 --tlsv1.1", "use --tlsv1.2"),
    Entry(.curl, "--basic", "omit it: --user is HTTP Basic"),
    Entry(
      .curl, "--digest --ntlm --negotiate --anyauth",
      "there is no such option; --user and --bearer are the credentials"),
    Entry(.curl, "--stderr", "redirect standard error: 2>FILE"),
    Entry(.curl, "--tcp-nodelay", "omit it: it is always so"),
    Entry(
      .curl, "--interface --local-port --dns-servers",
      "there is no such option; --resolve and --connect-to select addresses"),
    Entry(.other, "-j -P --concurrency --parallelism --workers", "use --each --jobs NUMBER"),
    Entry(.other, "--tls-skip-verify --skip-verify --no-verify", "use -k"),
    Entry(.other, "--proto-path", "use -I DIR"),
    Entry(.other, "--metadata --meta", "use -H 'NAME: VALUE'"),
    Entry(.other, "--deadline", "use --max-time DURATION"),
    Entry(.other, "--service-config", "use --use retry,policy=FILE"),
    Entry(.other, "-q --quiet", "use -s, or --format none for no output"),
    Entry(.other, "--verbosity --log --log-level", "use -v, or -vv"),
    Entry(.other, "--pretty", "use --format pretty"),
    Entry(.other, "--jq --jsonpath --select", "use --filter PATH"),
    Entry(.other, "--output-format", "use --format NAME"),
    Entry(.other, "--token --auth", "use --bearer TOKEN, or --user NAME:PASSWORD"),
    Entry(.other, "--header-file", "use -H @FILE"),
    Entry(.other, "--input --input-file --data-file", "use -d @FILE"),
    Entry(.other, "--body --message --payload", "use -d JSON"),
    Entry(.other, "--stream --streaming", "omit it: the schema says which methods are streams"),
    Entry(.other, "--no-tls --http --tls-disable", "use --plaintext"),
    Entry(.other, "--dry-run", "use --explain"),
    Entry(.other, "--services", "use \"rpcurl list\""),
    Entry(.other, "--url --target --address --server", "the target is an argument: rpcurl TARGET METHOD"),
    Entry(.other, "--method", "the method is an argument: rpcurl TARGET METHOD"),
    Entry(.other, "--ca --ca-cert --tls-ca-cert", "use --cacert FILE"),
    Entry(.other, "--client-cert --tls-cert", "use --cert FILE"),
    Entry(.other, "--client-key --tls-key", "use --key FILE"),
  ]
}
