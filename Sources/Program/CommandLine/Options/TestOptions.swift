extension OptionTable {
  /// The options of `test`.
  static let test: [Option] = [
    Option(
      .only, "--only", .text, "PATTERN", .own, .loadAndTest,
      "Run only the tests whose name contains this, or with this tag as @TAG; may repeat.",
      "With * the pattern is that of the whole name: 'says*'. Upper and lower case are the same in names.",
      example: "rpcurl test --only @smoke --only 'login*' tests", repeats: true, isConfigurable: false,
      isCommon: true),
    Option(
      .skip, "--skip", .text, "PATTERN", .own, .loadAndTest,
      "Do not run these tests; PATTERN is that of --only; may repeat.",
      example: "rpcurl test --skip @slow tests", repeats: true, isConfigurable: false),
    Option(
      .shuffle, "--shuffle", .flag, "", .own, .test,
      "Run the files, and the tests of each, in random order; --seed repeats an order.",
      example: "rpcurl test --shuffle --seed 42 tests", isConfigurable: false),
    Option(
      .testTimeout, "--test-timeout", .duration, "DURATION", .own, .test,
      "Maximum time of each test, unless its suite has its own.",
      example: "rpcurl test --test-timeout 30s tests", isConfigurable: false),
    Option(
      .stepTimeout, "--step-timeout", .duration, "DURATION", .own, .test, "Maximum time of each step.",
      example: "rpcurl test --step-timeout 5s tests", isConfigurable: false),
    Option(
      .totalTimeout, "--total-timeout", .duration, "DURATION", .own, .test,
      "Maximum time of the run; then suites that run are stopped, with their teardowns.",
      example: "rpcurl test --total-timeout 10m tests", isConfigurable: false),
    Option(
      .report, "--report", .text, "FORMAT[=FILE]", .own, .test,
      "Write a report: terminal (the default), tap, junit, ndjson, html or github; may repeat.",
      "Without a file, the report is written to standard output; only one may be.",
      example: "rpcurl test --report terminal --report junit=report.xml tests", repeats: true,
      isConfigurable: false, isCommon: true, completion: "ask:report"),
    Option(
      .coverage, "--coverage", .text, "FORMAT[=FILE]", .own, .test,
      "Report what the tests exercise of the API: text, json, html or report; may repeat.",
      "That is methods, with their status codes, enum values and members of oneofs. Without a file, text is printed after "
        + "the report of standard output. report adds it to the reports of --report that have a place for it: ndjson and html.",
      example: "rpcurl test --coverage text --coverage html=coverage.html tests", repeats: true,
      isConfigurable: false, isCommon: true, completion: "ask:coverage"),
    Option(
      .coverageOf, "--coverage-of", .text, "NAME", .own, .test,
      "Count only this service or the services of this package; may repeat.",
      "The default is all services of the schema, without those of gRPC, such as grpc.health.v1.Health.",
      example: "rpcurl test --coverage text --coverage-of demo.v1 tests", repeats: true, isConfigurable: false
    ),
    Option(
      .coverageMin, "--coverage-min", .number, "PERCENT", .own, .test,
      "Fail with exit code 8 if fewer methods are called.",
      example: "rpcurl test --coverage-min 80 tests", isConfigurable: false),
    Option(
      .compare, "--compare", .text, "OLD", .own, .test,
      "Fail if an older schema is not compatible with what the tests exercise.",
      "OLD is a descriptor set, a .proto file, a directory of them or a server. Messages must mean the same in both schemas, and "
        + "changes of the methods, messages and enums of the calls must not break the rules of rpcurl diff. With --replay, "
        + "the schema is not the recorded one, but that of --descriptor-set, --proto or the server.",
      example: "rpcurl test --compare v1.binpb --replay cassettes --descriptor-set v2.binpb tests",
      isConfigurable: false, completion: "file"),
    Option(
      .update, "--update", .flag, "", .own, .test,
      "Write the golden files of checks instead of comparing them.",
      example: "rpcurl test --update tests", isConfigurable: false),
    Option(
      .record, "--record", .text, "DIR", .own, .test,
      "Record the calls and the schema of each suite in this directory, for --replay.",
      example: "rpcurl test --record cassettes tests", isConfigurable: false, completion: "dir"),
    Option(
      .replay, "--replay", .text, "DIR", .own, .test,
      "Respond to all calls with what --record has recorded in this directory, without a server.",
      example: "rpcurl test --replay cassettes tests", isConfigurable: false, completion: "dir"),
    Option(
      .mock, "--mock", .text, "FILE", .own, .test,
      "Respond to calls with the stubs of this file, as --use mock,file=FILE does.",
      example: "rpcurl test --mock stubs.json --descriptor-set demo.binpb tests", isConfigurable: false,
      completion: "file"),
    Option(
      .listTests, "--list", .flag, "", .own, .test,
      "List the tests instead of running them: file, line, name and tags.",
      "--only and --skip select them.",
      example: "rpcurl test --list --only @smoke tests", isConfigurable: false),
    Option(
      .checkFiles, "--check", .flag, "", .own, .test,
      "Check the files instead of running them, without a call.",
      "All mistakes are reported that are found without a server: in commands and options, in names and paths of a schema of "
        + "files, in files that are read, and in variables. Each run does the same first, and does not begin with a mistake.",
      example: "rpcurl test --check --descriptor-set demo.binpb tests", isConfigurable: false),
    Option(
      .formatFiles, "--format-files", .flag, "", .own, .test,
      "Format the files instead of running them.",
      "Blank lines, white space at the ends of lines and the indentation of JSON change, nothing else. The names of files "
        + "that changed are printed; of standard input, the formatted text.",
      example: "rpcurl test --format-files tests", isConfigurable: false),
    Option(
      .rerun, "--rerun", .flag, "", .own, .test,
      "Run the suites, and again those whose files change, until Ctrl-C.",
      "The files are the suites, those that they and the options name, such as data, shared steps and descriptor sets, and the "
        + ".proto files of --import-path with those that they import. New suites in a directory are run too. A report to a file is "
        + "that of the last run.",
      example: "rpcurl test --rerun --proto demo.proto tests", isConfigurable: false),
  ]
}
