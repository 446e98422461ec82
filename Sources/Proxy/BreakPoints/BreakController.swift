import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The break points of a listener, and the interceptors of the calls that they hold. It belongs to the loop's thread.
final class BreakController {
  private(set) var points: BreakPoints
  private var holders: [Int: BreakInterceptor] = [:]
  /// The number of the call that starts.
  var startingCall = 0
  /// Prints a line among those of calls.
  var show: (String) -> Void = { _ in }

  init(_ points: BreakPoints) { self.points = points }

  /// Adds a break point.
  func add(_ text: String) throws(LanguageError) { _ = try points.add(text) }

  // MARK: Calls

  /// The schema has been read again.
  func use(_ schema: [MethodName: MethodDescriptor]) { points.schema = schema }

  /// The interceptors of the calls whose methods have break points.
  var registration: InterceptorRegistration {
    InterceptorRegistration(
      name: BreakPoints.name, factory: BreakFactory(controller: LoopBound(self)), priority: Int.max)
  }

  /// Whether a value of a call is held.
  func holds(_ value: HeldValue, of interceptor: BreakInterceptor) -> Bool {
    switch points.receive(value) {
    case .pass: return false
    case .hold:
      holders[value.call] = interceptor
      show(points.shown.line(value))
      return true
    case .full:
      show(
        TerminalText.escape(
          "\(value.call) \(value.method) not held: \(points.held.count) calls are held, of at most "
            + "\(BreakPoints.limit.count) and \(BreakPoints.limit.bytes >> 20) MiB"))
      return false
    }
  }

  /// A call has ended.
  func finished(_ number: Int, _ end: ResponseEnd) {
    holders[number] = nil
    guard let value = points.release(call: number) else { return }
    let text = points.shown.redaction.text(ShownValues.text(end))
    show(TerminalText.escape("\(number) \(value.method) no longer held: \(text)"))
  }

  // MARK: Commands

  /// Runs a line, or takes the text that a user has edited. Returns what the screen has to do.
  func run(
    _ command: (inout BreakPoints) throws(Failure) -> [BreakPoints.Action]
  ) throws(Failure) -> [BreakPoints.Action] {
    perform(try command(&points))
  }

  /// The numbers of the calls that are held.
  var held: [Int] { points.held.map(\.call) }

  /// Fails what is held, and holds nothing more.
  func close() { _ = perform(points.close()) }

  private func perform(_ actions: [BreakPoints.Action]) -> [BreakPoints.Action] {
    actions.filter { action in
      switch action {
      case .proceed(let call, let message): holders.removeValue(forKey: call)?.proceed(message)
      case .fail(let call, let error): holders.removeValue(forKey: call)?.fail(error)
      case .respond(let call, let message): holders.removeValue(forKey: call)?.respond(message)
      case .print, .edit, .end: return true
      }
      return false
    }
  }
}

/// Makes the interceptor of a call whose method has break points.
private struct BreakFactory: InterceptorFactory {
  let controller: LoopBound<BreakController>

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(
      stages: [.request, .response], effects: [.readsMessages, .changesMessages, .responds, .injectsFailures])
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    let controller = controller.value
    let sides = controller.points.sides(of: call.method)
    // The messages of a subrequest are bytes without a schema.
    guard !sides.isEmpty, !call.isSubrequest else { return nil }
    return BreakInterceptor(controller.startingCall, call, sides, context, controller)
  }
}
