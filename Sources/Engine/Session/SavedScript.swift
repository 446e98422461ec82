import RPCurlLanguage
import RPCurlProtobuf

/// Converts a session's record to a script: for `rpcurl run`, or for a shell.
package enum SavedScript {
  /// The session's commands, for `rpcurl run`.
  ///
  /// - Parameters:
  ///   - record: The session.
  ///   - ending: The commands that end its open streams.
  ///   - secrets: Replaces the credentials by variables.
  ///   - head: The first lines.
  package static func session(
    _ record: SessionRecord, ending: [String] = [], _ secrets: WrittenSecrets,
    head: [String] = ["#!/usr/bin/env -S rpcurl run"]
  ) -> String {
    var secrets = secrets
    let start = record.beginning
    var lines: [String] = []
    if !start.fixedArguments.isEmpty { lines.append(secrets.options(start.fixedArguments)) }
    if let target = start.target { lines.append("target \(Template.quoting(target.text))") }
    for option in SessionState.settable {
      if let argument = start.chosen[option.id] {
        lines.append("\(option.sessionVerb) \(argument.text ?? "on")")
      }
    }
    let names = start.headers.names
    for (header, name) in zip(start.headers.arguments.compactMap(\.text), names) {
      // The command replaces a header of its name, and has no templates of --expand.
      let isOption =
        names.count { $0 == name } > 1 || start.invocation.expansion != nil && header.contains("${")
      lines.append(
        isOption
          ? secrets.options(["-H", header])
          : "header \(secrets.session(secrets.header(header), separator: ":"))")
    }
    for attribute in start.attributes.compactMap(\.text) {
      // A command is one line without blanks at its end.
      let isLine = !attribute.contains(where: \.isNewline) && attribute.last?.isWhitespace != true
      lines.append(
        isLine
          ? "attribute \(secrets.session(secrets.attribute(attribute), separator: "="))"
          : secrets.options(["--attribute", attribute]))
    }
    if start.verbosity > 0 { lines.append("verbose \(start.verbosity)") }
    for entry in start.chain { lines.append(secrets.line(entry.line)) }
    for line in record.lines { lines.append(secrets.line(line)) }
    lines += ending
    var head = head
    head += secrets.placeholders.map { "# Set \($0.name) in the environment: \($0.meaning)." }
    if record.isCut { head.append("# Not all of the session: \(SessionRecord.cutRemark).") }
    return (head + lines).joined(separator: "\n") + "\n"
  }

  /// The session's calls as shell commands.
  package static func shell(_ record: SessionRecord, _ secrets: WrittenSecrets) -> String {
    var secrets = secrets
    var commands: [String] = []
    // A stream that did not end by itself, and had no response, has nothing that a script could wait for.
    for call in record.calls where !call.hasFailed && call.limit != 0 {
      commands.append(command(call, &secrets))
    }
    var head = ["#!/bin/sh", "set -e"]
    if record.isCut { head.append("# Not all of the session: \(SessionRecord.cutRemark).") }
    head += secrets.placeholders.map { ": \"${\($0.name):?\($0.meaning)}\"" }
    return (head + commands).joined(separator: "\n") + "\n"
  }

  /// The command line of a call, for a POSIX shell.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - secrets: Replaces its secrets by variables.
  package static func command(_ call: SavedCall, _ secrets: inout WrittenSecrets) -> String {
    var words = ["rpcurl", "call"] + secrets.words(call.arguments).map { secrets.hiding(ShellText($0)) }
    // Without a response there is nothing to wait for but the end.
    if let limit = call.limit, limit > 0 { words += ["--limit", ShellText("\(limit)")] }
    let messages = call.messages.map { secrets.hiding(ShellText($0), isJSON: true) }
    if !call.isClientStreaming, let message = messages.first, message != "{}" {
      // The values of the message are inserted already.
      let isExpanded = call.arguments.contains("--expand")
      words += ["-d", isExpanded ? message.mappingTexts { $0.replacing("${", with: "$${") } : message]
    }
    // For `-o`, a dash is standard output.
    if let path = call.output { words += ["-o", secrets.hiding(ShellText(path == "-" ? "./-" : path))] }
    words += [secrets.hiding(ShellText(call.target)), ShellText(call.method.description)]
    return words.map(\.quoted).joined(separator: " ") + (call.isClientStreaming ? document(messages) : "")
  }

  /// A here-document with a delimiter that no message contains.
  private static func document(_ messages: [ShellText]) -> String {
    guard !messages.isEmpty else { return " </dev/null" }
    let isExpanded = !messages.allSatisfy(\.isLiteral)
    let texts = messages.map { $0.inDocument(isExpanded: isExpanded) }
    var end = "EOF"
    let lines = Set(texts.flatMap { $0.split(separator: "\n", omittingEmptySubsequences: false) })
    while lines.contains(Substring(end)) { end += "_" }
    return " <<\(isExpanded ? end : "'\(end)'")\n\(texts.joined(separator: "\n"))\n\(end)"
  }
}
