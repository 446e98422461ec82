extension OptionTable {
  static let schema: [Option] = [
    Option(
      .descriptorSet, "--descriptor-set --protoset", .text, "FILE", .schema, .schemas,
      "Read the schema from this descriptor set; may repeat.",
      "The first set that has a name is used. A set may be compressed with gzip or zstd, and in JSON or text format, as images of buf. "
        + "Of a program, a library, a wheel of Python or code that protoc has written for Python, the descriptors in it are read. To "
        + "make a set: rpcurl export --proto FILE -o SET.",
      example: "rpcurl --descriptor-set demo.binpb https://demo.example demo.v1.Demo/Hello",
      grpcurl: "protoset", same: .grpcurl, expressed: [.curl, .buf, .k6], repeats: true, trust: .projectPath,
      isCommon: true, completion: "file"),
    Option(
      .proto, "--proto", .text, "FILE", .schema, .schemas,
      "Compile this .proto file; may repeat.",
      "A directory stands for all .proto files in it and below it, and a pattern such as 'protos/**/*.proto' for those that match. "
        + "Hidden directories and node_modules are ignored. Descriptor sets take precedence. Files that many APIs import are built in: "
        + "google/protobuf, google/api, google/iam, google/logging, google/rpc, google/type, grpc, buf/validate, validate, gogoproto, "
        + "protoc-gen-openapiv2, openapiv3, udpa and xds. An import that is missing is a warning, shown with -v, if only options need it.",
      example: "rpcurl list -I protos --proto demo.proto",
      grpcurl: "proto", same: .grpcurl, expressed: [.curl, .buf, .k6], repeats: true, trust: .projectPath,
      isCommon: true, completion: "file"),
    Option(
      .importPath, "-I --import-path", .text, "DIR", .schema, .compiling,
      "Search this directory for .proto files and their imports; may repeat (default: derived from the files).",
      "With VIRTUAL=DIR, the names of the files in the directory begin with VIRTUAL: github.com/acme/shop=. for a Go module. Without -I, "
        + "the first directories are the modules of a buf.yaml or buf.work.yaml beside or above the file, and the modules of other "
        + "repositories that buf has in its cache. What these lack is searched in the directories that contain the folders of a "
        + "package, in those above a file, in vendor, third_party, proto and protos there, in the Go module of a file, and in the working "
        + "directory. If imports are in modules that buf.yaml depends on and that are nowhere, buf build compiles the files, if buf "
        + "is installed, and if no line of a project file that is not trusted names one of them.",
      example: "rpcurl describe -I protos --proto demo.proto HelloRequest",
      grpcurl: "import-path", same: .grpcurl, expressed: [.curl, .buf, .k6], repeats: true,
      trust: .projectPath,
      isCommon: true, completion: "dir"),
  ]

  static let reflection: [Option] = [
    Option(
      .reflect, "--reflect --no-reflect", .flag, "", .reflection, .reflecting,
      "Use reflection for names missing from other sources (default: if there are no other sources).",
      "The schema that a server sends is cached for five minutes below $XDG_CACHE_HOME/rpcurl. --no-reflect never "
        + "asks the server. Calls with other headers of -H use the same cached schema; headers of --reflect-header have "
        + "one of their own.",
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
      "Do not read or write the caches of schemas.",
      example: "rpcurl --no-cache https://demo.example demo.v1.Demo/Hello", expressed: .all, trust: .harmless),
  ]
}
