import RPCurlBase
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlSchemaTools

/// Completes the lines of a session.
package struct Completer {
  /// An entry of a directory.
  package struct FileEntry: Equatable {
    package let name: String
    package let isDirectory: Bool
  }

  private let knowledge: any SessionKnowledge
  private let files: (_ directory: String) -> [FileEntry]

  /// Creates a completer.
  ///
  /// - Parameters:
  ///   - knowledge: The data of the session.
  ///   - files: The entries of a directory, by its path; the empty path is the working directory.
  package init(_ knowledge: any SessionKnowledge, files: @escaping (_ directory: String) -> [FileEntry]) {
    self.knowledge = knowledge
    self.files = files
  }

  /// Whether completion at the end of `head` needs the schema.
  package func needsSchema(_ head: String) -> Bool {
    switch CursorPlace(head, knowledge).place {
    case .message, .filter, .argument(.method, _, _), .argument(.symbol, _, _): true
    case .nothing, .command, .callOption, .argument: false
    }
  }

  /// The completions at the end of `head`.
  ///
  /// - Parameter head: The text before the cursor.
  package func complete(_ head: String) -> Completion {
    let value = LanguageCompletion(head, at: .text, in: scope)
    var completion =
      value.candidates.isEmpty ? completion(of: CursorPlace(head, knowledge).place) : Self.completion(value)
    completion.candidates.removeAll { candidate in
      TerminalText.escape(candidate.text) != candidate.text
    }
    return completion
  }

  private func completion(of place: CursorPlace.Place) -> Completion {
    switch place {
    case .nothing: return Completion()
    case .command(let typed):
      let commands = words(typed, SessionVerb.all.map { ($0.name, $0.summary) })
      return commands.candidates.isEmpty ? method(typed) : commands
    case .callOption(let typed):
      return words(typed, Session.optionsOfLines.map { ($0.name, $0.summary) })
    case .filter(let type, let typed):
      var scope = scope
      scope.types = type.map { [$0] } ?? []
      return Self.completion(LanguageCompletion(typed, at: .path, in: scope))
    case .message(let type, let text): return type.map { message($0, text) } ?? Completion()
    case .argument(let argument, let typed, let verb): return complete(argument, typed, verb)
    }
  }

  private func complete(
    _ argument: SessionVerb.Argument, _ typed: String, _ verb: SessionVerb
  ) -> Completion {
    switch argument {
    case .method: method(typed)
    case .symbol: symbol(typed)
    case .file: file(typed, isWord: !verb.isFreeForm)
    case .variable: words(typed, knowledge.scope.variables.map { ($0, "") })
    case .interceptor: words(typed, knowledge.interceptorNames.map { ($0, "") })
    case .specification: Self.completion(settings.interceptor(typed))
    case .command: words(typed, SessionVerb.all.map { ($0.name, $0.summary) })
    case .choice(let choices): words(typed, choices.map { ($0, "") })
    case .stream: stream(typed)
    case .attribute: attribute(typed)
    case .condition: check(typed)
    case .option: option(typed)
    case .header:
      Self.completion(HeaderCompletion.names(typed, end: verb.arguments.last == .text ? ": " : ""))
    case .json, .text: Completion()
    }
  }

  private func stream(_ typed: String) -> Completion {
    words(typed, knowledge.openStreams.map { ("\($0.number)", $0.note) })
  }

  /// Completes a check of the last call, or of a stream that is named.
  private func check(_ typed: String) -> Completion {
    guard typed.contains(" "), let named = CheckedStream(typed) else {
      var completion = Self.completion(LanguageCompletion(typed, at: .condition, in: checkScope))
      completion.candidates += words(typed, [("stream", "the check of a stream, by its number")]).candidates
      return completion
    }
    let isNamed = typed.hasSuffix(" ") && !named.name.isEmpty || !named.check.isEmpty
    guard isNamed else { return stream(named.name) }
    var scope = checkScope
    let stream = knowledge.openStreams.first { "\($0.number)" == named.name }
    scope.types = [stream?.response].compactMap(\.self)
    return Self.completion(LanguageCompletion(named.check, at: .condition, in: scope))
  }

  /// The names that match what is typed, with a space appended.
  private func words(_ typed: String, _ all: [(name: String, note: String)]) -> Completion {
    matching(typed, all.map { Completion.Candidate(label: $0.name, text: "\($0.name) ", note: $0.note) })
  }

  /// The candidates whose labels match what is typed.
  private func matching(_ typed: String, _ all: [Completion.Candidate]) -> Completion {
    Completion(
      replaced: typed, candidates: NameMatch.indices(of: typed, in: all.map(\.label)).map { all[$0] })
  }

  /// Completes an option of `options`, or its value.
  private func option(_ typed: String) -> Completion {
    let last = String(typed[typed.startOfLast(" ")...])
    let before = typed.dropLast(last.count).split(separator: " ").last.map(String.init) ?? ""
    let all = SessionState.completedOptions
    if let option = all.first(where: { $0.hasValue && $0.names.contains(before) }) {
      if !option.values.isEmpty { return words(last, option.values.map { ($0, "") }) }
      return option.completion == "file" ? file(last, isWord: true) : Completion()
    }
    return words(last, all.flatMap { option in option.names.map { ($0, option.summary) } })
  }

  /// Completes the key of an attribute that is set, with `=`.
  private func attribute(_ typed: String) -> Completion {
    matching(typed, knowledge.attributeKeys.map { Completion.Candidate(label: $0, text: "\($0)=") })
  }

  private static func completion(_ found: LanguageCompletion) -> Completion {
    Completion(
      replaced: found.replaced,
      candidates: found.candidates.map { candidate in
        Completion.Candidate(
          label: candidate.text.filter { $0 != " " }, text: candidate.text, note: candidate.note)
      })
  }

  // MARK: Schema

  /// The services, those of the protocol's infrastructure last.
  private var services: [String] { NameMatch.ownFirst(knowledge.services.sorted()) }

  private func message(_ type: MessageType, _ text: String) -> Completion {
    let cursor = JSONCursor(text, of: type)
    let typed = String(Substring(text.utf8.dropFirst(cursor.start)))
    let suggestions = cursor.suggestions(typeNames: knowledge.pool?.messageNames ?? [])
    return Completion(
      replaced: typed,
      candidates: suggestions.map { Completion.Candidate(label: $0.label, text: $0.text, note: $0.note) })
  }

  /// Completes a method: the name alone if it is unique, otherwise `pkg.Service/Method`. A service may be typed by the end
  /// of its name.
  private func method(_ typed: String) -> Completion {
    if let slash = typed.firstIndex(of: "/") {
      let written = String(typed[..<slash])
      let named = services.contains(written) ? [written] : services.filter { $0.hasSuffix(".\(written)") }
      return words(typed, named.flatMap(methods).map { ("\(written)/\($0.name)", kind($0)) })
    }
    let all = services.flatMap(methods)
    var count: [String: Int] = [:]
    for method in all { count[method.name, default: 0] += 1 }
    var names = all.map(\.name)
    var candidates = all.map { method in
      let name = count[method.name] == 1 ? method.name : "\(method.service)/\(method.name)"
      return Completion.Candidate(label: name, text: "\(name) ", note: kind(method))
    }
    if !typed.isEmpty {
      names += serviceNames
      candidates += serviceNames.map { Completion.Candidate(label: "\($0)/", text: "\($0)/") }
    }
    let found = NameMatch.indices(of: typed, in: names).map { candidates[$0] }
    // Of a service that its full name names, the last part is no other candidate.
    let full = found.map(\.label)
    return Completion(
      replaced: typed,
      candidates: found.filter { found in !full.contains { $0.hasSuffix(".\(found.label)") } })
  }

  /// The full names of the services, and the last parts of them that are unique.
  private var serviceNames: [String] {
    var count: [String: Int] = [:]
    for service in services { count[Self.lastPart(service), default: 0] += 1 }
    return services + services.map(Self.lastPart).filter { count[$0] == 1 && !services.contains($0) }
  }

  private static func lastPart(_ name: String) -> String {
    name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
  }

  private func methods(of service: String) -> [MethodDescriptor] {
    ((try? knowledge.pool?.service(named: service)) ?? nil)?.methods ?? []
  }

  private func kind(_ method: MethodDescriptor) -> String {
    switch (method.clientStreaming, method.serverStreaming) {
    case (false, false): ""
    case (true, false): "client streaming"
    case (false, true): "server streaming"
    case (true, true): "bidirectional"
    }
  }

  private func symbol(_ typed: String) -> Completion {
    var all = knowledge.services.map { ($0, "service") }
    all += (knowledge.pool?.messageNames ?? []).map { ($0, "message") }
    if let (service, separator) = serviceAndSeparator(typed) {
      let named = services.contains(service) ? [service] : services.filter { $0.hasSuffix(".\(service)") }
      all += named.flatMap(methods).map { ("\(service)\(separator)\($0.name)", "method") }
    }
    // The last part of a name is sufficient if it is unique.
    if !all.contains(where: { $0.0.hasPrefix(typed) }) {
      var count: [String: Int] = [:]
      let short = all.map { (Self.lastPart($0.0), $0.1) }.filter { $0.0.hasPrefix(typed) }
      for (name, _) in short { count[name, default: 0] += 1 }
      let unique = short.filter { count[$0.0] == 1 }
      if !unique.isEmpty { all = unique }
    }
    let kinds = Dictionary(all) { first, _ in first }
    return words(typed, NameMatch.ownFirst(kinds.keys.sorted()).map { ($0, kinds[$0] ?? "") })
  }

  private func serviceAndSeparator(_ typed: String) -> (String, Character)? {
    guard let index = typed.lastIndex(where: { $0 == "/" || $0 == "." }) else { return nil }
    return (String(typed[..<index]), typed[index])
  }

  // MARK: Interceptors

  private var settings: SettingCompletion {
    let scope = scope
    return SettingCompletion(
      scope, attributes: knowledge.attributeKeys,
      types: { [knowledge] messages in
        let request = scope.request?.type ?? knowledge.currentRequestType
        let response = scope.last?.type
        return switch messages {
        case .requests: [request].compactMap(\.self)
        case .responses: [response].compactMap(\.self)
        case .both: [request, response].compactMap(\.self)
        }
      },
      files: wholeFile)
  }

  /// What can be named.
  private var scope: LanguageScope {
    var scope = knowledge.scope
    scope.typeNames = { [knowledge] in knowledge.pool?.messageNames ?? [] }
    return scope
  }

  /// What a check can name: golden files too.
  private var checkScope: LanguageScope {
    var scope = scope
    scope.files = wholeFile
    return scope
  }

  // MARK: Files

  /// Completes a path to the end of a text.
  private func wholeFile(_ typed: String) -> LanguageCompletion {
    let found = file(typed, isWord: false)
    return LanguageCompletion(
      found.replaced,
      found.candidates.map { .init($0.text.hasSuffix(" ") ? String($0.text.dropLast()) : $0.text) })
  }

  /// Completes a path.
  ///
  /// - Parameters:
  ///   - typed: The path as typed.
  ///   - isWord: Whether to quote names that contain blanks.
  private func file(_ typed: String, isWord: Bool) -> Completion {
    let path = isWord ? SessionWords.begun(typed) : typed
    let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    let name = path.dropFirst(directory.count)
    let shown = files(directory).filter { $0.name.hasPrefix(".") == name.hasPrefix(".") }
    let found = NameMatch.indices(of: name, in: shown.map(\.name)).map { shown[$0] }
    // Quote all or none, so that their common prefix is completed.
    let isQuoted = isWord && found.contains { SessionWords.needsQuotes(directory + $0.name) }
    let candidates = found.sorted { $0.name < $1.name }.map { entry in
      let label = entry.isDirectory ? "\(entry.name)/" : entry.name
      let end = entry.isDirectory ? "" : isQuoted ? "' " : " "
      let text = isQuoted ? "'\(SessionWords.withinQuotes(directory + label))" : directory + label
      return Completion.Candidate(label: label, text: text + end)
    }
    return Completion(replaced: typed, candidates: candidates)
  }
}
