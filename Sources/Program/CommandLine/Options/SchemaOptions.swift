extension OptionTable {
  static let schema: [Option] = [
    Option(
      .descriptorSet, "--descriptor-set --protoset", .text, "FILE", .schema, .schemas,
      "Read the schema from this descriptor set; may repeat.",
      "The first set that has a name is used. To make one: protoc --include_imports --descriptor_set_out=FILE, or buf build -o FILE.",
      example: "rpcurl --descriptor-set demo.binpb https://demo.example demo.v1.Demo/Hello",
      grpcurl: "protoset", same: .grpcurl, expressed: [.curl, .buf, .k6], repeats: true, trust: .projectPath,
      isCommon: true, completion: "file"),
    Option(
      .proto, "--proto", .text, "FILE", .schema, .schemas,
      "Compile this .proto file with protoc; may repeat.",
      "Descriptor sets take precedence. protoc is in the package protobuf-compiler. Files of google/protobuf, google/api, "
        + "google/rpc, google/type and buf/validate, which many APIs import, are built in.",
      example: "rpcurl list -I protos --proto demo.proto",
      grpcurl: "proto", same: .grpcurl, expressed: [.curl, .buf, .k6], repeats: true, trust: .projectPath,
      isCommon: true, completion: "file"),
    Option(
      .importPath, "-I --import-path", .text, "DIR", .schema, .compiling,
      "Search this directory for .proto files and their imports; may repeat (default: derived from the files).",
      "Without it, the directories are the modules of a buf.yaml or buf.work.yaml beside or above the file, those that "
        + "contain the folders of a package, those above a file from which its imports are found, and the working "
        + "directory. If imports are in modules that buf.yaml depends on, buf build compiles the files, if buf is installed, "
        + "and if no line of a project file that is not trusted names one of them.",
      example: "rpcurl describe -I protos --proto demo.proto HelloRequest",
      grpcurl: "import-path", same: .grpcurl, expressed: [.curl, .k6], repeats: true, trust: .projectPath,
      isCommon: true, completion: "dir"),
  ]

  static let reflection: [Option] = [
    Option(
      .reflect, "--reflect --no-reflect", .flag, "", .reflection, .reflecting,
      "Use reflection for names missing from other sources (default: if there are no other sources).",
      "The schema that a server sends is cached for five minutes below $XDG_CACHE_HOME/rpcurl. --no-reflect never "
        + "asks the server.",
      example: "rpcurl list --reflect --descriptor-set demo.binpb https://demo.example",
      aliases: "--use-reflection", grpcurl: "use-reflection", expressed: .all, trust: .harmless),
    Option(
      .reflectVersion, "--reflect-version",
      .choice("v1 v1alpha", spellings: "grpc-v1=v1 grpc-v1alpha=v1alpha"),
      "VERSION", .reflection, .fetching,
      "Version of the reflection service (default: v1, or v1alpha if the server lacks v1).",
      example: "rpcurl list --reflect-version v1alpha https://demo.example", aliases: "--reflect-protocol",
      expressed: [.curl, .buf, .k6], trust: .harmless),
    Option(
      .reflectHeader, "--reflect-header", .text, "NAME: VALUE|@FILE", .reflection, .fetching,
      "Send this header with requests for the schema only; may repeat.",
      example: "rpcurl list --reflect-header 'x-for: schema' https://demo.example",
      grpcurl: "reflect-header", same: .grpcurl, expressed: [.curl, .buf], repeats: true, trust: .header,
      secrecy: .header, completion: "at:header"),
    Option(
      .noCache, "--no-cache", .flag, "", .reflection, .fetching,
      "Do not read or write the schema cache.",
      example: "rpcurl --no-cache https://demo.example demo.v1.Demo/Hello", expressed: .all, trust: .harmless),
  ]
}
