/// The options, in the order of their definitions in `OptionTable`.
package enum OptionID: UInt8, CaseIterable, Sendable {
  // Schema
  case descriptorSet, proto, importPath
  // Reflection
  case reflect, reflectVersion, reflectHeader, noCache
  // Server
  case plaintext, insecure, cacert, capath, cert, certType, key, pass, servername, authority, tls12, tls13
  case http1, http2, http2PriorKnowledge, http3, ipv4, ipv6, unixSocket, abstractUnixSocket
  case proxy, proxyUser, resolve, connectTo, connectTimeout, wait, keepaliveTime, keepaliveTimeout
  // Request
  case protocolName, header, expand, variable, user, bearer, netrc, netrcFile, userAgent
  case codec, connectGet, compression, acceptCompression, rpcHeader, maxTime, maxMessageSize
  // Data
  case data, dataFormat, set, setFile, chunk, seed, allowUnknownFields
  // Batch
  case each, rows, jobs, unordered, failEarly, repeats, every
  // Interceptors
  case use, plugin, script, noUse, attribute
  // Output
  case format, textFormat, emitDefaults, enumNumbers, int64Numbers, bytesForm, protoNames, unknownFields
  case filter, filterMissing, raw, limit
  case output, verbose, color, timing
  case showSecrets, redact, explain
  // One command's own
  case kind, comments, response, protoDir, type, from, to, noSchema, delimited, pretty, noUnknownFields
  case allowPartial
  case method, callTime, lang, dir, watch, listTrusted, revoke
  case diffFormat, against, rules, ignored, ignoreUnstable, rulesFrom, onlyNames
  // The load of rpcurl load and its reports
  case rate, ramp, warmUp, stages, duration, requests, connections, threshold, compareLoad, tag
  case loadFormat, html, histogramLog, rawLatencies, exportScript
  // Tests
  case only, skip, shuffle, testTimeout, stepTimeout, totalTimeout, report, coverage, coverageOf,
    coverageMin, compare, update, record, replay, mock, listTests, checkFiles,
    formatFiles, rerun
  // The address of rpcurl proxy and rpcurl serve
  case listen, listenCert, listenKey, listenName, allowOrigin, saveSuite, interactive, breakPoint,
    defaultResponses
  // Errors
  case silent, showError, errorFormat
  // Configuration
  case config, profile
  // General
  case help, version
}
