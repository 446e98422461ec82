import Testing

@testable import RPCurlProgram

struct OptionTableTests {
  @Test func isInTheOrderOfItsIdentifiers() {
    #expect(OptionTable.all.map(\.id) == OptionID.allCases)
  }

  @Test(arguments: OptionID.allCases)
  func isDocumented(id: OptionID) {
    let option = OptionTable[id]
    #expect(option.summary.hasSuffix("."))
    #expect(option.summary.count <= 110, "\(option.name): the summary is one line")
    #expect((option.hasValue || !option.values.isEmpty) == !option.placeholder.isEmpty)
    #expect(!option.names.isEmpty && option.names.contains { $0.hasPrefix("--") })
    #expect(!option.commands.isEmpty)
    #expect(option.example.contains("rpcurl"))
    #expect(!option.example.hasPrefix("Example"))
    #expect(!option.discussion.contains("Example:"))
  }

  @Test(arguments: OptionID.allCases)
  func hasAnExampleThatUsesIt(id: OptionID) {
    let option = OptionTable[id]
    let example = option.example
    // As a shell reads it, as far as examples go.
    let line = example.drop { $0 != "r" }.split(separator: " | ")[0].split(separator: " || ")[0]
      .split(separator: " 2>&1")[0].split(separator: " > ")[0].split(separator: " < ")[0]
    var words: [String] = []
    var isQuoted = false
    for (index, part) in line.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
      isQuoted = index % 2 == 1
      if isQuoted {
        words.append(String(part))
      } else {
        words += part.split(separator: " ").map { String($0.last == ")" ? $0.dropLast() : $0) }
      }
    }
    let invocation = Parser.parse(Array(words.dropFirst()))
    let isPart = invocation.errors.allSatisfy { if case .missingOption = $0.reason { true } else { false } }
    #expect(isPart, "\(invocation.errors)")
    let isUsed = invocation.last(id) != nil || invocation.request != nil && option.group == .general
    #expect(isUsed, "\(option.name): \(example)")
    #expect(option.commands.contains(CommandSet(invocation.command)))
  }

  @Test(arguments: CommandID.allCases)
  func namesAreUniqueInEachCommand(command: CommandID) {
    var seen: Set<String> = []
    for option in OptionTable.options(of: command) {
      for name in option.names + option.aliases {
        #expect(seen.insert(name).inserted, "\(name)")
      }
    }
  }

  @Test func standardsAndSpellingsAreValid() throws {
    for option in OptionTable.all where !option.standard.isEmpty {
      _ = try Value(option.standard, of: option, name: option.name, .session)
    }
    for option in OptionTable.all {
      guard case .choice(_, let spellings) = option.kind else { continue }
      for spelling in spellings.split(separator: " ") {
        let parts = spelling.split(separator: "=")
        #expect(parts.count == 2 && option.values.contains(String(parts[1])))
      }
    }
  }

  @Test func commandsAreTheirDefinitions() {
    for id in CommandID.allCases {
      #expect(CommandTable[id].id == id)
      #expect(CommandTable[id].summary.hasSuffix("."))
    }
    #expect(CommandTable[.pluginsNew].name == "plugins new")
    for name in CommandTable.names where name != "plugins" && name != "help" {
      #expect(CommandTable.find(name).map { CommandTable[$0].name } == name)
    }
    let reflecting: [CommandID] = [
      .call, .session, .run, .list, .describe, .template, .export, .convert, .load, .test,
      .proxy,
    ]
    let sets: [(CommandSet, [CommandID])] = [
      (.call, [.call]), (.list, [.list]), (.template, [.template]), (.convert, [.convert]),
      (.pluginsCheck, [.pluginsCheck]), (.pluginsNew, [.pluginsNew]), (.health, [.health]),
      (.waiting, [.call, .session, .run, .health, .load, .test]),
      (.calls, [.call, .session, .run]), (.callers, [.call, .session, .run, .load, .test, .proxy, .serve]),
      (.callsLoadAndTest, [.call, .session, .run, .load, .test]),
      (.callersAndConvert, [.call, .session, .run, .load, .test, .convert]),
      (.callsLoadAndListening, [.call, .session, .run, .load, .proxy, .serve]),
      (.callsAndListening, [.call, .session, .run, .proxy, .serve]), (.listening, [.proxy, .serve]),
      (.serve, [.serve]),
      (.callAndLoad, [.call, .load]), (.callAndTest, [.call, .test]),
      (.callLoadAndTest, [.call, .load, .test]),
      (.callsAndConvert, [.call, .session, .run, .convert, .proxy, .serve]),
      (.callAndConvert, [.call, .convert]),
      (.callAndExport, [.call, .export]), (.listings, [.list, .describe, .check, .pluginsList, .version]),
      (.reflecting, reflecting), (.fetching, reflecting + [.diff]),
      (.remote, reflecting + [.diff, .health, .check]),
      (.remoteAndServe, reflecting + [.diff, .health, .check, .serve]),
      (.schemas, reflecting + [.check, .pluginsCheck, .serve]),
      (.compiling, reflecting + [.check, .pluginsCheck, .diff, .serve]), (.load, [.load]), (.test, [.test]),
      (.trust, [.trust]), (.diff, [.diff]), (.all, CommandID.allCases),
    ]
    for (set, commands) in sets {
      #expect(Set(CommandID.allCases.filter { set.contains(CommandSet($0)) }) == Set(commands))
    }
  }

  /// The options that a project file may have without trust. What runs code, reads or writes files elsewhere, sends
  /// credentials, weakens TLS or selects another way to a server is not among them.
  private static let needNoTrust: [Option.Trust: Set<OptionID>] = [
    .projectPath: [.descriptorSet, .proto, .importPath],
    .header: [.header, .rpcHeader, .reflectHeader],
    .harmless: [
      .reflect, .reflectVersion, .noCache, .http1, .http2, .http2PriorKnowledge, .http3, .ipv4, .ipv6,
      .connectTimeout, .keepaliveTime, .keepaliveTimeout, .protocolName, .userAgent, .codec, .connectGet,
      .compression,
      .acceptCompression, .maxTime, .unordered, .dataFormat, .chunk, .seed, .allowUnknownFields, .format,
      .emitDefaults,
      .enumNumbers, .int64Numbers, .bytesForm, .protoNames, .unknownFields, .filter, .filterMissing, .limit,
      .verbose,
      .color, .timing, .redact, .attribute,
      .kind, .comments, .response, .showError, .errorFormat, .watch, .wait,
      .rules, .ignored, .ignoreUnstable, .onlyNames,
    ],
  ]

  /// The options that need trust, of which `credentials` and `interceptor` of the user's configuration do not apply to
  /// the target of a project file that is not trusted.
  private static let needTrust: [Option.Trust: Set<OptionID>] = [
    .interceptor: [.use, .plugin, .script],
    .credentials: [
      .cert, .certType, .key, .pass, .user, .bearer, .netrc, .netrcFile, .data, .type, .from, .to, .delimited,
      .pretty, .noUnknownFields, .allowPartial, .noSchema, .protoDir, .method, .callTime, .lang, .dir,
      .rulesFrom,
    ],
    .effects: [
      .plaintext, .insecure, .cacert, .capath, .servername, .authority, .tls12, .tls13, .unixSocket,
      .abstractUnixSocket, .proxy, .proxyUser, .resolve, .connectTo, .expand, .maxMessageSize,
      .each, .jobs, .failEarly, .repeats, .every, .raw, .output, .showSecrets, .explain, .silent,
    ],
  ]

  /// A new option belongs into one of the two lists above, and its definition states the same.
  @Test(arguments: OptionTable.all.filter(\.isConfigurable).map(\.id))
  func statesWhetherItNeedsTrust(id: OptionID) {
    let lists = Self.needNoTrust.merging(Self.needTrust) { first, _ in first }
    let stated = lists.filter { $0.value.contains(id) }.map(\.key)
    #expect(stated == [OptionTable[id].trust], "\(OptionTable[id].name)")
  }

  @Test func optionsThatNeedNoTrustAreConfigurable() {
    for id in Self.needNoTrust.values.joined() { #expect(OptionTable[id].isConfigurable) }
  }

  @Test func helpUsesStandardTerms() {
    let unwanted: Set<String> = [
      "told", "tells", "whoever", "whatever", "somebody", "nobody", "anew", "hears", "behind", "answer",
      "answers", "leave",
    ]
    let texts =
      CommandID.allCases.map { Help.command($0, isWhole: true) } + [
        Help.program(isWhole: true), Help.plugins(isWhole: true),
      ]
      + (ForeignOptions.all + ForeignOptions.load).map(\.hint)
    for text in texts {
      for word in text.split(whereSeparator: { !$0.isLetter }) {
        #expect(!unwanted.contains(word.lowercased()), "\(word): \(text)")
      }
    }
  }

  @Test func shortHelpIsOneScreen() {
    #expect(Help.program(isWhole: false).split(separator: "\n", omittingEmptySubsequences: false).count == 25)
    let all = [Help.program(isWhole: false)] + CommandID.allCases.map { Help.command($0, isWhole: false) }
    for help in all {
      let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.count <= 56, "\(help)")
      for line in lines where !line.hasPrefix("Usage: ") && !line.hasPrefix("       ") {
        #expect(line.count <= 80, "\(line)")
      }
    }
  }

  @Test func helpBeginsWithExamplesAndEndsWithExitCodes() {
    let help = Help.program(isWhole: true)
    #expect(help.contains("\nExamples:\n  rpcurl list demo.example\n"))
    #expect(help.contains("\n\nExit codes: 0 ok") && help.hasSuffix("143 by SIGTERM.\n"))
  }

  @Test func wholeHelpHasEveryOptionAndPastableExamples() {
    for id in CommandID.allCases {
      let help = Help.command(id, isWhole: true)
      for option in OptionTable.options(of: id) {
        for name in option.names { #expect(help.contains(name)) }
        #expect(help.contains("Example: \(option.example)\n"))
      }
    }
  }

  @Test(
    arguments: [
      ("plain", "plaintext"), ("plaintxt", "plaintext"), ("protocl", "protocol"), ("call-tim", nil),
      ("json5", nil), ("retri", nil), ("trac", nil), ("headr", "header"), ("hedaer", "header"),
      ("max-tme", "max-time"), ("x", nil), ("no-cach", "no-cache"), ("descriptr-st", "descriptor-set"),
    ] as [(String, String?)])
  func suggestsWhatIsNear(name: String, expected: String?) {
    #expect(Suggestions.nearest(to: "--\(name)", .call) == expected.map { "--\($0)" })
  }

  @Test(
    arguments: [
      ("lst", "list"), ("ls", "list"), ("desc", "describe"), ("temp", "template"), ("repl", "session"),
      ("LIST", "list"),
      ("complet", "completion"), ("localhost", nil), ("h:1", nil), ("pkg.Service", nil), ("http://h", nil),
      ("re", nil),
    ] as [(String, String?)])
  func suggestsCommands(name: String, expected: String?) {
    #expect(CommandTable.nearest(to: name) == expected)
  }

  @Test func noHintNamesAnOptionThatDoesNotExist() {
    // All names that the hints of other tools' options mention.
    let names = [
      "--list-services", "--list-methods", "--schema", "--debug", "--log-format", "--no-keepalive", "--host",
      "-r", "-t",
      "--path", "--web", "--package", "--call", "-f", "-e", "--repl", "-X", "-F", "-L", "-G", "-b",
      "--referer",
      "--fail", "-D", "-w", "-Z", "--parallel-max", "--retry", "--compressed", "--socks5", "--socks4",
      "--noproxy",
      "--trace", "-#", "-N", "-g", "--limit-rate", "-O", "--data-urlencode", "--interface",
      "--tls-skip-verify", "-j", "-P", "--concurrency",
      "--proto-path", "--metadata", "--deadline", "--service-config", "-format-error", "-msg-template",
      "-protoset-out",
      "-proto-out-dir", "-unix", "-alts",
    ]
    let known = Set(OptionTable.all.flatMap(\.names))
    for name in names {
      let hint = ForeignOptions.hint(name, .call)
      #expect(hint != nil, "\(name)")
      for word in (hint ?? "").split(whereSeparator: { " ;,\":".contains($0) })
      where word.hasPrefix("-") && word != "-vv" {
        #expect(known.contains(String(word)), "\(name): \(word)")
      }
    }
    let ofLoad = Set(OptionTable.options(of: .load).flatMap(\.names))
    for entry in ForeignOptions.load {
      #expect(
        entry.hint.split(separator: " ").allSatisfy { !$0.hasPrefix("-") || ofLoad.contains(String($0)) })
    }
  }
}
