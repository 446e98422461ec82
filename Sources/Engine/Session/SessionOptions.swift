import RPCurlProgram

/// The current options of a session.
package struct SessionOptions: CallOptions {
  package let schema: SchemaOptions
  package let reflection: ReflectionOptions
  package let server: ServerOptions
  package var request: RequestOptions
  package let output: OutputOptions

  package init(_ invocation: Invocation) {
    schema = SchemaOptions(invocation)
    reflection = ReflectionOptions(invocation)
    server = ServerOptions(invocation)
    request = RequestOptions(invocation)
    output = OutputOptions(invocation)
  }
}
