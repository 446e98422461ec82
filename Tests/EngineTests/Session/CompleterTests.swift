import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct CompleterTests {
  private static let files: [String: [Completer.FileEntry]] = [
    "": [
      .init(name: "orders.rpcurl", isDirectory: false), .init(name: "data", isDirectory: true),
      .init(name: ".hidden", isDirectory: false), .init(name: "with space", isDirectory: false),
    ],
    "data/": [.init(name: "one.json", isDirectory: false)],
    "my data/": [.init(name: "it's $one", isDirectory: false)],
    "b/": [.init(name: "a b", isDirectory: true), .init(name: "ab", isDirectory: false)],
  ]

  private func complete(_ head: String, open: Bool = false) throws -> Completion {
    let session = try KnownSession()
    if open { _ = try session.open() }
    return Completer(session) { Self.files[$0] ?? [] }.complete(head)
  }

  /// The line after TAB.
  private func completed(_ head: String, open: Bool = false) throws -> String {
    let completion = try complete(head, open: open)
    #expect(head.hasSuffix(completion.replaced))
    return head.dropLast(completion.replaced.count) + completion.inserted
  }

  @Test(arguments: [
    ("cal", "call "), ("ca", "ca"), ("nothing", "nothing"), ("close ", "close "), ("verbose o", "verbose o"),
    ("verbose of", "verbose off "),
    // Methods: by name if it is unique.
    ("call Pl", "call Place "), ("call F", "call shop."), ("call shop.O", "call shop.Orders/"),
    ("call shop.Orders/W", "call shop.Orders/Watch "), ("call shop.Stock/", "call shop.Stock/Find "),
    ("call None", "call None"),
    // Services by the end of their names.
    ("call Orders/W", "call Orders/Watch "), ("call Sto", "call Stock/"),
    ("call Orders/None", "call Orders/None"),
    ("describe Stoc", "describe Stock "), ("describe Orders/P", "describe Orders/Place "),
    // Messages.
    ("call Place ", "call Place {"), ("call Place {it", #"call Place {"itemCount": "#),
    (#"call Place {"st"#, #"call Place {"status": "#),
    (#"call Place {"status": "o"#, #"call Place {"status": "OPEN""#),
    (#"call Place {"id": "é", "parts": [{"st"#, #"call Place {"id": "é", "parts": [{"status": "#),
    (#"call Place{"st"#, #"call Place{"status": "#), (#"call Other {"st"#, #"call Other {"st"#),
    // Others.
    ("describe shop.St", "describe shop.Stock "), ("describe shop.Orders/P", "describe shop.Orders/Place "),
    ("source o", "source orders.rpcurl "), ("source d", "source data/"),
    ("source data/", "source data/one.json "),
    ("source .h", "source .hidden "), ("source w", "source 'with space' "),
    ("source 'wi", "source 'with space' "), (#"source "with s"#, "source 'with space' "),
    (#"source with\ s"#, "source 'with space' "), ("source b/a", "source 'b/a"),
    ("source 'b/a ", "source 'b/a b/"), ("source 'my data/i", #"source 'my data/it'\''s $one' "#),
    ("plugin load w", "plugin load with space "),
    ("switch ", "switch "), ("switch 1", "switch 12 "),
    ("expect str", "expect stream "), ("expect stream 1", "expect stream 12 "),
    ("expect stream 2 .item", "expect stream 2 .item_count "),
    ("expect stream 2 coun", "expect stream 2 count "),
    ("call Place @o", "call Place @orders.rpcurl "), ("@o", "@orders.rpcurl "),
    ("call Place > o", "call Place > orders.rpcurl "), ("call Place {} >o", "call Place {} >orders.rpcurl "),
    (#"call Place {"id": "> o"#, #"call Place {"id": "> o"#),
    ("attribute ti", "attribute tier="), ("attribute t", "attribute t"), ("attribute x", "attribute x"),
    ("remove si", "remove sign "), ("use assert,check=status not_f", "use assert,check=status not_found"),
    ("use ret", "use retry"), ("use record,file=o", "use record,file=orders.rpcurl"),
    ("use retry,jit", "use retry,jitter="), ("use none,a", "use none,a"),
    ("use retry,jitter=1", "use retry,jitter=1"),
    // Conditions.
    ("expect lat", "expect latency "), ("expect .item", "expect .item_count "),
    ("expect .parts[0].i", "expect .parts[0].i"), ("expect .parts[0].itemC", "expect .parts[0].itemCount "),
    ("expect any .item", "expect any .item_count "),
    ("expect message 0 .item", "expect message 0 .item_count "),
    ("expect .status == OP", "expect .status == OPEN"),
    ("use assert,check=.sta", "use assert,check=.status "),
    ("use retry,until='.status == DO", "use retry,until='.status == DONE'"),
    ("use edit,set=sta", "use edit,set=status="), ("use edit,set=status=OP", "use edit,set=status=OPEN"),
    ("use edit,append=pa", "use edit,append=parts[]."),
    ("use edit,transform=id:up", "use edit,transform=id:upper"),
    ("use log,redact-field=item", "use log,redact-field=item_count"),
    ("use log,header=x-api", "use log,header=x-api-key "),
    ("use log,attribute=ten", "use log,attribute=tenant "),
    ("use auth,bearer=env:HO", "use auth,bearer=env:HOME"),
    ("use retry,codes=unavailable+abo", "use retry,codes=unavailable+aborted"),
    ("options --cacer", "options --cacert "), ("options -k --http1", "options -k --http1.1 "),
    ("options --cacert o", "options --cacert orders.rpcurl "),
    ("options --unknown-fields sh", "options --unknown-fields show "),
    ("options --bearer x", "options --bearer x"),
    ("call Place {} --fil", "call Place {} --filter"), ("call Place {} --lim", "call Place {} --limit "),
    ("call Place {} --filter it", "call Place {} --filter item_count"), ("Pla", "Place "),
    (#"Place {"st"#, #"Place {"status": "#),
    // In another case, and by a part of a name.
    ("call pla", "call Place "), ("call lac", "call Place "), ("call watc", "call Watch "),
    ("call sto", "call Stock/"), ("call p", "call Place "), ("describe STOC", "describe shop.Stock "),
    (#"call Place {"itemc"#, #"call Place {"itemCount": "#),
    (#"call Place {count"#, #"call Place {"itemCount": "#),
    (#"call Place {"status": "pen"#, #"call Place {"status": "OPEN""#),
    ("expect LAT", "expect latency "), ("expect .Item", "expect .item_count "), ("use RET", "use retry"),
    ("source ORD", "source orders.rpcurl "), ("attribute TIE", "attribute tier="),
    ("header x-api", "header x-api-key: "),
    ("expect status not_f", "expect status not_found"), ("expect header x-r", "expect header x-request-id "),
    ("expect header x-id cont", "expect header x-id contains "), ("expect .id conta", "expect .id contains "),
    ("expect detail Err", "expect detail ErrorInfo "),
    ("expect detail ErrorInfo .rea", "expect detail ErrorInfo .reason "),
    ("expect .id == co", "expect .id == co"),
    ("expect .id == ${or", "expect .id == ${order_id}"), ("expect .id == $or", "expect .id == $order_id"),
    // Variables.
    (#"call Place {"id": $or"#, #"call Place {"id": $order_id"#),
    (#"call Place {"id": "$or"#, #"call Place {"id": "$or"#),
    ("source ${la", "source ${last"),
    ("source ${ord", "source ${order_id}"),
    ("call Place {\"id\": ${base64(or", "call Place {\"id\": ${base64(order_id"),
    ("header x: ${u", "header x: ${uuid()}"), ("header x: ${env.HO", "header x: ${env.HOME}"),
    ("header x: ${en", "header x: ${env."),
    ("header x: ${random(1, or", "header x: ${random(1, order_id"),
    ("header x: ${uuid()} ${ba", "header x: ${uuid()} ${base64"),
    ("header x: ${base64d", "header x: ${base64decode("),
    ("source $l", "source $l"), ("source $none", "source $none"),
    ("set a = $last.itemC", "set a = $last.itemCount"),
    ("print ${last.header.x-r", "print ${last.header.x-request-id}"),
    ("print ${last.sta", "print ${last.status}"),
    ("print ${last.detail.ErrorInfo.rea", "print ${last.detail.ErrorInfo.reason}"),
    ("print ${request.item", "print ${request.item_count}"),
    (#"call Place {"id": "${last.parts[0].id"#, #"call Place {"id": "${last.parts[0].id}"#),
    ("print $none.a", "print $none.a"), ("header x: ${base64('or", "header x: ${base64('or"),
  ])
  func completes(head: String, expected: String) throws {
    #expect(try completed(head) == expected)
  }

  @Test func completesMessagesOfOpenStream() throws {
    #expect(try completed(#"{"st"#, open: true) == #"{"status": "#)
    #expect(try completed("  {it", open: true) == #"  {"itemCount": "#)
    #expect(try completed(#"{"st"#) == #"{"st"#)
  }

  @Test func continuesIncompleteStatement() throws {
    let session = try KnownSession()
    let begun = "call Place {\"id\": \"a\",\n"
    let completer = Completer(session) { _ in [] }
    #expect(completer.complete(begun + #"  "st"#).inserted == #""status": "#)
    #expect(completer.complete(begun).candidates.map(\.label) == ["itemCount", "status", "parts"])
    #expect(Hints(session).hint(begun + #"  "status": "#) == "status: enum Status (UNKNOWN, OPEN, DONE)")
  }

  @Test func reportsWhetherStatementNeedsMoreLines() throws {
    let session = try KnownSession()
    let assistant = SessionAssistant(session)
    for text in ["call Place {", "{", "set x = [1,\n2", "expect . == {", "call A {}\ncall B {"] {
      #expect(assistant.needsMore(after: text, isNew: true))
    }
    for text in ["", "# {", "call Place {}", "call Place {\n}", "call Place {\"a\n{", "{\"a", "describe '{"] {
      #expect(!assistant.needsMore(after: text, isNew: true))
    }
    // The lines of a paste follow one another.
    #expect(assistant.needsMore(after: "call Place {", isNew: true))
    #expect(assistant.needsMore(after: "\"id\": 1", isNew: false))
    #expect(!assistant.needsMore(after: "}", isNew: false))
  }

  @Test func reportsWhetherSchemaIsNeeded() throws {
    let completer = Completer(try KnownSession()) { _ in [] }
    for head in ["call ", "call P", "call Place {", "{", "describe x"] {
      #expect(completer.needsSchema(head))
    }
    for head in ["", "ca", "source ", "use re", "close "] { #expect(!completer.needsSchema(head)) }
  }

  @Test func showsDescriptions() throws {
    let methods = try complete("call ").candidates
    #expect(methods.map(\.label) == ["Place", "Watch", "shop.Orders/Find", "shop.Stock/Find"])
    #expect(methods.map(\.note) == ["", "server streaming", "", ""])
    let fields = try complete(#"call Place {"id": "a", "#).candidates
    #expect(fields.map(\.label) == ["itemCount", "status", "parts"])
    #expect(fields.map(\.note) == ["int32", "enum Status (UNKNOWN, OPEN, DONE)", "repeated Order"])
    #expect(try complete(#"call Place {"id": "a", "#).inserted == "")
  }

  @Test func putsServicesOfTheUserFirst() throws {
    let session = try KnownSession()
    session.services = ["grpc.v1.Store", "shop.Stock", "shop.Orders"]
    let completer = Completer(session) { _ in [] }
    #expect(completer.complete("call St").candidates.map(\.label) == ["Stock/", "Store/"])
  }

  @Test func listsStreams() throws {
    let streams = try complete("switch ").candidates
    #expect(streams.map(\.label) == ["2", "12"])
    #expect(streams.map(\.note) == ["shop.Orders/Watch open, 0 received", ""])
  }

  @Test func omitsKeysThatAreGiven() throws {
    let first = try complete("use retry,").candidates.map(\.text)
    let second = try complete("use retry,jitter=1,").candidates.map(\.text)
    #expect(first.contains("jitter="))
    #expect(!second.contains("jitter="))
  }

  // MARK: Hints

  @Test(arguments: [
    ("", ""), ("call", "call METHOD [JSON]"), ("cal", "call METHOD [JSON]"), ("c", ""), ("x", ""),
    ("call P", "call METHOD [JSON]"), ("call Place ", "Order"),
    (#"call Place {"status"#, "status: enum Status (UNKNOWN, OPEN, DONE)"),
    (#"call Place {"parts": ["#, "Order"), (#"call Place {"parts": [{"itemCount": 1"#, "itemCount: int32"),
    ("verbose on", "verbose [0|1|2|on|off]"), ("close ", "close [N]"), ("streams ", ""),
  ])
  func hints(head: String, expected: String) throws {
    #expect(Hints(try KnownSession()).hint(head) == expected)
  }

  @Test func describesKeysOfInterceptors() throws {
    #expect(Hints(try KnownSession()).hint("use retry,jitter=").hasPrefix("jitter="))
    #expect(Hints(try KnownSession()).hint("use sign,x=") == "use NAME[,KEY=VALUE…]")
  }
}
