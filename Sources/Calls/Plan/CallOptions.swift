/// The options that a call is made by, whatever it sends: those of `call`, or of a session as they are now.
package protocol CallOptions {
  var schema: SchemaOptions { get }
  var reflection: ReflectionOptions { get }
  var server: ServerOptions { get }
  var request: RequestOptions { get }
  var output: OutputOptions { get }
}
