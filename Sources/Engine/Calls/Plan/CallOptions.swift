/// The options of a call: those of `call`, or the current ones of a session.
package protocol CallOptions {
  var schema: SchemaOptions { get }
  var reflection: ReflectionOptions { get }
  var server: ServerOptions { get }
  var request: RequestOptions { get }
  var output: OutputOptions { get }
}
