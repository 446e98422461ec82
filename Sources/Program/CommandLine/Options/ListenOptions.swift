extension OptionTable {
  /// The options of `proxy` and `serve`: their address and their clients.
  static let listening: [Option] = [
    Option(
      .listen, "--listen", .text, "HOST:PORT|unix:PATH", .listening, .listening,
      "Where to listen; port 0 is any free port, which is printed.",
      "Other machines can connect only if the address is not one of this machine alone, which is stated at the start.",
      example: "rpcurl proxy --listen 127.0.0.1:8080 https://demo.example", standard: "127.0.0.1:0",
      isConfigurable: false, isCommon: true),
    Option(
      .listenCert, "--listen-cert", .text, "FILE|new:FILE", .listening, .listening,
      "Listen with TLS: the certificate chain (PEM); new:FILE makes one.",
      "new:FILE makes a certificate for the names of the address and of --listen-name, valid for a week, and writes that of its "
        + "authority to FILE, for clients to trust. Its keys are not written.",
      example: "rpcurl proxy --listen-cert new:ca.pem https://demo.example", isConfigurable: false,
      isCommon: true, completion: "file"),
    Option(
      .listenKey, "--listen-key", .text, "FILE", .listening, .listening,
      "Key of the certificate of --listen-cert, if it is in another file.",
      example: "rpcurl proxy --listen-cert cert.pem --listen-key key.pem https://demo.example",
      isConfigurable: false, completion: "file"),
    Option(
      .listenName, "--listen-name", .word, "NAME", .listening, .listening,
      "Another name by which clients reach this address; may repeat.",
      "A request for any other host is refused, so that a page of the web cannot reach this address by a name of its own.",
      example: "rpcurl proxy --listen 0.0.0.0:8080 --listen-name build.example https://demo.example",
      repeats: true, isConfigurable: false),
    Option(
      .allowOrigin, "--allow-origin", .word, "ORIGIN", .listening, .listening,
      "Let pages of this origin make calls in a browser; * lets all; may repeat.",
      "Without it, requests of pages from elsewhere are refused.",
      example: "rpcurl proxy --allow-origin http://localhost:5173 --protocol grpc http://localhost:50051",
      repeats: true, isConfigurable: false, isCommon: true),
    Option(
      .saveSuite, "--save-suite", .text, "FILE", .listening, .listening,
      "At the end, write the calls as a suite for rpcurl test.",
      "Each call is a step that expects the same response; a value of a response that a later request has is captured. Credentials "
        + "become variables of the environment.",
      example: "rpcurl proxy --save-suite app.rpcurl http://localhost:50051", isConfigurable: false,
      completion: "file"),
    Option(
      .interactive, "--interactive", .flag, "", .listening, .listening,
      "Hold calls at break points, with a prompt to look, change, fail or respond.",
      "Commands come from the terminal, or from standard input; \"help\" lists them.",
      example: "rpcurl proxy --interactive --break */Hello http://localhost:50051", isConfigurable: false,
      isCommon: true),
    Option(
      .breakPoint, "--break", .text, "BREAKPOINT", .listening, .listening,
      "Break point of --interactive: [request|response] METHOD [where CONDITION].",
      "METHOD is as in --use NAME,methods=…, or the name of a method alone; CONDITION is one on a message, as of expect.",
      example:
        "rpcurl proxy --interactive --break 'response Hello where status not_found' http://localhost:50051",
      repeats: true, isConfigurable: false),
    Option(
      .defaultResponses, "--default", .flag, "", .own, .serve,
      "Respond with plausible values if no interceptor responds.",
      "They are chosen by the names and types of fields; --seed repeats them. A stream has three messages.",
      example: "rpcurl serve --proto demo.proto --default --seed 7", isConfigurable: false, isCommon: true),
  ]
}
