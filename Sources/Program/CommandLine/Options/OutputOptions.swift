extension OptionTable {
  static let output: [Option] = [
    Option(
      .format, "--format", .choice("pretty json text binary tsv csv events none sh curl grpcurl buf"), "NAME",
      .output,
      .callsAndListening,
      "Format of responses: pretty, json, text, binary, tsv, csv, events or none (default: pretty or json).",
      "pretty is the default on a terminal. json prints one message per line, events all events of the call as NDJSON. Several messages are one per line in "
        + "text format, and each is prefixed with its length (a varint) in binary. tsv and csv print the columns of --filter below "
        + "a line with their names. With --explain, sh, curl, grpcurl and "
        + "buf print the call as a shell command of rpcurl, curl, grpcurl or buf curl.",
      example: "rpcurl --format events https://demo.example demo.v1.Demo/Hello",
      grpcurl: "format", sessionVerb: "format", expressed: [.grpcurl, .buf], trust: .harmless, isCommon: true),
    Option(
      .textFormat, "--format", .choice("text json"), "FORMAT", .output, .listings,
      "Format of the output: text or json.",
      example: "rpcurl list --format json https://demo.example", standard: "text", isConfigurable: false),
    Option(
      .emitDefaults, "--emit-defaults", .flag, "", .output, .callsAndConvert,
      "Print fields that have their default value.",
      example: "rpcurl --emit-defaults https://demo.example demo.v1.Demo/Hello", grpcurl: "emit-defaults",
      same: [.grpcurl, .buf], trust: .harmless),
    Option(
      .enumNumbers, "--enum-numbers", .flag, "", .output, .callsAndConvert,
      "Print enum values as numbers.",
      example: "rpcurl --enum-numbers https://demo.example demo.v1.Demo/Hello", trust: .harmless),
    Option(
      .int64Numbers, "--int64-numbers", .flag, "", .output, .callsAndConvert,
      "Print 64-bit integers as numbers instead of strings.",
      "Many programs, also jq before 1.7, round numbers above 9007199254740991 (2^53 - 1).",
      example: "rpcurl --int64-numbers https://demo.example demo.v1.Demo/Hello", trust: .harmless),
    Option(
      .bytesForm, "--bytes", .choice("base64 hex text escape"), "FORM", .output, .callsAndConvert,
      "Print bytes fields in JSON and of --filter as base64, hex, text or escape.",
      "hex has two digits for each byte. text is UTF-8, in which other bytes become U+FFFD. escape is ASCII as in text format: "
        + "\\n, \\377. Only base64 is read again as the same bytes.",
      example: "rpcurl --bytes hex https://demo.example demo.v1.Demo/Hello", standard: "base64",
      trust: .harmless),
    Option(
      .protoNames, "--proto-names", .flag, "", .output, .callsAndConvert,
      "Print field names as they are in the schema.",
      example: "rpcurl --proto-names https://demo.example demo.v1.Demo/Hello",
      aliases: "--keep-proto-names", grpcurl: "keep-proto-names", trust: .harmless),
    Option(
      .unknownFields, "--unknown-fields", .choice("show drop"), "ACTION", .output, .callsAndConvert,
      "For fields that the schema lacks: show or drop (default: drop in JSON, show in text and binary).",
      "In JSON, they are members named by number. Each has a list of values, and each value is an object with all types "
        + "that it can have. In text format they are printed by number, in binary they are kept. Connect with --codec "
        + "json has no numbers: there, unknown fields are always dropped.",
      example: "rpcurl --unknown-fields show https://demo.example demo.v1.Demo/Hello", trust: .harmless),
    Option(
      .filter, "--filter", .text, "PATH", .output, .callAndConvert,
      "Print only this field of each message, raw; several are columns.",
      "Strings are printed without quotes, the elements of a list one per line, and messages as JSON on one line. [] "
        + "means all elements (users[].name), a negative index counts from the end (users[-1]), and a map has its keys "
        + "(labels.zone, labels[\"a b\"]). The path may continue in the content of an Any, a Struct or a Value, and . is "
        + "the whole message: see rpcurl-language(7). With convert --no-schema, it has numbers of fields (3[0].1). A "
        + "message without the field is an error with exit code 8, unless --filter-missing says otherwise. "
        + "Several are one line for each message, with tabs between them, in which a tab, a line feed, a carriage return "
        + "and a backslash are \\t, \\n, \\r and \\\\. --format tsv (convert: --to tsv) also has a line with the names, and so has csv, "
        + "which has commas and quotation marks as RFC 4180 describes. A list, and what [] finds, is one column, a JSON array.",
      example: "id=$(rpcurl --filter user.id https://demo.example demo.v1.Demo/Find)",
      repeats: true, trust: .harmless, isCommon: true, completion: "ask:filter"),
    Option(
      .filterMissing, "--filter-missing", .choice("fail null skip"), "ACTION", .output, .callAndConvert,
      "For messages without the field of --filter: fail, null or skip.",
      "null prints null in place of the field, and skip prints nothing. In a row, null leaves the column empty, and skip omits "
        + "the row.",
      example: "rpcurl --filter user.id --filter-missing skip https://demo.example demo.v1.Demo/List",
      standard: "fail", trust: .harmless),
    Option(
      .raw, "--raw", .flag, "", .output, .callAndConvert,
      "With --filter, write the bytes of a bytes or string field.",
      "With convert --no-schema, it is any length-delimited field. Nothing is added: the fields of several messages, and "
        + "the elements of a list, follow each other.",
      example: "rpcurl --filter audio.data --raw -o out.ogg https://demo.example demo.v1.Demo/Record",
      trust: .effects),
    Option(
      .limit, "--limit", .number, "NUMBER", .output, .call,
      "End a stream after this many responses.",
      "The call is then canceled, as the end event of --format events reports, and the exit code is 0.",
      example: "rpcurl --limit 10 https://demo.example demo.v1.Demo/Count", trust: .harmless),
    Option(
      .output, "-o --output", .text, "FILE", .output, .callAndExport,
      "Write the output to this file.",
      "A single response replaces the file if the call succeeded; otherwise the file is unchanged. Streams, batches "
        + "and events are written as they arrive. - means standard output.",
      example: "rpcurl -o reply.json https://demo.example demo.v1.Demo/Hello",
      same: [.curl, .buf], expressed: .grpcurl, trust: .effects, isCommon: true, completion: "file"),
    Option(
      .verbose, "-v --verbose", .count, "", .output, .remoteAndServe,
      "Show metadata and requests on standard error, and the source of the schema; -vv also the connection.",
      "A message is shown as it was sent, after --set and the interceptors, up to 4 KiB; -vv shows all of it, and what each "
        + "further attempt sends. [redacted] replaces fields with debug_redact in the schema and those with secret names, as --redact "
        + "describes; a message with such fields is also hidden in the URL of a GET request. -vv also shows what libcurl reports about the connection (names, addresses, TLS, certificates, reuse), the size "
        + "and compression of each message, and debug logs of interceptors. Credentials are redacted unless "
        + "--show-secrets is given.",
      example: "rpcurl -v https://demo.example demo.v1.Demo/Hello",
      aliases: "-i --include", expressed: .all, trust: .harmless, isCommon: true),
    Option(
      .color, "--color", .choice("auto always never"), "WHEN", .output, .all,
      "Color output and errors: auto, always or never.",
      "auto colors on a terminal, unless NO_COLOR is set or TERM is dumb.",
      example: "rpcurl --color always --format pretty https://demo.example demo.v1.Demo/Hello | less -R",
      standard: "auto", aliases: "--colour", expressed: .all, trust: .harmless),
    Option(
      .timing, "--timing", .flag, "", .output, .calls,
      "Print the times of the call on standard error.",
      "The times are those of name resolution, connection, TLS handshake, first byte and the whole call, each counted "
        + "from the start of the call. After a retry, the connection is that of the first attempt that made one, and the "
        + "first byte that of the last attempt. The metrics event of --format events has the same values. With --each, "
        + "the last line has the least, median and greatest time of a call, and those within which 90 % and 99 % ended, "
        + "the number of calls with the status ok, and the rate; with --format none it is the only line.",
      example: "rpcurl --timing https://demo.example demo.v1.Demo/Hello", sessionVerb: "timing",
      trust: .harmless),
    Option(
      .showSecrets, "--show-secrets", .flag, "", .output, .callsLoadAndListening,
      "Do not redact credentials in the output of -v and --explain.",
      example: "rpcurl -v --show-secrets https://demo.example demo.v1.Demo/Hello", expressed: .all,
      trust: .effects),
    Option(
      .redact, "--redact", .text, "NAME", .output, .remoteAndServe,
      "Redact the header or attribute NAME in all output; may repeat.",
      "It is secret as authorization is: -v, --explain, --format events, saved scripts, transcripts, reports and the files of "
        + "interceptors show [redacted] in place of its value, and of what repeats it. * at the ends of NAME matches any text. "
        + "The names that are secret without this option have a word such as token, secret, password, cookie or api-key.",
      example: "rpcurl -v --redact x-tenant -H 'x-tenant: blue' https://demo.example demo.v1.Demo/Hello",
      expressed: .all, repeats: true, trust: .harmless),
    Option(
      .explain, "--explain", .flag, "", .output, .call,
      "Dry run: print the resolved call, send nothing.",
      "The output has the target, the headers, the data, and the chain of interceptors with their settings, and warns "
        + "of orders that are likely mistakes: log outside of the redaction of requests or inside of that of responses, "
        + "sign inside of compression or outside of an interceptor that changes messages, cache outside of credentials or "
        + "inside of a signer. methods and attribute of an interceptor apply to the request as it reaches it: of those that "
        + "are not met, the plugins that may change the method or the attributes are named. Plugins are loaded, "
        + "and scripts are started. Files of -d are not read, and the server is not contacted. --format json prints one object. --format sh prints a shell "
        + "command that makes the same call without a configuration file, and --format curl, grpcurl or buf one of that "
        + "program, in which "
        + "comments name what it lacks. Credentials are variables of the environment there.",
      example: "rpcurl --explain --use header,set=x-tenant:blue https://demo.example demo.v1.Demo/Hello",
      trust: .effects, isCommon: true),
  ]

  /// The options of single commands.
  static let own: [Option] = [
    Option(
      .kind, "--kind", .choice("service method message field oneof enum value extension"), "KIND", .own,
      .list,
      "List everything of this kind: service, method, message, field, oneof, enum, value or extension; may repeat.",
      example: "rpcurl list --kind message --descriptor-set demo.binpb", repeats: true, trust: .harmless),
    Option(
      .comments, "--comments", .flag, "", .own, .template,
      "Explain each field on standard error: its type, enum values, other members of its oneof.",
      example: "rpcurl template --comments --descriptor-set demo.binpb demo.v1.HelloRequest", trust: .harmless
    ),
    Option(
      .response, "--response", .flag, "", .own, .template,
      "Print the response message of the method instead of its request.",
      example: "rpcurl template --response --descriptor-set demo.binpb demo.v1.Demo/Hello", trust: .harmless),
    Option(
      .protoDir, "--proto-dir", .text, "DIR", .own, .export,
      "Write .proto files below this directory, each at the path of its name.",
      "The files include all imports, also those of google/protobuf. Without -o, no descriptor set is written. A file "
        + "that exists with other content is an error, and nothing is written then.",
      example: "rpcurl export --proto-dir protos https://demo.example", completion: "dir"),
    Option(
      .type, "--type", .text, "PKG.MESSAGE", .own, .convert,
      "Message type; any unique suffix of its name is accepted. Required, except with --no-schema.",
      example:
        "rpcurl convert --descriptor-set demo.binpb --type demo.v1.HelloRequest --from json --to binary",
      completion: "ask:type"),
    Option(
      .from, "--from", .choice("json text binary"), "FORMAT", .own, .convert,
      "Format of the input: json, text or binary. Required, except with --no-schema.",
      example:
        "rpcurl convert --descriptor-set demo.binpb --type demo.v1.HelloRequest --from json --to binary"),
    Option(
      .to, "--to", .choice("json text binary tsv csv"), "FORMAT", .own, .convert,
      "Format of the output: json, text, binary, tsv or csv. Required, except with --no-schema.",
      "tsv and csv print the columns of --filter below a line with their names.",
      example:
        "rpcurl convert --descriptor-set demo.binpb --type demo.v1.HelloRequest --from json --to binary"),
    Option(
      .noSchema, "--no-schema", .flag, "", .own, .convert,
      "Print binary input without a schema: numbers of fields, and all types that a value can have.",
      "Text, the default, is that of protoc --decode_raw with the other types in comments. JSON has an object of types for "
        + "each value.",
      example: "rpcurl convert --no-schema request.bin", isConfigurable: false),
    Option(
      .delimited, "--delimited", .flag, "", .own, .convert,
      "Read and write a stream of messages.",
      example:
        "rpcurl convert --delimited --descriptor-set demo.binpb --type demo.v1.HelloRequest --from json --to text"
    ),
    Option(
      .pretty, "--pretty", .flag, "", .own, .convert,
      "Print JSON over several lines (default on a terminal, except with --delimited).",
      example:
        "rpcurl convert --pretty --descriptor-set demo.binpb --type demo.v1.HelloRequest --from text --to json"
    ),
    Option(
      .noUnknownFields, "--no-unknown-fields", .flag, "", .own, .convert,
      "The same as --unknown-fields drop.",
      example:
        "rpcurl convert --no-unknown-fields --descriptor-set demo.binpb --type demo.v1.HelloRequest --from binary --to text"
    ),
    Option(
      .allowPartial, "--allow-partial", .flag, "", .own, .convert,
      "Accept messages without their required fields.",
      example:
        "rpcurl convert --allow-partial --descriptor-set demo.binpb --type demo.v1.HelloRequest --from json --to binary"
    ),
    Option(
      .method, "--method", .text, "METHOD", .own, .pluginsCheck,
      "Call this method of the schema, with every field set.",
      example: "rpcurl plugins check --descriptor-set demo.binpb --method demo.v1.Demo/Hello ./sign.so"),
    Option(
      .callTime, "--call-time", .duration, "DURATION", .own, .pluginsCheck,
      "Time limit of each call (default: 2s).",
      example: "rpcurl plugins check --call-time 5s ./sign.so"),
    Option(
      .lang, "--lang", .choice("c cpp swift rust python js sh"), "LANGUAGE", .own, .pluginsNew,
      "Language: c, cpp, swift or rust; of a script: python, js or sh.",
      example: "rpcurl plugins new --lang swift hello",
      standard: "c"),
    Option(
      .dir, "--dir", .text, "DIR", .own, .pluginsNew,
      "Directory to write to (default: one with the plugin's name).",
      example: "rpcurl plugins new --dir src/hello hello", completion: "dir"),
    Option(
      .watch, "--watch", .flag, "", .own, .health,
      "Print each change of the status, until the stream ends.",
      example: "rpcurl health --watch https://demo.example", trust: .harmless),
    Option(
      .listTrusted, "--list", .flag, "", .own, .trust,
      "List the trusted files, and those that changed or were removed since.",
      example: "rpcurl trust --list", isConfigurable: false),
    Option(
      .revoke, "--revoke", .flag, "", .own, .trust,
      "Do not trust the file any more.",
      example: "rpcurl trust --revoke", isConfigurable: false),
    Option(
      .diffFormat, "--format", .choice("text json github markdown"), "FORMAT", .own, .diff,
      "Format of the output: text, json, github or markdown.",
      "json prints an object on each line: breaking, rule, file, symbol and message; for sources also path, line and column; and old, "
        + "the place in the old schema. An addition has no rule. github prints annotations of GitHub Actions. markdown prints a table "
        + "for each file, for the comment of a pull request: at most 60,000 bytes, texts of schemas as code. Only text and markdown "
        + "have a summary.",
      example: "rpcurl diff --format json demo.binpb protos", standard: "text", isConfigurable: false),
    Option(
      .against, "--against", .text, "OLD", .own, .diff,
      "Compare NEW (default: the working directory) with this schema.",
      "For example git:main, the same sources in a revision of their git repository.",
      example: "rpcurl diff --against git:main protos", isConfigurable: false, isCommon: true,
      completion: "file"),
    Option(
      .rules, "--rules", .choice("FILE PACKAGE WIRE_JSON WIRE"), "CATEGORY", .own, [.diff, .test],
      "Category of the rules: FILE, PACKAGE, WIRE_JSON or WIRE.",
      "WIRE contains what breaks binary messages, WIRE_JSON also what breaks JSON, PACKAGE also what breaks calls and "
        + "generated code: removed methods, messages and fields, and options of files. FILE also contains moves to another file. The "
        + "default is what a buf.yaml uses, or PACKAGE.",
      example: "rpcurl diff --rules WIRE_JSON demo.binpb protos", trust: .harmless,
      isCommon: true),
    Option(
      .ignored, "--ignore", .text, "WHAT", .own, [.diff, .test],
      "Do not report this rule, package, name, file or directory; may repeat.",
      "RULE:NAME and RULE:PATH ignore the rule there only. A category, such as WIRE, ignores its rules. The path . ignores "
        + "everything.",
      example: "rpcurl diff --ignore FILE_SAME_GO_PACKAGE demo.binpb protos", repeats: true, trust: .harmless,
      isCommon: true, completion: "ask:rule"),
    Option(
      .ignoreUnstable, "--ignore-unstable", .flag, "", .own, [.diff, .test],
      "Do not report changes of unstable packages: v1alpha1, v1beta1, v1test.",
      example: "rpcurl diff --ignore-unstable demo.binpb protos", trust: .harmless),
    Option(
      .rulesFrom, "--rules-from", .text, "FILE", .own, [.diff, .test],
      "Rules and exceptions of this buf.yaml.",
      "Its part breaking is read. The default is the buf.yaml of the sources of NEW, if they have one.",
      example: "rpcurl diff --rules-from buf.yaml v1.binpb v2.binpb", completion: "file"),
    Option(
      .onlyNames, "--only", .text, "NAME", .own, .diff,
      "Report only this package, service, message or other name, and what it contains; may repeat.",
      example: "rpcurl diff --only demo.v1 demo.binpb protos", repeats: true, trust: .harmless, isCommon: true
    ),
  ]

  /// The options that most commands have.
  static let common: [Option] = [
    Option(
      .silent, "-s --silent", .flag, "", .errors, .all,
      "Print no errors, warnings or progress on standard error.",
      "The exit code is unchanged, and the output of options such as -v and --timing is still printed.",
      example: "rpcurl -s --format none https://demo.example demo.v1.Demo/Hello || echo \"failed with $?\"",
      same: .curl, expressed: [.grpcurl, .buf, .k6], trust: .effects),
    Option(
      .showError, "-S --show-error", .flag, "", .errors, .all,
      "With -s, still print errors.",
      example: "rpcurl -s -S https://demo.example demo.v1.Demo/Hello > reply.json", same: .curl,
      expressed: [.grpcurl, .buf, .k6], trust: .harmless),
    Option(
      .errorFormat, "--error-format", .choice("text json"), "FORMAT", .errors, .all,
      "Format of errors: text, or json with one object per line.",
      "The object is {\"error\":{…}} with what, why, exit (the exit code) and perhaps hint. A failed call adds code, "
        + "code_number, message and details, as in the events of --format events, and interceptor if an interceptor "
        + "failed it. Invalid input adds line, column, byte, path and excerpt, and a batch adds call. Other lines do not "
        + "begin with {.",
      example:
        "rpcurl --error-format json https://demo.example demo.v1.Demo/Hello 2>&1 >reply.json | jq -r .error.code",
      standard: "text", expressed: [.grpcurl, .k6], trust: .harmless),
    Option(
      .config, "-K --config", .text, "FILE", .configuration, .remoteAndServe,
      "Read options from this file only (default: $XDG_CONFIG_HOME/rpcurl/config and the project file .rpcurl).",
      "The file has one option per line, as on the command line but without quotes, and target URL. The command "
        + "line takes precedence, and a project file over the user's. --config /dev/null reads neither. Other commands than call ignore options that they do not have. Lines after "
        + "[profile NAME] apply only with --profile NAME. See rpcurl-config(5).",
      example: "rpcurl --config ci.conf demo.v1.Demo/Hello", expressed: .k6, isConfigurable: false,
      completion: "file"),
    Option(
      .profile, "--profile", .text, "NAME", .configuration, .remoteAndServe,
      "Also read the options of this profile of the configuration files.",
      example: "rpcurl --profile staging demo.v1.Demo/Hello",
      expressed: .k6, isConfigurable: false, isCommon: true, completion: "ask:profile"),
    Option(
      .help, "-h --help", .flag, "", .general, .all,
      "Show help: -h for the common options, --help for all.", example: "rpcurl list --help",
      grpcurl: "help", isConfigurable: false),
    Option(
      .version, "-V --version", .flag, "", .general, .all,
      "Show the version.", example: "rpcurl --version", grpcurl: "version", isConfigurable: false),
  ]
}
