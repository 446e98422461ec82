import RPCurlBase
import Testing

@testable import RPCurlProgram

struct ProtoColorTests {
  private let colors = TextColors(areOn: true)

  /// Names in `<>` and comments in `{{}}`.
  private func marked(_ text: String) -> String {
    ProtoColor.colored(text, colors).replacing("\u{1b}[1m", with: "<").replacing("\u{1b}[2m", with: "{{")
      .replacing("\u{1b}[0m", with: "|")
  }

  @Test(arguments: [
    ("syntax = \"proto3\"; // = a\n", "syntax = \"proto3\"; {{// = a|\n"),
    ("message A.B {\n  // a message\n", "message <A.B| {\n  {{// a message|\n"),
    (
      "  string message = 1 [deprecated = true, (x) = \"a=b\"];\n",
      "  string <message| = 1 [deprecated = true, (x) = \"a=b\"];\n"
    ),
    ("  map<string, int64> m = 2;\n", "  map<string, int64> <m| = 2;\n"),
    (
      "enum E { option (o).a = 1; A = 0; B = -1; reserved 3 to 5; }",
      "enum <E| { option (o).a = 1; <A| = 0; <B| = -1; reserved 3 to 5; }"
    ),
    (
      "rpc Get(stream A) returns (B);\nrpc Set(A) returns (B) {\n",
      "rpc <Get|(stream A) returns (B);\nrpc <Set|(A) returns (B) {\n"
    ),
    ("option (http) = { get: \"/v1/{a=b/*}//c\" };", "option (http) = { get: \"/v1/{a=b/*}//c\" };"),
    ("oneof o { A a = 1; }", "oneof <o| { A <a| = 1; }"),
    ("string s = 1 [default = \"\\\"//\"];", "string <s| = 1 [default = \"\\\"//\"];"),
    ("\"", "\""), ("a = \"\\", "<a| = \"\\"), ("/", "/"),
  ])
  func namesAndComments(text: String, colored: String) {
    #expect(marked(text) == colored)
    #expect(ProtoColor.colored(text, TextColors(areOn: false)) == text)
  }
}
