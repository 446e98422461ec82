extension CommandTable {
  private static let callUsage = """
    rpcurl [call] [OPTIONS] URL                     http[s]://HOST[:PORT]/[PREFIX/]pkg.Service/Method
    rpcurl [call] [OPTIONS] URL|HOST:PORT METHOD    pkg.Service/Method or pkg.Service.Method
    rpcurl [call] [OPTIONS] METHOD                  with RPCURL_TARGET, or a target in .rpcurl
    """

  private static let target =
    "The server: a URL, [HOST]:PORT (https, or http with --plaintext) or unix:PATH (http)."

  /// The usage of the program.
  package static let usage = callUsage + "\nrpcurl COMMAND [OPTIONS] …"

  /// The usage of the program on lines of a terminal.
  static let briefUsage = """
    rpcurl [OPTIONS] https://HOST[:PORT]/pkg.Service/Method
    rpcurl [OPTIONS] HOST:PORT pkg.Service/Method
    rpcurl COMMAND [OPTIONS] …
    """

  /// The first commands of a newcomer.
  static let examples = """
    rpcurl list demo.example
    rpcurl template demo.example demo.v1.Demo/Hello
    rpcurl -d '{"name":"Ada"}' demo.example demo.v1.Demo/Hello
    """

  static func definition(of id: CommandID) -> Command {
    switch id {
    case .call: call
    case .session: session
    case .run: run
    case .list: list
    case .describe: describe
    case .template: template
    case .export: export
    case .convert: convert
    case .health: health
    case .check: check
    case .pluginsList: pluginsList
    case .pluginsCheck: pluginsCheck
    case .pluginsNew: pluginsNew
    case .version: version
    case .trust: trust
    case .diff: diff
    case .load: load
    case .test: test
    case .completion: completion
    case .proxy: proxy
    case .serve: serve
    }
  }

  private static var call: Command {
    Command(
      id: .call, name: "call", summary: "Call a method and print its response (the default command).",
      usage: callUsage,
      discussion: "The schema comes from the server (gRPC reflection), unless an option names a source.",
      examples: """
        rpcurl --plaintext -d '{"name":"Ada"}' localhost:50051 demo.v1.Demo/Hello
        rpcurl --descriptor-set demo.binpb https://demo.example demo.v1.Demo/Hello
        """,
      places: [
        .init("TARGET", target, isRequired: true, completion: "ask:target"),
        .init("METHOD", "The method to call, unless the URL ends with it.", completion: "ask:method"),
      ])
  }

  private static var session: Command {
    Command(
      id: .session, name: "session",
      summary:
        "Call methods of a server at a prompt, over one connection, with streams open in both directions.",
      usage: "rpcurl session [OPTIONS] [TARGET]", discussion: sessionDiscussion,
      examples: """
        rpcurl session --plaintext localhost:50051
        echo 'call Hello {"name":"Ada"}' | rpcurl session --plaintext localhost:50051
        """,
      places: [.init("TARGET", target, completion: "ask:target")])
  }

  private static var proxy: Command {
    Command(
      id: .proxy, name: "proxy",
      summary: "Listen for clients, and make each of their calls through the chain of interceptors.",
      usage: "rpcurl proxy [OPTIONS] TARGET",
      discussion: """
        Clients call with gRPC, gRPC-Web or Connect. Each of their calls becomes one to the target, in the protocol and the codec \
        of the client unless --protocol and --codec name others; it passes the interceptors and is sent with the options as a call \
        of rpcurl is. Headers of -H replace those of clients. Methods that the schema does not have pass as bytes.

        A line is printed for each call: its number, method, status, time, protocol, and how many messages were sent and received. With \
        --format or -v, calls are printed as those of rpcurl call. Ctrl-C ends it; open calls have 5 seconds to end.
        """,
      examples: """
        rpcurl proxy --listen 127.0.0.1:8080 --plaintext localhost:50051
        rpcurl proxy -v --use fault,abort=unavailable,abort-percent=33 https://demo.example
        rpcurl proxy --allow-origin http://localhost:5173 --protocol grpc --plaintext localhost:50051
        """,
      places: [.init("TARGET", target, completion: "ask:target")])
  }

  private static var serve: Command {
    Command(
      id: .serve, name: "serve",
      summary: "Listen for clients, and respond by interceptors: a server of stubs or recorded calls.",
      usage: "rpcurl serve [OPTIONS]",
      discussion: """
        Calls pass the chain of interceptors as those of rpcurl proxy do, but to no server: mock, replay, \
        plugins or scripts respond. A call to which none of them responds ends with unimplemented. Reflection and the \
        health service respond from the schema.
        """,
      examples: """
        rpcurl serve --proto demo.proto --use mock,file=stubs.json --listen 127.0.0.1:8080
        rpcurl serve --descriptor-set demo.binpb --use replay,file=calls.ndjson
        """,
      places: [])
  }

  private static var run: Command {
    Command(
      id: .run, name: "run", summary: "Run a file of session commands; the first that fails ends it.",
      usage: "rpcurl run [OPTIONS] [TARGET] FILE",
      discussion: """
        The commands are those of rpcurl session; its command save writes such a file. A line that begins with # is a comment. At the \
        end of the file, open streams are half-closed and awaited. The exit code is that of the first command that \
        fails, which is reported with file and line, or 0.
        """,
      examples: """
        rpcurl run --plaintext localhost:50051 smoke.rpcurl
        printf '%s\\n' '#!/usr/bin/env -S rpcurl run' 'target http://localhost:50051' 'call Hello {"name":"Ada"}' > hello
        """,
      places: [
        .init(
          "FILE", "The server, unless the file names it, and the file; - is standard input.", repeats: true,
          completion: "file")
      ])
  }

  private static var list: Command {
    Command(
      id: .list, name: "list",
      summary: "List services, the methods of a service, or other names of a schema.",
      usage: "rpcurl list [OPTIONS] TARGET [SYMBOL]\nrpcurl list --descriptor-set FILE [OPTIONS] [SYMBOL]",
      discussion: """
        Without a symbol, all services are listed; with one, the methods of a service, the fields of a message, or the \
        values of an enum. Any unique suffix of a name is accepted. With --format json, the list is an array of objects with \
        name, kind and file.
        """,
      examples: """
        rpcurl list --plaintext localhost:50051
        rpcurl list --descriptor-set demo.binpb demo.v1.Demo
        rpcurl list --descriptor-set demo.binpb --kind message --format json
        """,
      places: [
        .init(
          "TARGET|SYMBOL",
          "The server, unless another source is named, and the name to list the members of.",
          repeats: true, completion: "ask:list")
      ])
  }

  private static var describe: Command {
    Command(
      id: .describe, name: "describe",
      summary: "Show what a schema declares, with comments and options, in the protobuf language.",
      usage:
        "rpcurl describe [OPTIONS] TARGET [SYMBOL…]\nrpcurl describe --descriptor-set FILE [OPTIONS] [SYMBOL…]",
      discussion: """
        A symbol is the name of a service, method, message, field, oneof, enum, value or extension, or any unique \
        suffix of one; or the name of a .proto file, which is printed as a whole, in a form that protoc accepts. Without a \
        symbol, all services are shown.

        With --format json, each declaration is an object on one line: kind, name, file, comment, options, proto \
        (the text), and the members of its kind: methods of a service, fields, oneofs, messages, enums, \
        extensions and reserved of a message, values of an enum, type and number of a field.
        """,
      examples: """
        rpcurl describe --plaintext localhost:50051 demo.v1.Demo
        rpcurl describe --descriptor-set demo.binpb HelloRequest HelloReply
        rpcurl describe --descriptor-set demo.binpb demo.proto > demo.proto
        """,
      places: [
        .init(
          "TARGET|SYMBOL", "The server, unless another source is named, and the names to describe.",
          repeats: true,
          completion: "ask:describe")
      ])
  }

  private static var template: Command {
    Command(
      id: .template, name: "template", summary: "Print a JSON template of a message, with every field.",
      usage:
        "rpcurl template [OPTIONS] TARGET METHOD|TYPE\nrpcurl template --descriptor-set FILE [OPTIONS] METHOD|TYPE",
      discussion: """
        For a method, it is the request. The output is valid input: the first member of a oneof has a value and the \
        others are null, which means absent; an enum has its default; a message within itself is null or an empty \
        list. --comments explains the fields on standard error.
        """,
      examples: """
        rpcurl template --plaintext localhost:50051 demo.v1.Demo/Hello > request.json
        rpcurl template --descriptor-set demo.binpb --comments demo.v1.AllTypes
        """,
      places: [
        .init(
          "TARGET|SYMBOL", "The server, unless another source is named, and a method or a message type.",
          repeats: true, completion: "ask:template")
      ])
  }

  private static var export: Command {
    Command(
      id: .export, name: "export",
      summary: "Write a schema, or the part of it that a name needs, as a descriptor set or as .proto files.",
      usage:
        "rpcurl export [OPTIONS] TARGET [SYMBOL] -o FILE|--proto-dir DIR\nrpcurl export --descriptor-set FILE [OPTIONS] [SYMBOL] -o FILE|--proto-dir DIR",
      discussion: """
        With a symbol, the output contains the file that declares it and all of its imports; without one, everything. Each file follows its imports. The same schema always gives the same bytes.
        """,
      examples: """
        rpcurl export --plaintext localhost:50051 demo.v1.Demo -o demo.binpb
        rpcurl export --plaintext localhost:50051 --proto-dir protos
        rpcurl export -I protos --proto demo.proto | protoc --descriptor_set_in=/dev/stdin --python_out=. demo.proto
        """,
      places: [
        .init(
          "TARGET|SYMBOL", "The server, unless another source is named, and the name to export.",
          repeats: true,
          completion: "ask:export")
      ])
  }

  private static var convert: Command {
    Command(
      id: .convert, name: "convert", summary: "Convert messages between JSON, text format and binary.",
      usage:
        "rpcurl convert [OPTIONS] --type TYPE --from FORMAT --to FORMAT TARGET [FILE]\nrpcurl convert --descriptor-set FILE [OPTIONS] --type TYPE --from FORMAT --to FORMAT [FILE]\nrpcurl convert --no-schema [OPTIONS] [FILE]",
      discussion: """
        JSON input may have several messages, one after another. With --delimited, input and output are streams: each \
        message is prefixed with its length (a varint) in binary, and is one line in text format. Streams of any \
        length are converted as they arrive, in constant memory.
        """,
      examples:
        "rpcurl convert --descriptor-set demo.binpb --type demo.v1.HelloRequest --from binary --to json request.bin",
      places: [
        .init(
          "TARGET|FILE",
          "The server, unless another source of the schema is named, and the input; - is standard input (the default).",
          repeats: true, completion: "file")
      ])
  }

  private static var health: Command {
    Command(
      id: .health, name: "health", summary: "Check the health of a server, or of one of its services.",
      usage: "rpcurl health [OPTIONS] [TARGET] [SERVICE]",
      discussion: """
        The command calls grpc.health.v1.Health, and prints the status. The exit code is 0 only if it is SERVING: 8 for \
        another status, otherwise that of the failed call. No schema is needed.
        """,
      examples: """
        rpcurl health --plaintext localhost:50051
        rpcurl health --wait 30s https://demo.example demo.v1.Demo
        """,
      places: [
        .init("TARGET", target, completion: "ask:target"),
        .init("SERVICE", "The service; without it, the whole server."),
      ])
  }

  private static var check: Command {
    Command(
      id: .check, name: "check", summary: "Find out how a server can be called, and why not.",
      usage: "rpcurl check [OPTIONS] [TARGET]",
      discussion: """
        Each step of a call is a line that begins with ✓ or ✗: name, connection, TLS, HTTP, protocols, reflection and health. \
        The last line is the shortest command that works. The exit code is 0 only if a call can be made.
        """,
      examples: """
        rpcurl check localhost:50051
        rpcurl check --format json https://demo.example
        """,
      places: [.init("TARGET", target, completion: "ask:target")])
  }

  private static var pluginsList: Command {
    Command(
      id: .pluginsList, name: "plugins list",
      summary: "List the built-in interceptors and the plugins of the search path (the default).",
      usage: "rpcurl plugins [list] [OPTIONS]",
      discussion: """
        The search path is $RPCURL_PLUGIN_PATH, $XDG_DATA_HOME/rpcurl/plugins, and lib/rpcurl/plugins where rpcurl is \
        installed. A file is inspected without running it; one that is refused is shown with the reason.
        """,
      examples: "", places: [])
  }

  private static var pluginsCheck: Command {
    Command(
      id: .pluginsCheck, name: "plugins check",
      summary: "Check a plugin or a script: inspect it, then make calls through it.",
      usage: "rpcurl plugins check [OPTIONS] NAME|PATH[,KEY=VALUE…]|COMMAND",
      discussion: """
        The plugin is loaded with strict=true and takes part in calls of all four kinds, to which rpcurl itself responds \
        with success, an error and a cancellation, alone and among interceptors that hold every value, respond or fail. \
        Messages are of the type google.protobuf.Value, unless --method names a method. The exit code is 7 if \
        something is wrong: a token is used twice or never, every call of a kind fails, or a callback does not return. \
        A callback that blocks the loop is a warning. Lines with "not exercised" list what the calls did not reach: \
        stages; responses to the plugin's own calls and requests, which get none, and calls that fail without them; or \
        everything, if the plugin declines all calls.

        A script, as of --script, is started, and its first line is shown. The same calls pass it, and it must end when \
        its standard input does. Its questions for a person get the reply y.
        """,
      examples: "",
      places: [
        .init(
          "NAME|PATH[,KEY=VALUE…]|COMMAND",
          "The plugin with its configuration, or the script with its arguments.",
          isRequired: true,
          completion: "ask:checked")
      ])
  }

  private static var pluginsNew: Command {
    Command(
      id: .pluginsNew, name: "plugins new",
      summary: "Create a small plugin that builds, as a starting point.",
      usage: "rpcurl plugins new [OPTIONS] NAME",
      discussion: "The plugin adds a header to each request. make builds it, make test checks it.",
      examples: "rpcurl plugins new hello && make -C hello test",
      places: [.init("NAME", "The name: lower-case letters, digits and hyphens.", isRequired: true)])
  }

  private static var version: Command {
    Command(
      id: .version, name: "version", summary: "Print the version, and the features of the libraries in use.",
      usage: "rpcurl version [OPTIONS]",
      discussion: """
        The line libcurl: shows where libcurl comes from: built in, the system's, or named by RPCURL_LIBCURL. With \
        --format json, the output is one object: version, compressions, and libcurl with source (built-in, system or \
        named), path if named, version, libraries, httpVersions and features, or error if it cannot be loaded.
        """,
      examples: "rpcurl version --format json", places: [])
  }

  private static var completion: Command {
    Command(
      id: .completion, name: "completion",
      summary: "Print the script with which a shell completes command lines.",
      usage: "rpcurl completion bash|zsh|fish",
      discussion: """
        A package of rpcurl installs the scripts. Otherwise a file that the shell reads at its start has the first \
        example, with the name of the shell; in zsh after compinit. fish reads the script from a pipe.
        """,
      examples: """
        source <(rpcurl completion bash)
        rpcurl completion fish | source
        """,
      places: [.init("SHELL", "bash, zsh or fish.", isRequired: true, completion: "ask:shell")])
  }

  private static var trust: Command {
    Command(
      id: .trust, name: "trust", summary: "Trust the project file .rpcurl, with its current contents.",
      usage: "rpcurl trust [OPTIONS] [PATH]\nrpcurl trust --list\nrpcurl trust --revoke [PATH]",
      discussion: """
        A project file that is not trusted may name a target, schema sources in its directory, and settings without effects \
        elsewhere. Everything else in it needs trust: what runs code, reads or writes other files, sends credentials, \
        or weakens TLS. So does the use of the user's credentials for its target. A changed file is not trusted. Read the \
        file first; this command prints the lines that need trust. See rpcurl-config(5).
        """,
      examples: """
        rpcurl trust
        rpcurl trust --revoke
        """,
      places: [
        .init(
          "PATH", "The file, or its directory (default: the project file of the working directory).",
          completion: "file")
      ])
  }

  private static var diff: Command {
    Command(
      id: .diff, name: "diff", summary: "Find breaking changes between two schemas.",
      usage: """
        rpcurl diff [OPTIONS] OLD NEW
        rpcurl diff [OPTIONS] --against OLD [NEW]
        """,
      discussion: """
        OLD and NEW are each a descriptor set (- is standard input), a .proto file, a directory of .proto files, or a \
        server with reflection. An existing path is a file or a directory; other arguments are servers. git:REVISION is the \
        path of the other argument in a revision of the git repository of the working directory, and git:REVISION:PATH \
        another path in it, from its top: git reads it, without a checkout. Options apply to both. The rules have the names that they have in buf breaking. google.protobuf and the services of gRPC itself are \
        not compared. With -v, compatible additions are printed too. The exit code is 8 if a rule is broken.
        """,
      examples: """
        rpcurl diff --plaintext localhost:50051 protos
        rpcurl diff --against git:main protos
        git show main:demo.binpb | rpcurl diff --rules WIRE_JSON - demo.binpb
        """,
      places: [
        .init("OLD", "The schema in use.", completion: "file"),
        .init("NEW", "The schema that replaces it.", completion: "file"),
      ])
  }

  private static var load: Command {
    Command(
      id: .load, name: "load", summary: "Make many calls of a method, and report latencies, errors and rate.",
      usage: """
        rpcurl load [OPTIONS] URL
        rpcurl load [OPTIONS] URL|HOST:PORT METHOD
        rpcurl load [OPTIONS] SUITE
        """,
      discussion: """
        Without --rate, a number of calls run at any time (--jobs), and a slow server receives fewer of them. With --rate, \
        calls start at their due times whether or not earlier ones have ended, and a latency counts from the due time: a pause of \
        the server delays every call that was due in it, and the percentiles show this. --stages changes either load in ramps and steps.

        Each message of the data is a call, in turn and from the first one again after the last; if the client streams, each \
        call sends all of them. Responses are not printed. The exit code is 8 if a threshold fails, and 0 also if calls failed. \
        Ctrl-C ends the run; the report then has what was measured.

        Of a suite, a file of tests for rpcurl test, each concurrent run is a process: it runs the setup, then one test after the \
        other as the load demands, and the teardown. What is counted is tests; the report also has the calls of each method. \
        A test is chosen at random by its weight, and --seed repeats the order.
        """,
      examples: """
        rpcurl load --plaintext -d '{"name":"Ada"}' --jobs 20 --duration 10s localhost:50051 demo.v1.Demo/Hello
        rpcurl load --plaintext --rate 200 --ramp 5s --threshold 'p99 < 50ms, errors < 0.1%' localhost:50051 demo.v1.Demo/Hello
        rpcurl load --jobs 4 --duration 5s --only @smoke greet.rpcurl
        """,
      places: [
        .init("TARGET|SUITE", "\(target) Or a suite.", isRequired: true, completion: "ask:target"),
        .init("METHOD", "The method to call, unless the URL ends with it.", completion: "ask:method"),
      ])
  }

  private static var test: Command {
    Command(
      id: .test, name: "test",
      summary: "Run suites: files of calls with checks, which a team keeps beside its protos.",
      usage: "rpcurl test [OPTIONS] FILE|DIR…",
      discussion: """
        A suite is a file of session commands with tests and checks; rpcurl-test(5) describes it. Of a directory, all files in \
        it and below it are run whose names end in .rpcurl. Files run at the same time, each over a connection of its own; the \
        tests of a file run one after the other. Only failures are reported, and a line with the numbers of tests.

        Exit codes: 0 if all tests passed, 8 if a check or a call failed, 4 if a suite cannot be run, 130 if Ctrl-C \
        ended the run.
        """,
      examples: """
        rpcurl test tests
        rpcurl test --only @smoke --var user=Ada greet.rpcurl
        rpcurl test --report terminal --report junit=report.xml --jobs 8 tests
        """,
      places: [
        .init(
          "FILE|DIR", "The suites; - is standard input.", isRequired: true, repeats: true, completion: "file")
      ])
  }

  private static let sessionDiscussion = """
    At the prompt, call METHOD {JSON} makes a call, and open METHOD starts a stream: then each JSON value that is typed is \
    sent at once, and responses are shown as they arrive. Ctrl-D half-closes the stream, Ctrl-C cancels it. Lines that \
    begin with {, [, @, a quote, a digit or $ are messages; all others are commands; help lists them. JSON may continue \
    over several lines.

    $last is the last response and $request the last request; $last.items[0].name is a field of it, for JSON and for the \
    arguments of commands, and within strings as ${last.id}. set NAME = VALUE makes variables.

    The chain of interceptors can be changed between calls (chain, use, plugin, remove, move); streams that are open keep \
    theirs. save FILE writes the session as a script for rpcurl run, or for the shell if the name ends with .sh.

    On a terminal, TAB completes commands, methods, fields and values by the schema, Up and Ctrl-R find earlier lines, and \
    keys are those of libedit; ~/.editrc configures them. Lines are kept in $XDG_STATE_HOME/rpcurl/history, except those \
    that set credentials.

    If standard input is not a terminal, the same commands are read from it, without a prompt: at its end open streams \
    are half-closed and awaited, and the exit code is 0, regardless of the statuses of calls; use rpcurl run for scripts that \
    must fail. Ctrl-C twice at an empty prompt ends the session with the exit code 130.
    """
}
