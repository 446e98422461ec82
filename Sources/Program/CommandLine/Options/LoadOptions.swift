extension OptionTable {
  /// The options of `rpcurl load`.
  static let load: [Option] = [
    Option(
      .rate, "--rate", .text, "CALLS", .own, .load,
      "Start this number of calls per second, such as 200 or 0.5, at their due times.",
      "Calls start whether or not earlier ones have ended, but at most --jobs run at a time: those that wait for this "
        + "start late. Latencies count from the due time. Calls that have not started at the end of the run count as errors.",
      example: "rpcurl load --rate 200 --duration 30s https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, isConfigurable: false, isCommon: true),
    Option(
      .ramp, "--ramp", .duration, "DURATION", .own, .load,
      "Before the measured part, increase --rate, or --jobs without it, from 0 in this time.",
      example: "rpcurl load --rate 200 --ramp 10s https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, isConfigurable: false),
    Option(
      .warmUp, "--warm-up", .duration, "DURATION", .own, .load,
      "Make calls for this time before the measured part, after --ramp.",
      example: "rpcurl load --jobs 20 --warm-up 5s https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, isConfigurable: false),
    Option(
      .stages, "--stages", .text, "STAGES", .own, .load,
      "Change the load in stages DURATION:TARGET with commas between, such as 30s:100,1m:500.",
      "In each stage, the load changes evenly to its target. This is a rate with --rate, which is the rate at the beginning, and "
        + "otherwise a number of calls that run at a time, from --jobs, or from 0 if that is not given. The same target again "
        + "keeps the load, and a duration of 0 changes it at once: 0s:200,1m:200. The measured part consists of the stages, and "
        + "the report has each of them.",
      example: "rpcurl load --rate 0 --stages 30s:100,1m:100,30s:0 https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, isConfigurable: false),
    Option(
      .duration, "--duration", .duration, "DURATION", .own, .load,
      "Length of the measured part (default: 10s without --requests).",
      "No call starts after it. Calls that have not ended five seconds later are canceled and counted as unfinished.",
      example: "rpcurl load --jobs 20 --duration 1m https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, isConfigurable: false, isCommon: true),
    Option(
      .requests, "--requests", .number, "NUMBER", .own, .load,
      "End the run after this many measured calls.",
      example: "rpcurl load --requests 10000 --jobs 20 https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, isConfigurable: false, isCommon: true),
    Option(
      .connections, "--connections", .number, "NUMBER", .own, .load,
      "Spread the calls evenly over this many connections.",
      "Without it, HTTP/2 has one connection, and more if the server limits the calls on one; HTTP/1.1 has one for each "
        + "concurrent call. With it, calls wait if no connection is free, and the connections use all addresses of the server's "
        + "name in turn.",
      example: "rpcurl load --connections 4 --jobs 100 https://demo.example demo.v1.Demo/Hello",
      isConfigurable: false),
    Option(
      .threshold, "--threshold", .text, "CONDITIONS", .own, .load,
      "Exit with 8 unless these conditions hold, such as 'p99 < 50ms, errors < 0.1%'; may repeat.",
      "A condition compares (==, !=, <, <=, >, >=) a latency with a duration and its unit, errors with a number or a percentage, or rate with "
        + "calls per second. Latencies are p50, p99.9 and other percentiles, min, mean and max. All conditions are reported.",
      example:
        "rpcurl load --threshold 'p99<50ms, errors<0.1%, rate>190' https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, repeats: true, isConfigurable: false, isCommon: true, completion: "ask:threshold"),
    Option(
      .compareLoad, "--compare", .text, "OLD", .own, .load,
      "Exit with 8 if the run is slower than an earlier one, or has more errors.",
      "OLD is a report of --format json, of the same method or suite, and of the same load. p50, p90, p99 and errors are "
        + "compared by Fisher's exact test: more calls than chance explains failed, or took longer than the percentile of both "
        + "runs together. A percentile must also be greater by 5%.",
      example: "rpcurl load --compare old.json --requests 5000 https://demo.example demo.v1.Demo/Hello",
      isConfigurable: false, completion: "file"),
    Option(
      .tag, "--tag", .text, "NAME=VALUE", .own, .load,
      "Name the run in all reports; may repeat.",
      "A name of a secret, such as token, is an error without --show-secrets: reports show the value. All reports also have "
        + "the time, the version and the command, without secrets.",
      example: "rpcurl load --tag branch=main --format json https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, repeats: true, isConfigurable: false),
    Option(
      .loadFormat, "--format", .choice("text json csv"), "FORMAT", .own, .load,
      "Format of the report: text, json or csv.",
      example: "rpcurl load --format json https://demo.example demo.v1.Demo/Hello",
      standard: "text", expressed: .k6, isConfigurable: false),
    Option(
      .html, "--html", .text, "FILE", .own, .load,
      "Also write the report as an HTML page with charts.",
      example: "rpcurl load --html load.html https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, isConfigurable: false, completion: "file"),
    Option(
      .histogramLog, "--hdr", .text, "FILE", .own, .load,
      "Also write the latencies as a log of HdrHistogram, in nanoseconds.",
      example: "rpcurl load --hdr load.hlog https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, isConfigurable: false, completion: "file"),
    Option(
      .rawLatencies, "--raw", .text, "FILE", .own, .load,
      "Also write each latency on a line, in nanoseconds.",
      "The lines are in the order in which the calls ended. Calls before the measured part are not written. "
        + "The file is replaced at the end.",
      example: "rpcurl load --raw load.txt https://demo.example demo.v1.Demo/Hello",
      expressed: .k6, isConfigurable: false, completion: "file"),
    Option(
      .exportScript, "--export", .choice("k6"), "PROGRAM", .own, .load,
      "Print the same load as a script for k6 instead of making it.",
      "The script uses the module k6/net/grpc, so only gRPC can be exported. Secret headers are variables of the "
        + "environment in it.",
      example: "rpcurl load --export k6 --rate 200 https://demo.example demo.v1.Demo/Hello > load.js",
      expressed: .k6, isConfigurable: false),
  ]
}
