extension OptionTable {
  static let request: [Option] = [
    Option(
      .protocolName, "--protocol", .choice("grpc grpc-web connect", spellings: "grpcweb=grpc-web"), "NAME",
      .request, .remote,
      "Protocol: grpc, grpc-web or connect (default: $RPCURL_PROTOCOL, or grpc).",
      example: "rpcurl --protocol connect https://demo.example demo.v1.Demo/Hello", sessionVerb: "protocol",
      expressed: .all,
      trust: .harmless,
      isCommon: true),
    Option(
      .header, "-H --header", .text, "NAME: VALUE|@FILE", .request, .remote,
      "Send this header, or the headers of a file, one per line; may repeat.",
      "Values of names that end with -bin are base64.",
      example: "rpcurl -H 'x-tenant: blue' https://demo.example demo.v1.Demo/Hello",
      grpcurl: "H", same: .grpcurl, expressed: [.curl, .buf, .k6], repeats: true, trust: .header,
      secrecy: .header, isCommon: true, completion: "at:header"),
    Option(
      .expand, "--expand", .level("typed files all"), "[=files|all]", .request, .remote,
      "Replace ${…} in headers, -d TEXT and --set: ${env.NAME}, ${uuid()}.",
      "See rpcurl-language(7). With files, also in the content of @FILE and of standard input, except env and file; with "
        + "all, these too. An unknown name is an error. $${ stands for ${.",
      example: "rpcurl --expand -H 'x-api-key: ${env.API_KEY}' https://demo.example demo.v1.Demo/Hello",
      expressed: .all, trust: .effects),
    Option(
      .variable, "--var", .text, "NAME=VALUE|@FILE", .request, .callers,
      "Set a variable of templates, ${NAME}, or those of a file; may repeat.",
      "VALUE is JSON, or else text. Of NAME=@FILE, NAME=env:NAME and NAME=cmd:COMMAND it is the text of a file, of a variable "
        + "of the environment and of the output of a command. Reports do not show these, and values whose name is that of a secret. "
        + "The file of @FILE has a line NAME=VALUE for each variable, and comments that begin with #; nothing else is read for it. "
        + "A later variable replaces an earlier one of the same name. "
        + "In call and load it requires --expand. In a session, a script and a suite, set replaces it.",
      example:
        "rpcurl --expand --var user=Ada -d '{\"name\":\"${user}\"}' https://demo.example demo.v1.Demo/Hello",
      expressed: .all, repeats: true, isConfigurable: false, secrecy: .variable, completion: "at:variable"),
    Option(
      .user, "-u --user", .text, "NAME[:PASSWORD]", .request, .remote,
      "Credentials for the server (HTTP Basic).",
      "If the password is omitted, rpcurl asks for it on the terminal. @FILE, env:NAME and cmd:COMMAND read both from a "
        + "file, a variable of the environment or the output of a command.",
      example: "rpcurl -u ada https://demo.example demo.v1.Demo/Hello", same: [.curl, .buf],
      expressed: [.grpcurl, .k6], secrecy: .whole),
    Option(
      .bearer, "--bearer --oauth2-bearer", .text, "TOKEN|@FILE|env:NAME|cmd:COMMAND", .request, .remote,
      "Bearer token for the server.",
      "@FILE reads it from a file, env:NAME from a variable of the environment, cmd:COMMAND from the output of a command, "
        + "which no shell runs. It is an error beside -u and a header authorization of -H.",
      example: "rpcurl --bearer @token https://demo.example demo.v1.Demo/Hello", expressed: .all,
      secrecy: .whole, isCommon: true),
    Option(
      .netrc, "-n --netrc", .flag, "", .request, .remote, "Read credentials for the host from ~/.netrc.",
      example: "rpcurl -n https://demo.example demo.v1.Demo/Hello", same: [.curl, .buf]),
    Option(
      .netrcFile, "--netrc-file", .text, "FILE", .request, .remote,
      "Read credentials for the host from this file.",
      example: "rpcurl --netrc-file netrc https://demo.example demo.v1.Demo/Hello", same: [.curl, .buf],
      completion: "file"),
    Option(
      .userAgent, "-A --user-agent", .text, "TEXT", .request, .remote,
      "Value of the user-agent header (default: rpcurl/VERSION).",
      example: "rpcurl -A 'probe/1.0' https://demo.example demo.v1.Demo/Hello", grpcurl: "user-agent",
      same: [.curl, .grpcurl, .buf], expressed: .k6, trust: .harmless),
    Option(
      .codec, "--codec", .choice("proto json"), "NAME", .request, .callers,
      "Encoding of messages on the wire: proto or json.",
      example: "rpcurl --protocol connect --codec json https://demo.example demo.v1.Demo/Hello",
      standard: "proto", sessionVerb: "codec", expressed: .curl, trust: .harmless),
    Option(
      .connectGet, "--connect-get", .flag, "", .request, .callsLoadAndTest,
      "Use GET for a Connect method that is marked NO_SIDE_EFFECTS.",
      "A message that would make the URL longer than 8192 bytes is sent by POST.",
      example: "rpcurl --protocol connect --connect-get https://demo.example demo.v1.Demo/Find",
      expressed: .curl, trust: .harmless),
    Option(
      .compression, "--compression", .choice("identity gzip deflate br zstd snappy"), "NAME", .request,
      .callers,
      "Compression of sent messages: gzip, deflate, br, zstd, snappy or identity.",
      example: "rpcurl --compression gzip -d @big.json https://demo.example demo.v1.Demo/Hello",
      standard: "identity", expressed: .curl, trust: .harmless),
    Option(
      .acceptCompression, "--accept-compression", .choices("identity gzip deflate br zstd snappy"), "LIST",
      .request, .callers,
      "Accepted response compressions, in order of preference (default: all available).",
      "identity alone turns compression off.",
      example: "rpcurl --accept-compression zstd,gzip https://demo.example demo.v1.Demo/Hello",
      trust: .harmless),
    Option(
      .rpcHeader, "--rpc-header", .text, "NAME: VALUE|@FILE", .request, .callers,
      "Send this header with the call, but not with requests for the schema; may repeat.",
      example: "rpcurl --rpc-header 'x-for: call' https://demo.example demo.v1.Demo/Hello",
      grpcurl: "rpc-header", same: .grpcurl, expressed: [.curl, .buf, .k6], repeats: true, trust: .header,
      secrecy: .header, completion: "at:header"),
    Option(
      .maxTime, "-m --max-time", .duration, "DURATION", .request, .remoteAndServe,
      "Time limit, such as 1.5, 1500ms or 2m; for a call, its deadline.",
      "The deadline of a call is also sent to the server. Each wait for a named pipe or for buf has the same limit. Without "
        + "the option, a call has no limit, and a request for the schema has 10 seconds.",
      example: "rpcurl -m 5 https://demo.example demo.v1.Demo/Hello",
      aliases: "--timeout", grpcurl: "max-time", sessionVerb: "deadline", same: [.curl, .grpcurl],
      expressed: [.buf, .k6],
      trust: .harmless, isCommon: true),
    Option(
      .maxMessageSize, "--max-message-size", .bytes, "BYTES", .request, .callers,
      "Size limit of one received message, such as 512k or 64m.",
      example: "rpcurl --max-message-size 256m https://demo.example demo.v1.Demo/Hello",
      standard: "64m", aliases: "--max-msg-sz", grpcurl: "max-msg-sz", expressed: [.grpcurl, .k6],
      trust: .effects),
  ]

  static let data: [Option] = [
    Option(
      .data, "-d --data", .data, "JSON|@FILE", .data, .callAndLoad,
      "Request message: JSON, @FILE, or @- for standard input; may repeat for a stream.",
      "Without it, an empty message is sent; a method with a request stream reads standard input.",
      example: "rpcurl -d '{\"name\":\"Ada\"}' https://demo.example demo.v1.Demo/Hello",
      aliases: "--data-raw --data-binary --json", grpcurl: "d", expressed: .all, repeats: true,
      isCommon: true,
      completion: "at:data"),
    Option(
      .dataFormat, "--data-format", .choice("json text binary"), "FORMAT", .data, .callAndLoad,
      "Format of the request data: json, text or binary.",
      "The data of a unary call is one message. Several messages are one per line in text format, and each is prefixed "
        + "with its length (a varint) in binary.",
      example: "rpcurl --data-format text -d 'name: \"Ada\"' https://demo.example demo.v1.Demo/Hello",
      standard: "json", grpcurl: "format", expressed: .all, trust: .harmless),
    Option(
      .set, "--set", .text, "PATH=VALUE", .data, .callAndLoad,
      "Set a field of the request message, over -d; may repeat.",
      "A value is text for a string, and otherwise JSON, in which the quotation marks of enum values, bytes (base64), "
        + "timestamps and durations may be omitted. [] in the path appends an element: tags[]=new, lines[].sku=A, and "
        + "then lines[-1].qty=2. --set and --set-file apply in the order given, to every message. A method with a request stream reads standard input only with -d @-.",
      example: "rpcurl --set user.name=Ada --set user.age=36 https://demo.example demo.v1.Demo/Create",
      expressed: .all, repeats: true, isConfigurable: false, completion: "ask:set"),
    Option(
      .setFile, "--set-file", .text, "PATH=FILE", .data, .callAndLoad,
      "Set a bytes or string field to the content of a file, over -d; may repeat.",
      "- means standard input.",
      example: "rpcurl --set-file audio.data=clip.ogg https://demo.example demo.v1.Demo/Recognize",
      expressed: .all, repeats: true, isConfigurable: false, completion: "ask:set"),
    Option(
      .chunk, "--chunk", .bytes, "BYTES", .data, .call,
      "Send the file of --set-file in pieces, one message each, over a request stream.",
      "The messages of -d before --set-file are sent before the file, the others after it. Each piece is a message with "
        + "the fields of --set; with --expand, ${offset()} is its position in the file, and ${last()} is true in the last "
        + "piece; of an empty file, an empty piece is sent if ${last()} is used. The file is read as fast as the server accepts it, so memory use does not grow with its length.",
      example: "rpcurl --set-file chunk.data=big.iso --chunk 64k https://demo.example demo.v1.Demo/Upload",
      expressed: [.curl, .grpcurl, .buf], trust: .harmless),
    Option(
      .seed, "--seed", .number, "NUMBER", .data, .callers,
      "Random seed of --expand, for repeatable runs.",
      example:
        "rpcurl --expand --seed 1 -d '{\"id\":\"${uuid()}\"}' https://demo.example demo.v1.Demo/Create",
      expressed: .all, trust: .harmless),
    Option(
      .allowUnknownFields, "--allow-unknown-fields", .flag, "", .data, .callersAndConvert,
      "Ignore unknown fields in the data.",
      example: "rpcurl --allow-unknown-fields -d @request.json https://demo.example demo.v1.Demo/Hello",
      grpcurl: "allow-unknown-fields", same: .grpcurl, expressed: [.curl, .k6], trust: .harmless),
    Option(
      .each, "--each", .flag, "", .batch, .call,
      "Make one call for each message of the data: unary, or with a response stream.",
      "Without -d, the messages are read from standard input. Responses are printed in the order of the messages, unless "
        + "--unordered is given. With HTTP/2 the calls share a connection. A call that fails is reported with its number, and "
        + "the others continue; the exit code is that of the first failed call in this order. Invalid data ends the "
        + "batch where it is; -d with JSON that is cut off is an error before the first call.",
      example: "rpcurl --each --jobs 32 https://demo.example demo.v1.Demo/Hello < requests.json",
      expressed: .all, trust: .effects),
    Option(
      .rows, "--rows", .text, "FILE", .batch, .callAndLoad,
      "Make a call for each row of a CSV or NDJSON file: ${row.NAME} in -d and --set.",
      "The first line of a file whose name ends with .csv has the names; a row of NDJSON is an object, and - is standard "
        + "input. Of several messages of -d, each row makes a call with each. It implies --each and --expand. The calls of "
        + "load take the rows in turn.",
      example:
        "rpcurl --rows users.csv --jobs 8 -d '{\"name\":\"${row.name}\"}' https://demo.example demo.v1.Demo/Hello",
      isConfigurable: false, trust: .effects, completion: "file"),
    Option(
      .jobs, "--jobs", .number, "NUMBER", .batch, .callLoadAndTest,
      "Maximum number of concurrent calls of --each (default: 1) or load (10, 1000 with --rate), or of suites.",
      "The default for suites is the number of processors.",
      example: "rpcurl --each --jobs 32 https://demo.example demo.v1.Demo/Hello < requests.json",
      expressed: .all, trust: .effects),
    Option(
      .unordered, "--unordered", .flag, "", .batch, .call,
      "Print responses of --each as they arrive, not in the order of the messages.",
      "Each message is printed as a whole. --format events has the number of its call.",
      example:
        "rpcurl --each --jobs 32 --unordered --format events https://demo.example demo.v1.Demo/Hello < requests.json",
      expressed: .all, trust: .harmless),
    Option(
      .failEarly, "--fail-early", .flag, "", .batch, .callAndTest,
      "Stop --each or --repeat at the first call that fails, or a run of suites at the first test.",
      "Calls before it are completed; those after it are canceled. Suites that run are stopped, with their teardowns.",
      example: "rpcurl --each --fail-early https://demo.example demo.v1.Demo/Hello < requests.json",
      expressed: .all, trust: .effects),
    Option(
      .repeats, "--repeat", .number, "NUMBER", .batch, .callRunAndTest,
      "Make the call, all calls of --each, or run the file or the suites, this many times.",
      "One that fails is reported, and the next one follows unless --fail-early is given; the exit code is that of the first "
        + "that failed. Templates have new values each time, and a file begins each time with the settings of the command line. The "
        + "suites have one report, in which the name of a test has the number of the run. Events and errors of calls have the number of the "
        + "call among all.",
      example: "rpcurl --repeat 10 --timing -o /dev/null https://demo.example demo.v1.Demo/Hello",
      trust: .effects),
    Option(
      .every, "--every", .duration, "DURATION", .batch, .callRunAndTest,
      "Begin again this long after the last beginning; without --repeat, until Ctrl-C.",
      "What takes longer is followed at once.",
      example: "rpcurl --every 2s https://demo.example grpc.health.v1.Health/Check",
      trust: .effects),
  ]

  static let chain: [Option] = [
    Option(
      .use, "--use", .text, "NAME[,KEY=VALUE…]", .interceptors, .callers,
      "Add a built-in interceptor to the chain, in the order given; may repeat.",
      "Every interceptor accepts methods=PATTERN, before=NAME and others: see rpcurl(1). In a value, a comma is written twice.",
      example: "rpcurl --use retry,attempts=3 https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, repeats: true, trust: .interceptor, secrecy: .settings, isCommon: true,
      completion: "ask:use"),
    Option(
      .plugin, "--plugin", .text, "NAME|PATH[,KEY=VALUE…]", .interceptors, .callers,
      "Add a plugin to the chain, in the order given; may repeat.",
      "?NAME omits the plugin if it is not found.",
      example: "rpcurl --plugin ./sign.so,key=env:KEY https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, repeats: true, trust: .interceptor, secrecy: .settings, completion: "ask:plugin"),
    Option(
      .script, "--script", .text, "COMMAND", .interceptors, .callers,
      "Add a script to the chain, in the order given; may repeat.",
      "A script is a program in any language that receives calls as lines of JSON: see rpcurl-script(7). COMMAND is its path "
        + "and arguments, with quotes as in a shell; no shell runs it. It is short for --use script,run=COMMAND.",
      example: "rpcurl --script './sign.py --key k' https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, repeats: true, trust: .interceptor, secrecy: .settings, completion: "ask:script"),
    Option(
      .noUse, "--no-use", .text, "NAME", .interceptors, .callers,
      "Omit an interceptor or plugin of the configuration from the chain; may repeat.",
      "NAME is the name of the interceptor, of the plugin without directory and .so, or of the file of a script. Interceptors "
        + "of the command line are not omitted.",
      example: "rpcurl --no-use retry https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, repeats: true, isConfigurable: false, completion: "ask:use"),
    Option(
      .attribute, "--attribute", .text, "KEY=VALUE", .interceptors, .callers,
      "Set an attribute of the call, for its interceptors; may repeat.",
      "Attributes are never sent to the server. Interceptors and plugins read and set them, log and trace show them, and "
        + "the setting attribute=KEY [OP VALUE] of each interceptor selects calls by them. A later value of a key replaces "
        + "an earlier one, and KEY= removes it. A call has at most 64 attributes, with keys and values of up to 4096 bytes.",
      example:
        "rpcurl --attribute tier=gold --use 'retry,attribute=tier == gold' https://demo.example demo.v1.Demo/Hello",
      expressed: .all, repeats: true, trust: .harmless, secrecy: .attribute),
  ]
}
