import RPCurlBase
import RPCurlCommandSupport
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlEngine

struct SentMessageTests {
  private let schema = """
    syntax = "proto3";
    package s;
    import "google/protobuf/any.proto";
    message M {
      string name = 1;
      string password = 2;
      int32 pin = 3 [debug_redact = true];
      M child = 4;
      map<string, M> children = 5;
      map<string, string> labels = 6;
      google.protobuf.Any any = 7;
      repeated M list = 8;
      string api_key = 9;
    }
    """

  private func text(
    _ json: String, isWhole: Bool = false, names: SecretNames? = .standard, codec: CodecName = .proto
  ) throws -> String {
    let (sent, bytes) = try sent(json, names, codec)
    #expect(sent.hasSecrets(bytes) == sent.text(bytes, isWhole: true).contains(SecretMask.placeholder))
    return sent.text(bytes, isWhole: isWhole)
  }

  private func sent(
    _ json: String, _ names: SecretNames?, _ codec: CodecName
  ) throws -> (SentMessage, [UInt8]) {
    let folder = try #require(TemporaryDirectory())
    let file = folder.write("s.proto", schema.utf8)
    let arguments = Parser.parse(["describe", "-I", folder.path, "--proto", file])
    let pool = try SchemaSource.pool(arguments, StandardError(OutputStream(2)))
    let type = try #require(try pool.messageType(named: "s.M"))
    let message = try Message(type, json: Array(json.utf8))
    let sent = SentMessage(type: type, codec: codec, encoding: JSONEncodingOptions(), secretNames: names)
    return (sent, codec == .json ? Array(json.utf8) : message.serialized())
  }

  @Test(arguments: [
    (#"{"name":"a"}"#, #"{"name":"a"}"#),
    (#"{"name":"a","password":"b","pin":7}"#, #"{"name":"a","password":"[redacted]","pin":"[redacted]"}"#),
    (#"{"child":{"pin":1},"apiKey":"k"}"#, #"{"child":{"pin":"[redacted]"},"apiKey":"[redacted]"}"#),
    (#"{"children":{"x":{"pin":1}}}"#, #"{"children":{"x":{"pin":"[redacted]"}}}"#),
    (#"{"labels":{"a":"b","token":"t"}}"#, #"{"labels":{"a":"b","token":"[redacted]"}}"#),
    (#"{"list":[{"pin":1},{"name":"b"}]}"#, #"{"list":[{"pin":"[redacted]"},{"name":"b"}]}"#),
    (#"{"any":{"@type":"x/s.M","pin":1}}"#, #"{"any":{"@type":"x/s.M","pin":"[redacted]"}}"#),
  ])
  func hidesSecretFields(json: String, shown: String) throws {
    #expect(try text(json) == shown)
    #expect(try text(json, codec: .json) == shown)
    #expect(try text(json, names: nil) == json)
  }

  @Test func hidesFieldsOfOwnNames() throws {
    #expect(try text(#"{"name":"a"}"#, names: SecretNames(adding: ["name"])) == #"{"name":"[redacted]"}"#)
  }

  @Test func messageThatCannotBeReadMayHaveSecrets() throws {
    let (sent, _) = try sent("{}", .standard, .proto)
    #expect(sent.hasSecrets([0xFF]))
  }

  @Test func cutsLongMessages() throws {
    let json = "{\"name\":\"\(String(repeating: "a", count: 5000))\"}"
    let shown = try text(json)
    #expect(shown.hasPrefix(json.prefix(4096)) && shown.hasSuffix("… (5011 bytes of text)"))
    #expect(try text(json, isWhole: true) == json)
    let long = "{\"name\":\"\(String(repeating: "a", count: 1 << 20))\"}"
    #expect(try text(long) == "… (1048580 bytes)")
  }
}
