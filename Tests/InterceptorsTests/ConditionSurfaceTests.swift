import RPCurlChain
import RPCurlChainSupport
import RPCurlLanguage
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

/// Each form of a condition in each place that has conditions, and each earlier spelling.
@Suite struct ConditionSurfaceTests {
  /// A place that has conditions. `expect` has `Condition` itself.
  enum Surface: String, CaseIterable, Sendable {
    case expect, assert, until, `where`

    /// The error of a condition in this place; nil if it is accepted.
    func error(_ condition: String) -> String? {
      do {
        switch self {
        case .expect: _ = try Condition(parsing: condition)
        case .assert:
          _ = try TestServices().registration("assert,check=\(SettingScanner.inQuotes(condition))")
        case .until: _ = try TestServices().registration("retry,until=\(SettingScanner.inQuotes(condition))")
        case .where:
          let services = TestServices()
          services.files["stubs"] = #"{"where":[\#(quoted(condition))],"response":{}}"#
          _ = try services.registration("mock,file=stubs")
        }
        return nil
      } catch let error as LanguageError {
        return "\(error.reason); \(error.hint ?? "")"
      } catch let error as ConfigurationError {
        return "\(error.reason); \(error.hint ?? "")"
      } catch {
        return "\(error)"
      }
    }

    private func quoted(_ text: String) -> String {
      "\"\(text.replacing(#"\"#, with: #"\\"#).replacing("\"", with: #"\""#))\""
    }
  }

  /// A row of the table: a form, the places that lack it, and earlier spellings with what their errors show.
  struct Row: Sendable, CustomStringConvertible {
    let form: String
    var lack: [Surface] = []
    var earlier: [(spelling: String, shown: String)] = []
    var description: String { form }
  }

  static let rows = [
    Row(form: ".title == Loom", earlier: [("title == Loom", ".title == Loom")]),
    Row(form: #".title == "Loom""#), Row(form: ".title != Loom"), Row(form: ".price < 10"),
    Row(form: ".title =~ ^Lo{2}m"), Row(form: ".title !~ x"), Row(form: ".tags contains red"),
    Row(form: ".title absent", earlier: [(".title missing", "write absent")]),
    Row(form: ".title exists"), Row(form: ".tags size 3", earlier: [(".tags length 3", "write size 3")]),
    Row(form: "header x-a =~ ^1", earlier: [("header x-a:1", "write header x-a == VALUE")]),
    Row(form: "header x-a absent", earlier: [("header !x-a", "write header x-a absent")]),
    Row(form: "header x-a"), Row(form: "trailer x-a == 1", lack: [.where]),
    Row(
      form: "latency < 10s", lack: [.where, .until],
      earlier: [("latency=<10s", "write latency <= 10s"), ("latency < 100", "write 100ms or 100s")]),
    Row(form: "status not_found", lack: [.where]), Row(form: "error =~ ^no", lack: [.where]),
    Row(form: "count >= 2", lack: [.where]), Row(form: "detail ErrorInfo .reason == X", lack: [.where]),
    Row(form: #".tags == ["b","a"] unordered"#), Row(form: ".price == 1.5 within 0.1"),
    Row(form: ".price == 1.5 within 1%"), Row(form: ".tags ascending"), Row(form: ".id is uuid"),
    Row(form: "first .a exists", lack: [.where]), Row(form: "any .a exists", lack: [.where]),
    Row(form: "every .a exists", lack: [.where]), Row(form: "message 2 .a exists", lack: [.where]),
    Row(form: "list .a size 3", lack: [.where]),
  ]

  @Test(arguments: rows, Surface.allCases)
  func formIsAcceptedWhereThePlaceHasIt(_ row: Row, _ surface: Surface) {
    let error = surface.error(row.form)
    if row.lack.contains(surface) {
      #expect(error != nil)
    } else {
      #expect(error == nil)
    }
  }

  @Test(arguments: rows.filter { !$0.earlier.isEmpty }, Surface.allCases)
  func earlierSpellingShowsThePresentOne(_ row: Row, _ surface: Surface) {
    for (spelling, shown) in row.earlier {
      let error = surface.error(spelling)
      #expect(error?.contains(shown) == true, "\(spelling): \(error ?? "accepted")")
    }
  }

  /// The same difference in each place.
  @Test func failureShowsTheSameDifference() throws {
    let services = TestServices()
    services.files["stubs"] = #"{"where":[". == a"],"response":{}}"#
    let difference = #". == a: expected "a", got "b""#
    let mock = TestCall(.unary, Journal(), [try services.registration("mock,file=stubs")], typed: true)
    mock.start()
    mock.send("b")
    mock.close()
    #expect(mock.end?.error?.message.hasSuffix(difference) == true, "\(mock.end?.error?.message ?? "")")
    let assert = TestCall(.unary, Journal(), [try services.registration("assert,check=. == a")])
    assert.start()
    assert.receiveHeaders()
    assert.receive("b")
    assert.chain.receive(.responseEnd(ResponseEnd()))
    #expect(assert.found.map(\.text) == [difference])
  }

  @Test(arguments: ["until=field=a == 1", "until=code=ok"])
  func untilShowsThePresentFormOfAnAssertion(_ setting: String) {
    let error = #expect(throws: ConfigurationError.self) {
      try TestServices().registration("retry,\(setting)")
    }
    #expect(error?.hint == (setting.hasSuffix("ok") ? "write status ok" : "write every .a == 1"))
  }
}
