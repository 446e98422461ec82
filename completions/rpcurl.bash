# Completion of rpcurl for bash, with or without the package bash-completion; `rpcurl completion bash` prints it.

# The options of a command, NAMES|+ if it may repeat|KIND VALUES on each line, and the kinds of its other arguments.
_rpcurl_arguments() {
  options= positionals=
  case $1 in
    call) options='--descriptor-set --protoset|+||file
--proto|+||file
-I --import-path|+||dir
--reflect --no-reflect||--use-reflection|flag
--reflect-version||--reflect-protocol|list v1 v1alpha
--reflect-header|+||at:header
--no-cache|||flag
--plaintext|||flag
-k --insecure|||flag
--cacert|||file
--capath|||dir
-E --cert|||file
--cert-type|||list PEM P12 DER
--key||--certkey|file
--pass|||at:value
--servername|||none
--authority|||none
--tlsv1.2|||flag
--tlsv1.3|||flag
--http1.1|||flag
--http2|||flag
--http2-prior-knowledge|||flag
--http3|||flag
-4 --ipv4|||flag
-6 --ipv6|||flag
--unix-socket|||file
--abstract-unix-socket|||none
-x --proxy|||none
-U --proxy-user|||at:value
--resolve|+||none
--connect-to|+||none
--connect-timeout|||none
--wait|||none
--keepalive-time|||none
--keepalive-timeout|||none
--protocol|||list grpc grpc-web connect
-H --header|+||at:header
--expand|||flag typed files all
--var|+||at:variable
-u --user|||at:value
--bearer --oauth2-bearer|||at:value
-n --netrc|||flag
--netrc-file|||file
-A --user-agent|||none
--codec|||list proto json
--connect-get|||flag
--compression|||list identity gzip deflate br zstd snappy
--accept-compression|||comma identity gzip deflate br zstd snappy
--rpc-header|+||at:header
-m --max-time||--timeout|none
--max-message-size||--max-msg-sz|none
-d --data|+|--data-raw --data-binary --json|at:data
--data-format|||list json text binary
--set|+||ask:set
--set-file|+||ask:set
--chunk|||none
--seed|||none
--allow-unknown-fields|||flag
--each|||flag
--rows|||file
--jobs|||none
--unordered|||flag
--fail-early|||flag
--repeat|||none
--every|||none
--use|+||ask:use
--plugin|+||ask:plugin
--script|+||ask:script
--no-use|+||ask:use
--attribute|+||none
--format|||list pretty json text binary tsv csv events none sh curl grpcurl buf
--emit-defaults|||flag
--enum-numbers|||flag
--int64-numbers|||flag
--bytes|||list base64 hex text escape
--proto-names||--keep-proto-names|flag
--unknown-fields|||list show drop
--filter|+||ask:filter
--filter-missing|||list fail null skip
--raw|||flag
--limit|||none
-o --output|||file
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--timing|||flag
--show-secrets|||flag
--redact|+||none
--explain|||flag
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='ask:target ask:method' ;;
    session) options='--descriptor-set --protoset|+||file
--proto|+||file
-I --import-path|+||dir
--reflect --no-reflect||--use-reflection|flag
--reflect-version||--reflect-protocol|list v1 v1alpha
--reflect-header|+||at:header
--no-cache|||flag
--plaintext|||flag
-k --insecure|||flag
--cacert|||file
--capath|||dir
-E --cert|||file
--cert-type|||list PEM P12 DER
--key||--certkey|file
--pass|||at:value
--servername|||none
--authority|||none
--tlsv1.2|||flag
--tlsv1.3|||flag
--http1.1|||flag
--http2|||flag
--http2-prior-knowledge|||flag
--http3|||flag
-4 --ipv4|||flag
-6 --ipv6|||flag
--unix-socket|||file
--abstract-unix-socket|||none
-x --proxy|||none
-U --proxy-user|||at:value
--resolve|+||none
--connect-to|+||none
--connect-timeout|||none
--wait|||none
--keepalive-time|||none
--keepalive-timeout|||none
--protocol|||list grpc grpc-web connect
-H --header|+||at:header
--expand|||flag typed files all
--var|+||at:variable
-u --user|||at:value
--bearer --oauth2-bearer|||at:value
-n --netrc|||flag
--netrc-file|||file
-A --user-agent|||none
--codec|||list proto json
--connect-get|||flag
--compression|||list identity gzip deflate br zstd snappy
--accept-compression|||comma identity gzip deflate br zstd snappy
--rpc-header|+||at:header
-m --max-time||--timeout|none
--max-message-size||--max-msg-sz|none
--seed|||none
--allow-unknown-fields|||flag
--use|+||ask:use
--plugin|+||ask:plugin
--script|+||ask:script
--no-use|+||ask:use
--attribute|+||none
--format|||list pretty json text binary tsv csv events none sh curl grpcurl buf
--emit-defaults|||flag
--enum-numbers|||flag
--int64-numbers|||flag
--bytes|||list base64 hex text escape
--proto-names||--keep-proto-names|flag
--unknown-fields|||list show drop
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--timing|||flag
--show-secrets|||flag
--redact|+||none
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='ask:target' ;;
    run) options='--descriptor-set --protoset|+||file
--proto|+||file
-I --import-path|+||dir
--reflect --no-reflect||--use-reflection|flag
--reflect-version||--reflect-protocol|list v1 v1alpha
--reflect-header|+||at:header
--no-cache|||flag
--plaintext|||flag
-k --insecure|||flag
--cacert|||file
--capath|||dir
-E --cert|||file
--cert-type|||list PEM P12 DER
--key||--certkey|file
--pass|||at:value
--servername|||none
--authority|||none
--tlsv1.2|||flag
--tlsv1.3|||flag
--http1.1|||flag
--http2|||flag
--http2-prior-knowledge|||flag
--http3|||flag
-4 --ipv4|||flag
-6 --ipv6|||flag
--unix-socket|||file
--abstract-unix-socket|||none
-x --proxy|||none
-U --proxy-user|||at:value
--resolve|+||none
--connect-to|+||none
--connect-timeout|||none
--wait|||none
--keepalive-time|||none
--keepalive-timeout|||none
--protocol|||list grpc grpc-web connect
-H --header|+||at:header
--expand|||flag typed files all
--var|+||at:variable
-u --user|||at:value
--bearer --oauth2-bearer|||at:value
-n --netrc|||flag
--netrc-file|||file
-A --user-agent|||none
--codec|||list proto json
--connect-get|||flag
--compression|||list identity gzip deflate br zstd snappy
--accept-compression|||comma identity gzip deflate br zstd snappy
--rpc-header|+||at:header
-m --max-time||--timeout|none
--max-message-size||--max-msg-sz|none
--seed|||none
--allow-unknown-fields|||flag
--repeat|||none
--every|||none
--use|+||ask:use
--plugin|+||ask:plugin
--script|+||ask:script
--no-use|+||ask:use
--attribute|+||none
--format|||list pretty json text binary tsv csv events none sh curl grpcurl buf
--emit-defaults|||flag
--enum-numbers|||flag
--int64-numbers|||flag
--bytes|||list base64 hex text escape
--proto-names||--keep-proto-names|flag
--unknown-fields|||list show drop
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--timing|||flag
--show-secrets|||flag
--redact|+||none
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='file+' ;;
    test) options='--descriptor-set --protoset|+||file
--proto|+||file
-I --import-path|+||dir
--reflect --no-reflect||--use-reflection|flag
--reflect-version||--reflect-protocol|list v1 v1alpha
--reflect-header|+||at:header
--no-cache|||flag
--plaintext|||flag
-k --insecure|||flag
--cacert|||file
--capath|||dir
-E --cert|||file
--cert-type|||list PEM P12 DER
--key||--certkey|file
--pass|||at:value
--servername|||none
--authority|||none
--tlsv1.2|||flag
--tlsv1.3|||flag
--http1.1|||flag
--http2|||flag
--http2-prior-knowledge|||flag
--http3|||flag
-4 --ipv4|||flag
-6 --ipv6|||flag
--unix-socket|||file
--abstract-unix-socket|||none
-x --proxy|||none
-U --proxy-user|||at:value
--resolve|+||none
--connect-to|+||none
--connect-timeout|||none
--wait|||none
--keepalive-time|||none
--keepalive-timeout|||none
--protocol|||list grpc grpc-web connect
-H --header|+||at:header
--expand|||flag typed files all
--var|+||at:variable
-u --user|||at:value
--bearer --oauth2-bearer|||at:value
-n --netrc|||flag
--netrc-file|||file
-A --user-agent|||none
--codec|||list proto json
--connect-get|||flag
--compression|||list identity gzip deflate br zstd snappy
--accept-compression|||comma identity gzip deflate br zstd snappy
--rpc-header|+||at:header
-m --max-time||--timeout|none
--max-message-size||--max-msg-sz|none
--seed|||none
--allow-unknown-fields|||flag
--jobs|||none
--fail-early|||flag
--repeat|||none
--every|||none
--use|+||ask:use
--plugin|+||ask:plugin
--script|+||ask:script
--no-use|+||ask:use
--attribute|+||none
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--redact|+||none
--rules|||list FILE PACKAGE WIRE_JSON WIRE
--ignore|+||ask:rule
--ignore-unstable|||flag
--rules-from|||file
--only|+||none
--skip|+||none
--shuffle|||flag
--test-timeout|||none
--step-timeout|||none
--total-timeout|||none
--report|+||ask:report
--coverage|+||ask:coverage
--coverage-of|+||none
--coverage-min|||none
--compare|||file
--update|||flag
--record|||dir
--replay|||dir
--mock|||file
--list|||flag
--check|||flag
--format-files|||flag
--rerun|||flag
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='file+' ;;
    load) options='--descriptor-set --protoset|+||file
--proto|+||file
-I --import-path|+||dir
--reflect --no-reflect||--use-reflection|flag
--reflect-version||--reflect-protocol|list v1 v1alpha
--reflect-header|+||at:header
--no-cache|||flag
--plaintext|||flag
-k --insecure|||flag
--cacert|||file
--capath|||dir
-E --cert|||file
--cert-type|||list PEM P12 DER
--key||--certkey|file
--pass|||at:value
--servername|||none
--authority|||none
--tlsv1.2|||flag
--tlsv1.3|||flag
--http1.1|||flag
--http2|||flag
--http2-prior-knowledge|||flag
--http3|||flag
-4 --ipv4|||flag
-6 --ipv6|||flag
--unix-socket|||file
--abstract-unix-socket|||none
-x --proxy|||none
-U --proxy-user|||at:value
--resolve|+||none
--connect-to|+||none
--connect-timeout|||none
--wait|||none
--keepalive-time|||none
--keepalive-timeout|||none
--protocol|||list grpc grpc-web connect
-H --header|+||at:header
--expand|||flag typed files all
--var|+||at:variable
-u --user|||at:value
--bearer --oauth2-bearer|||at:value
-n --netrc|||flag
--netrc-file|||file
-A --user-agent|||none
--codec|||list proto json
--connect-get|||flag
--compression|||list identity gzip deflate br zstd snappy
--accept-compression|||comma identity gzip deflate br zstd snappy
--rpc-header|+||at:header
-m --max-time||--timeout|none
--max-message-size||--max-msg-sz|none
-d --data|+|--data-raw --data-binary --json|at:data
--data-format|||list json text binary
--set|+||ask:set
--set-file|+||ask:set
--seed|||none
--allow-unknown-fields|||flag
--rows|||file
--jobs|||none
--use|+||ask:use
--plugin|+||ask:plugin
--script|+||ask:script
--no-use|+||ask:use
--attribute|+||none
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--show-secrets|||flag
--redact|+||none
--rate|||none
--ramp|||none
--warm-up|||none
--stages|||none
--duration|||none
--requests|||none
--connections|||none
--threshold|+||ask:threshold
--compare|||file
--tag|+||none
--format|||list text json csv
--html|||file
--hdr|||file
--raw|||file
--export|||list k6
--only|+||none
--skip|+||none
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='ask:target ask:method' ;;
    list) options='--descriptor-set --protoset|+||file
--proto|+||file
-I --import-path|+||dir
--reflect --no-reflect||--use-reflection|flag
--reflect-version||--reflect-protocol|list v1 v1alpha
--reflect-header|+||at:header
--no-cache|||flag
--plaintext|||flag
-k --insecure|||flag
--cacert|||file
--capath|||dir
-E --cert|||file
--cert-type|||list PEM P12 DER
--key||--certkey|file
--pass|||at:value
--servername|||none
--authority|||none
--tlsv1.2|||flag
--tlsv1.3|||flag
--http1.1|||flag
--http2|||flag
--http2-prior-knowledge|||flag
--http3|||flag
-4 --ipv4|||flag
-6 --ipv6|||flag
--unix-socket|||file
--abstract-unix-socket|||none
-x --proxy|||none
-U --proxy-user|||at:value
--resolve|+||none
--connect-to|+||none
--connect-timeout|||none
--keepalive-time|||none
--keepalive-timeout|||none
--protocol|||list grpc grpc-web connect
-H --header|+||at:header
--expand|||flag typed files all
-u --user|||at:value
--bearer --oauth2-bearer|||at:value
-n --netrc|||flag
--netrc-file|||file
-A --user-agent|||none
-m --max-time||--timeout|none
--format|||list text json
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--redact|+||none
--kind|+||list service method message field oneof enum value extension
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='ask:list+' ;;
    describe) options='--descriptor-set --protoset|+||file
--proto|+||file
-I --import-path|+||dir
--reflect --no-reflect||--use-reflection|flag
--reflect-version||--reflect-protocol|list v1 v1alpha
--reflect-header|+||at:header
--no-cache|||flag
--plaintext|||flag
-k --insecure|||flag
--cacert|||file
--capath|||dir
-E --cert|||file
--cert-type|||list PEM P12 DER
--key||--certkey|file
--pass|||at:value
--servername|||none
--authority|||none
--tlsv1.2|||flag
--tlsv1.3|||flag
--http1.1|||flag
--http2|||flag
--http2-prior-knowledge|||flag
--http3|||flag
-4 --ipv4|||flag
-6 --ipv6|||flag
--unix-socket|||file
--abstract-unix-socket|||none
-x --proxy|||none
-U --proxy-user|||at:value
--resolve|+||none
--connect-to|+||none
--connect-timeout|||none
--keepalive-time|||none
--keepalive-timeout|||none
--protocol|||list grpc grpc-web connect
-H --header|+||at:header
--expand|||flag typed files all
-u --user|||at:value
--bearer --oauth2-bearer|||at:value
-n --netrc|||flag
--netrc-file|||file
-A --user-agent|||none
-m --max-time||--timeout|none
--format|||list text json
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--redact|+||none
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='ask:describe+' ;;
    template) options='--descriptor-set --protoset|+||file
--proto|+||file
-I --import-path|+||dir
--reflect --no-reflect||--use-reflection|flag
--reflect-version||--reflect-protocol|list v1 v1alpha
--reflect-header|+||at:header
--no-cache|||flag
--plaintext|||flag
-k --insecure|||flag
--cacert|||file
--capath|||dir
-E --cert|||file
--cert-type|||list PEM P12 DER
--key||--certkey|file
--pass|||at:value
--servername|||none
--authority|||none
--tlsv1.2|||flag
--tlsv1.3|||flag
--http1.1|||flag
--http2|||flag
--http2-prior-knowledge|||flag
--http3|||flag
-4 --ipv4|||flag
-6 --ipv6|||flag
--unix-socket|||file
--abstract-unix-socket|||none
-x --proxy|||none
-U --proxy-user|||at:value
--resolve|+||none
--connect-to|+||none
--connect-timeout|||none
--keepalive-time|||none
--keepalive-timeout|||none
--protocol|||list grpc grpc-web connect
-H --header|+||at:header
--expand|||flag typed files all
-u --user|||at:value
--bearer --oauth2-bearer|||at:value
-n --netrc|||flag
--netrc-file|||file
-A --user-agent|||none
-m --max-time||--timeout|none
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--redact|+||none
--comments|||flag
--response|||flag
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='ask:template+' ;;
    export) options='--descriptor-set --protoset|+||file
--proto|+||file
-I --import-path|+||dir
--reflect --no-reflect||--use-reflection|flag
--reflect-version||--reflect-protocol|list v1 v1alpha
--reflect-header|+||at:header
--no-cache|||flag
--plaintext|||flag
-k --insecure|||flag
--cacert|||file
--capath|||dir
-E --cert|||file
--cert-type|||list PEM P12 DER
--key||--certkey|file
--pass|||at:value
--servername|||none
--authority|||none
--tlsv1.2|||flag
--tlsv1.3|||flag
--http1.1|||flag
--http2|||flag
--http2-prior-knowledge|||flag
--http3|||flag
-4 --ipv4|||flag
-6 --ipv6|||flag
--unix-socket|||file
--abstract-unix-socket|||none
-x --proxy|||none
-U --proxy-user|||at:value
--resolve|+||none
--connect-to|+||none
--connect-timeout|||none
--keepalive-time|||none
--keepalive-timeout|||none
--protocol|||list grpc grpc-web connect
-H --header|+||at:header
--expand|||flag typed files all
-u --user|||at:value
--bearer --oauth2-bearer|||at:value
-n --netrc|||flag
--netrc-file|||file
-A --user-agent|||none
-m --max-time||--timeout|none
-o --output|||file
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--redact|+||none
--proto-dir|||dir
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='ask:export+' ;;
    diff) options='-I --import-path|+||dir
--reflect-version||--reflect-protocol|list v1 v1alpha
--reflect-header|+||at:header
--no-cache|||flag
--plaintext|||flag
-k --insecure|||flag
--cacert|||file
--capath|||dir
-E --cert|||file
--cert-type|||list PEM P12 DER
--key||--certkey|file
--pass|||at:value
--servername|||none
--authority|||none
--tlsv1.2|||flag
--tlsv1.3|||flag
--http1.1|||flag
--http2|||flag
--http2-prior-knowledge|||flag
--http3|||flag
-4 --ipv4|||flag
-6 --ipv6|||flag
--unix-socket|||file
--abstract-unix-socket|||none
-x --proxy|||none
-U --proxy-user|||at:value
--resolve|+||none
--connect-to|+||none
--connect-timeout|||none
--keepalive-time|||none
--keepalive-timeout|||none
--protocol|||list grpc grpc-web connect
-H --header|+||at:header
--expand|||flag typed files all
-u --user|||at:value
--bearer --oauth2-bearer|||at:value
-n --netrc|||flag
--netrc-file|||file
-A --user-agent|||none
-m --max-time||--timeout|none
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--redact|+||none
--format|||list text json github markdown
--against|||file
--rules|||list FILE PACKAGE WIRE_JSON WIRE
--ignore|+||ask:rule
--ignore-unstable|||flag
--rules-from|||file
--only|+||none
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='file file' ;;
    convert) options='--descriptor-set --protoset|+||file
--proto|+||file
-I --import-path|+||dir
--reflect --no-reflect||--use-reflection|flag
--reflect-version||--reflect-protocol|list v1 v1alpha
--reflect-header|+||at:header
--no-cache|||flag
--plaintext|||flag
-k --insecure|||flag
--cacert|||file
--capath|||dir
-E --cert|||file
--cert-type|||list PEM P12 DER
--key||--certkey|file
--pass|||at:value
--servername|||none
--authority|||none
--tlsv1.2|||flag
--tlsv1.3|||flag
--http1.1|||flag
--http2|||flag
--http2-prior-knowledge|||flag
--http3|||flag
-4 --ipv4|||flag
-6 --ipv6|||flag
--unix-socket|||file
--abstract-unix-socket|||none
-x --proxy|||none
-U --proxy-user|||at:value
--resolve|+||none
--connect-to|+||none
--connect-timeout|||none
--keepalive-time|||none
--keepalive-timeout|||none
--protocol|||list grpc grpc-web connect
-H --header|+||at:header
--expand|||flag typed files all
-u --user|||at:value
--bearer --oauth2-bearer|||at:value
-n --netrc|||flag
--netrc-file|||file
-A --user-agent|||none
-m --max-time||--timeout|none
--allow-unknown-fields|||flag
--emit-defaults|||flag
--enum-numbers|||flag
--int64-numbers|||flag
--bytes|||list base64 hex text escape
--proto-names||--keep-proto-names|flag
--unknown-fields|||list show drop
--filter|+||ask:filter
--filter-missing|||list fail null skip
--raw|||flag
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--redact|+||none
--type|||ask:type
--from|||list json text binary
--to|||list json text binary tsv csv
--no-schema|||flag
--delimited|||flag
--pretty|||flag
--no-unknown-fields|||flag
--allow-partial|||flag
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='file+' ;;
    health) options='--plaintext|||flag
-k --insecure|||flag
--cacert|||file
--capath|||dir
-E --cert|||file
--cert-type|||list PEM P12 DER
--key||--certkey|file
--pass|||at:value
--servername|||none
--authority|||none
--tlsv1.2|||flag
--tlsv1.3|||flag
--http1.1|||flag
--http2|||flag
--http2-prior-knowledge|||flag
--http3|||flag
-4 --ipv4|||flag
-6 --ipv6|||flag
--unix-socket|||file
--abstract-unix-socket|||none
-x --proxy|||none
-U --proxy-user|||at:value
--resolve|+||none
--connect-to|+||none
--connect-timeout|||none
--wait|||none
--keepalive-time|||none
--keepalive-timeout|||none
--protocol|||list grpc grpc-web connect
-H --header|+||at:header
--expand|||flag typed files all
-u --user|||at:value
--bearer --oauth2-bearer|||at:value
-n --netrc|||flag
--netrc-file|||file
-A --user-agent|||none
-m --max-time||--timeout|none
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--redact|+||none
--watch|||flag
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='ask:target none' ;;
    check) options='--descriptor-set --protoset|+||file
--proto|+||file
-I --import-path|+||dir
--plaintext|||flag
-k --insecure|||flag
--cacert|||file
--capath|||dir
-E --cert|||file
--cert-type|||list PEM P12 DER
--key||--certkey|file
--pass|||at:value
--servername|||none
--authority|||none
--tlsv1.2|||flag
--tlsv1.3|||flag
--http1.1|||flag
--http2|||flag
--http2-prior-knowledge|||flag
--http3|||flag
-4 --ipv4|||flag
-6 --ipv6|||flag
--unix-socket|||file
--abstract-unix-socket|||none
-x --proxy|||none
-U --proxy-user|||at:value
--resolve|+||none
--connect-to|+||none
--connect-timeout|||none
--keepalive-time|||none
--keepalive-timeout|||none
--protocol|||list grpc grpc-web connect
-H --header|+||at:header
--expand|||flag typed files all
-u --user|||at:value
--bearer --oauth2-bearer|||at:value
-n --netrc|||flag
--netrc-file|||file
-A --user-agent|||none
-m --max-time||--timeout|none
--format|||list text json
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--redact|+||none
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='ask:target' ;;
    proxy) options='--descriptor-set --protoset|+||file
--proto|+||file
-I --import-path|+||dir
--reflect --no-reflect||--use-reflection|flag
--reflect-version||--reflect-protocol|list v1 v1alpha
--reflect-header|+||at:header
--no-cache|||flag
--plaintext|||flag
-k --insecure|||flag
--cacert|||file
--capath|||dir
-E --cert|||file
--cert-type|||list PEM P12 DER
--key||--certkey|file
--pass|||at:value
--servername|||none
--authority|||none
--tlsv1.2|||flag
--tlsv1.3|||flag
--http1.1|||flag
--http2|||flag
--http2-prior-knowledge|||flag
--http3|||flag
-4 --ipv4|||flag
-6 --ipv6|||flag
--unix-socket|||file
--abstract-unix-socket|||none
-x --proxy|||none
-U --proxy-user|||at:value
--resolve|+||none
--connect-to|+||none
--connect-timeout|||none
--keepalive-time|||none
--keepalive-timeout|||none
--protocol|||list grpc grpc-web connect
-H --header|+||at:header
--expand|||flag typed files all
--var|+||at:variable
-u --user|||at:value
--bearer --oauth2-bearer|||at:value
-n --netrc|||flag
--netrc-file|||file
-A --user-agent|||none
--codec|||list proto json
--compression|||list identity gzip deflate br zstd snappy
--accept-compression|||comma identity gzip deflate br zstd snappy
--rpc-header|+||at:header
-m --max-time||--timeout|none
--max-message-size||--max-msg-sz|none
--seed|||none
--use|+||ask:use
--plugin|+||ask:plugin
--script|+||ask:script
--no-use|+||ask:use
--attribute|+||none
--format|||list pretty json text binary tsv csv events none sh curl grpcurl buf
--emit-defaults|||flag
--enum-numbers|||flag
--int64-numbers|||flag
--bytes|||list base64 hex text escape
--proto-names||--keep-proto-names|flag
--unknown-fields|||list show drop
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--show-secrets|||flag
--redact|+||none
--listen|||none
--listen-cert|||file
--listen-key|||file
--listen-name|+||none
--allow-origin|+||none
--save-suite|||file
--interactive|||flag
--break|+||none
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='ask:target' ;;
    serve) options='--descriptor-set --protoset|+||file
--proto|+||file
-I --import-path|+||dir
--var|+||at:variable
--codec|||list proto json
--compression|||list identity gzip deflate br zstd snappy
--accept-compression|||comma identity gzip deflate br zstd snappy
--rpc-header|+||at:header
-m --max-time||--timeout|none
--max-message-size||--max-msg-sz|none
--seed|||none
--use|+||ask:use
--plugin|+||ask:plugin
--script|+||ask:script
--no-use|+||ask:use
--attribute|+||none
--format|||list pretty json text binary tsv csv events none sh curl grpcurl buf
--emit-defaults|||flag
--enum-numbers|||flag
--int64-numbers|||flag
--bytes|||list base64 hex text escape
--proto-names||--keep-proto-names|flag
--unknown-fields|||list show drop
-v --verbose|+|-i --include|flag
--color||--colour|list auto always never
--show-secrets|||flag
--redact|+||none
--listen|||none
--listen-cert|||file
--listen-key|||file
--listen-name|+||none
--allow-origin|+||none
--save-suite|||file
--interactive|||flag
--break|+||none
--default|||flag
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-K --config|||file
--profile|||ask:profile
-h --help|||flag
-V --version|||flag'
      positionals='' ;;
    plugins-list) options='--format|||list text json
--color||--colour|list auto always never
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-h --help|||flag
-V --version|||flag'
      positionals='' ;;
    plugins-check) options='--descriptor-set --protoset|+||file
--proto|+||file
-I --import-path|+||dir
--color||--colour|list auto always never
--method|||none
--call-time|||none
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-h --help|||flag
-V --version|||flag'
      positionals='ask:checked' ;;
    plugins-new) options='--color||--colour|list auto always never
--lang|||list c cpp swift rust python js sh
--dir|||dir
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-h --help|||flag
-V --version|||flag'
      positionals='none' ;;
    trust) options='--color||--colour|list auto always never
--list|||flag
--revoke|||flag
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-h --help|||flag
-V --version|||flag'
      positionals='file' ;;
    completion) options='--color||--colour|list auto always never
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-h --help|||flag
-V --version|||flag'
      positionals='ask:shell' ;;
    version) options='--format|||list text json
--color||--colour|list auto always never
-s --silent|||flag
-S --show-error|||flag
--error-format|||list text json
-h --help|||flag
-V --version|||flag'
      positionals='' ;;
  esac
}

# Splits a line into words as the shell does, without expansions: the words, of which the last is the one before the
# cursor; the part of that word that readline keeps; and its open quote. Readline's own words end at each : and =.
_rpcurl_split() {
  local rest=$1 word= piece tail breaks= is_word= character
  words=() kept= quote=
  for character in @ = :; do
    [[ $COMP_WORDBREAKS == *"$character"* ]] && breaks+=$character
  done
  while [[ -n $rest ]]; do
    case $rest in
      [[:space:]]*)
        [[ -n $is_word ]] && words+=("$word")
        word= is_word= kept= rest=${rest#?} ;;
      \\*) word+=${rest:1:1} is_word=1 rest=${rest:2} ;;
      \'*)
        rest=${rest#?} is_word=1 piece=${rest%%\'*}
        if [[ $rest == *\'* ]]; then rest=${rest#*\'}; else quote=\' kept=$word rest=; fi
        word+=$piece ;;
      \"*)
        rest=${rest#?} is_word=1 piece=
        while [[ -n $rest && $rest != \"* ]]; do
          case $rest in
            \\[\"\\\$\`]*) piece+=${rest:1:1} rest=${rest:2} ;;
            *) tail=${rest%%[\"\\]*} tail=${tail:-${rest:0:1}} piece+=$tail rest=${rest:${#tail}} ;;
          esac
        done
        if [[ -n $rest ]]; then rest=${rest#?}; else quote=\" kept=$word; fi
        word+=$piece ;;
      *)
        piece=${rest%%[[:space:]\\\'\"]*} is_word=1 rest=${rest:${#piece}}
        if [[ -n $breaks && $piece == *[$breaks]* ]]; then
          tail=${piece##*[$breaks]}
          # This is a part of a word after an @.
          kept=$word${piece%"$tail"} kept=${kept%@}
        fi
        word+=$piece ;;
    esac
  done
  words+=("$word")
}

# Adds a candidate that begins with the typed text. Names that rpcurl has printed may begin with it in another case.
_rpcurl_add() {
  local candidate=$1 special apostrophe="'\\''" continued='*[/=.:,@([} ]'
  [[ $candidate == "$typed"* || -n $asked && ${candidate,,} == "${typed,,}"* ]] || return 0
  [[ -n $joins || $candidate == $continued ]] && compopt -o nospace 2>/dev/null
  candidate=$lead$candidate
  candidate=${candidate#"$kept"}
  case $quote in
    '') [[ $candidate == *[!A-Za-z0-9_./:=@,+~-]* ]] && printf -v candidate %q "$candidate" ;;
    \') candidate=${candidate//\'/$apostrophe} ;;
    *)
      for special in \\ \" \$ \`; do candidate=${candidate//"$special"/"\\$special"}; done ;;
  esac
  COMPREPLY+=("$candidate")
}

# Enables readline's handling of file names, where available.
_rpcurl_files() {
  local path
  [[ $lead == "$kept" ]] && compopt -o filenames 2>/dev/null
  while IFS= read -r path; do
    if [[ $lead == "$kept" ]]; then
      COMPREPLY+=("$path")
    else
      [[ -d ${path/#~\//$HOME/} ]] && path+=/
      _rpcurl_add "$path"
    fi
  done < <(compgen "${1:--f}" -- "$typed")
}

# Runs rpcurl, which prints candidates with descriptions.
_rpcurl_ask() {
  local candidate asked=1 program=${words[0]/#~\//$HOME/}
  type -P -- "$program" >/dev/null || program=rpcurl
  [[ $1 == use || $1 == plugin ]] && joins=1
  while IFS=$'\t' read -r candidate _; do
    _rpcurl_add "$candidate"
  done < <("$program" complete "$1" "$typed" "${places[0]-}" "${places[1]-}" "${line[@]}" 2>/dev/null)
  # Readline closes the quotes after a single reply, also where more has to be typed.
  [[ -n $quote && ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[' }=.:([,'] ]] && COMPREPLY+=("${COMPREPLY[0]} ")
}

# Adds the completions of a value of this kind.
_rpcurl_value() {
  local kind=$1 value stem
  shift
  case $kind in
    list | flag) for value; do _rpcurl_add "$value"; done ;;
    comma)
      stem=${typed%"${typed##*,}"}
      for value; do [[ ,$stem == *,"$value",* ]] || _rpcurl_add "$stem$value"; done ;;
    file) _rpcurl_files ;;
    dir) _rpcurl_files -d ;;
    at:*)
      if [[ $typed == @* ]]; then
        lead+=@ typed=${typed#@}
        _rpcurl_files
      else
        _rpcurl_ask "${kind#at:}"
      fi ;;
    ask:*) _rpcurl_ask "${kind#ask:}" ;;
  esac
}

# Sets kind to the kind of an option, and same to all its names and whether it repeats.
_rpcurl_find() {
  local names repeats aliases
  while IFS='|' read -r names repeats aliases kind; do
    [[ " $names $aliases " == *" $1 "* ]] && same=" $names |$repeats" && return
  done <<<"$options"
  kind= same=
  return 1
}

_rpcurl() {
  local words kept quote typed lead= joins= asked= options positionals nested= kind= same= used=' '
  local commands='call session run test load list describe template export diff convert health check proxy serve plugins trust completion version help' command=call index=1 last word value_of= is_plain= places=() line=() behind=()
  COMPREPLY=()

  # Words after the cursor count too, except the one at the cursor.
  _rpcurl_split "x${COMP_LINE:COMP_POINT}"
  behind=("${words[@]:1}")
  _rpcurl_split "${COMP_LINE:0:COMP_POINT}"
  last=$((${#words[@]} - 1)) typed=${words[last]}
  ((last > 0)) || return 0
  line=("${words[@]:1:last-1}" "${behind[@]}")

  if ((last > 1)) && [[ " $commands " == *" ${words[1]} "* ]]; then
    command=${words[1]} index=2
  fi
  case $command in
    plugins) nested='list check new' command=plugins-list ;;
    help) ((last == 2)) && _rpcurl_value list $commands; return ;;
  esac
  if [[ -n $nested ]] && ((last > 2)) && [[ " $nested " == *" ${words[2]} "* ]]; then
    command=${words[1]}-${words[2]} index=3
  fi
  _rpcurl_arguments "$command"

  # Options and arguments that are present.
  for ((; index < last; index++)); do
    word=${words[index]}
    if [[ -n $is_plain || $word != -?* ]]; then
      places+=("$word")
    elif [[ $word == -- ]]; then
      is_plain=1
    else
      used+="${word%%=*} "
      # Letters may be combined, the last one with a value.
      [[ $word == -[!-]* ]] && word=-${word: -1}
      if [[ $word != *=* ]] && _rpcurl_find "$word" && [[ $kind != flag* ]]; then
        ((++index == last)) && value_of=$word
      fi
    fi
  done
  for word in "${behind[@]}"; do [[ $word == -* ]] && used+="${word%%=*} "; done

  if [[ -n $value_of ]]; then
    # Except the option whose value is missing.
    line=("${words[@]:1:last-2}" "${behind[@]}")
    _rpcurl_find "$value_of"
    _rpcurl_value $kind
  elif [[ -z $is_plain && $typed == --*=* ]]; then
    _rpcurl_find "${typed%%=*}" || return 0
    lead=${typed%%=*}= typed=${typed#*=}
    _rpcurl_value $kind
  elif [[ -z $is_plain && $typed == -* ]]; then
    local names repeats aliases name
    while IFS='|' read -r names repeats aliases kind; do
      for name in $names $aliases; do
        [[ -z $repeats && $used == *" $name "* ]] && continue 2
      done
      for name in $names; do _rpcurl_add "$name"; done
    done <<<"$options"
  else
    ((last == 1)) && _rpcurl_value list $commands
    [[ -n $nested ]] && ((last == 2)) && _rpcurl_value list $nested
    local kinds=($positionals) place=${#places[@]}
    # The last kind may repeat.
    ((place >= ${#kinds[@]})) && [[ $positionals == *+ ]] && place=$((${#kinds[@]} - 1))
    kind=${kinds[place]-}
    _rpcurl_value "${kind%+}"
  fi
}

complete -F _rpcurl rpcurl
