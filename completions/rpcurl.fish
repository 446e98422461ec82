function __rpcurl_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __rpcurl_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __rpcurl_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __rpcurl_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __rpcurl_parse_tokens -S
    set -l unparsed_tokens (__rpcurl_tokens -pc)
    switch $unparsed_tokens[1]
    case 'rpcurl'
        __rpcurl_parse_subcommand 0 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'call'
            __rpcurl_parse_subcommand 2 'descriptor-set=+' 'proto=+' 'I/import-path=+' 'reflect' 'no-reflect' 'reflect-version=' 'reflect-header=+' 'no-cache' 'plaintext' 'k/insecure' 'cacert=' 'capath=' 'E/cert=' 'key=' 'pass=' 'servername=' 'authority=' 'tlsv1.2' 'tlsv1.3' 'http1.1' 'http2' 'http2-prior-knowledge' 'http3' 'unix-socket=' 'proxy=' 'resolve=+' 'connect-timeout=' 'keepalive-time=' 'protocol=' 'codec=' 'connect-get' 'compression=' 'accept-compression=' 'd/data=+' 'data-format=' 'H/header=+' 'rpc-header=+' 'u/user=' 'bearer=' 'n/netrc' 'netrc-file=' 'A/user-agent=' 'max-time=' 'max-message-size=' 'each' 'jobs=' 'fail-early' 'use=+' 'plugin=+' 'format=' 'emit-defaults' 'enum-numbers' 'proto-names' 'allow-unknown-fields' 'v/verbose' 'filter=' 'o/output=' 'color=' 'timing' 'show-secrets' 'explain' 'config=' 'profile=' 'version' 'h/help'
        case 'list'
            __rpcurl_parse_subcommand -r 1 'descriptor-set=+' 'proto=+' 'I/import-path=+' 'reflect' 'no-reflect' 'reflect-version=' 'reflect-header=+' 'no-cache' 'plaintext' 'k/insecure' 'cacert=' 'capath=' 'E/cert=' 'key=' 'pass=' 'servername=' 'authority=' 'tlsv1.2' 'tlsv1.3' 'http1.1' 'http2' 'http2-prior-knowledge' 'http3' 'unix-socket=' 'proxy=' 'resolve=+' 'connect-timeout=' 'keepalive-time=' 'protocol=' 'H/header=+' 'u/user=' 'bearer=' 'n/netrc' 'netrc-file=' 'A/user-agent=' 'max-time=' 'v/verbose' 'kind=+' 'format=' 'version' 'h/help'
        case 'describe'
            __rpcurl_parse_subcommand -r 1 'descriptor-set=+' 'proto=+' 'I/import-path=+' 'reflect' 'no-reflect' 'reflect-version=' 'reflect-header=+' 'no-cache' 'plaintext' 'k/insecure' 'cacert=' 'capath=' 'E/cert=' 'key=' 'pass=' 'servername=' 'authority=' 'tlsv1.2' 'tlsv1.3' 'http1.1' 'http2' 'http2-prior-knowledge' 'http3' 'unix-socket=' 'proxy=' 'resolve=+' 'connect-timeout=' 'keepalive-time=' 'protocol=' 'H/header=+' 'u/user=' 'bearer=' 'n/netrc' 'netrc-file=' 'A/user-agent=' 'max-time=' 'v/verbose' 'format=' 'version' 'h/help'
        case 'template'
            __rpcurl_parse_subcommand -r 1 'descriptor-set=+' 'proto=+' 'I/import-path=+' 'reflect' 'no-reflect' 'reflect-version=' 'reflect-header=+' 'no-cache' 'plaintext' 'k/insecure' 'cacert=' 'capath=' 'E/cert=' 'key=' 'pass=' 'servername=' 'authority=' 'tlsv1.2' 'tlsv1.3' 'http1.1' 'http2' 'http2-prior-knowledge' 'http3' 'unix-socket=' 'proxy=' 'resolve=+' 'connect-timeout=' 'keepalive-time=' 'protocol=' 'H/header=+' 'u/user=' 'bearer=' 'n/netrc' 'netrc-file=' 'A/user-agent=' 'max-time=' 'v/verbose' 'comments' 'response' 'version' 'h/help'
        case 'export'
            __rpcurl_parse_subcommand -r 1 'descriptor-set=+' 'proto=+' 'I/import-path=+' 'reflect' 'no-reflect' 'reflect-version=' 'reflect-header=+' 'no-cache' 'plaintext' 'k/insecure' 'cacert=' 'capath=' 'E/cert=' 'key=' 'pass=' 'servername=' 'authority=' 'tlsv1.2' 'tlsv1.3' 'http1.1' 'http2' 'http2-prior-knowledge' 'http3' 'unix-socket=' 'proxy=' 'resolve=+' 'connect-timeout=' 'keepalive-time=' 'protocol=' 'H/header=+' 'u/user=' 'bearer=' 'n/netrc' 'netrc-file=' 'A/user-agent=' 'max-time=' 'v/verbose' 'o/output=' 'version' 'h/help'
        case 'convert'
            __rpcurl_parse_subcommand 1 'descriptor-set=+' 'proto=+' 'I/import-path=+' 'type=' 'from=' 'to=' 'delimited' 'pretty' 'emit-defaults' 'enum-numbers' 'proto-names' 'allow-unknown-fields' 'allow-partial' 'version' 'h/help'
        case 'plugins'
            __rpcurl_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'list'
                __rpcurl_parse_subcommand 0 'format=' 'version' 'h/help'
            case 'check'
                __rpcurl_parse_subcommand 1 'call-time=' 'version' 'h/help'
            case 'new'
                __rpcurl_parse_subcommand 1 'lang=' 'dir=' 'version' 'h/help'
            end
        case 'version'
            __rpcurl_parse_subcommand 0 'version' 'h/help'
        case 'help'
            __rpcurl_parse_subcommand -r 1 'version'
        end
    end
end

function __rpcurl_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __rpcurl_parse_subcommand -S -a positional_count
    argparse -s r -- $argv
    set -l option_specs $argv[2..]
    set -l is_repeating_positional $_flag_r
    set -el _flag_r
    set -a commands $unparsed_tokens[1]
    set positional_index 0
    while true
        set -e unparsed_tokens[1]
        argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null
        set unparsed_tokens $argv
        set positional_index (math $positional_index + 1)
        for non_repeating_flag_or_option in $non_repeating_flags_or_options
            if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                set non_repeating_flags_or_options_absent 1
                break
            end
        end
        test (count $unparsed_tokens) -eq 0 -o \( -z "$is_repeating_positional" -a "$positional_index" -gt "$positional_count" \) && break
    end
end

function __rpcurl_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __rpcurl_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__rpcurl_tokens -p)
    if test -z "$(__rpcurl_tokens -t)"
        set -l index (count (__rpcurl_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'rpcurl' -f
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl" version' -l 'version' -d 'Show the version.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_positional "rpcurl" -eq 1' -fa 'call' -d 'Call a method and print its answer (the default command).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_positional "rpcurl" -eq 1' -fa 'list' -d 'List services, the methods of a service, or other names of a schema.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_positional "rpcurl" -eq 1' -fa 'describe' -d 'Show what a schema declares, with comments and options, in the protobuf language.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_positional "rpcurl" -eq 1' -fa 'template' -d 'Print a message with every field as JSON, to be filled in.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_positional "rpcurl" -eq 1' -fa 'export' -d 'Write a schema, or the part of it that a name needs, as a descriptor set.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_positional "rpcurl" -eq 1' -fa 'convert' -d 'Turn messages from JSON, text format or binary into another of these.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_positional "rpcurl" -eq 1' -fa 'plugins' -d 'List interceptors and plugins, check a plugin, or start a new one.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_positional "rpcurl" -eq 1' -fa 'version' -d 'Print the version, and what the libraries found here can do.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_positional "rpcurl" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call"' -l 'descriptor-set' -l 'protoset' -d 'Take the schema from this descriptor set; may repeat, the first that knows a name wins.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call"' -l 'proto' -d 'Take the schema from this .proto file, with the help of protoc; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call"' -s 'I' -l 'import-path' -d 'Look here for the files of --proto and for what they import; may repeat (default: the working directory).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" reflect' -l 'reflect' -d 'Ask the server for what no other source knows (default: if no other source is named).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" no-reflect' -l 'no-reflect' -d 'Ask the server for what no other source knows (default: if no other source is named).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" reflect-version' -l 'reflect-version' -d 'Speak this version of reflection: v1 or v1alpha (default: v1alpha where the server has no v1).' -rfka 'v1 v1alpha'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call"' -l 'reflect-header' -d 'As -H, but sent only when the server is asked for its schema.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" no-cache' -l 'no-cache' -d 'Neither use nor keep what servers told of their schemas.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" plaintext' -l 'plaintext' -d 'Speak HTTP without TLS with a HOST:PORT.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" insecure k' -s 'k' -l 'insecure' -d 'Take the server\'s certificate unchecked.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" cacert' -l 'cacert' -d 'Trust the authorities in this PEM file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" capath' -l 'capath' -d 'Trust the authorities in this directory (openssl rehash).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" E cert' -s 'E' -l 'cert' -d 'Show the server this certificate, a PEM file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" key' -l 'key' -d 'The certificate\'s key, if it is not in the same file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" pass' -l 'pass' -d 'What the key is encrypted with: @FILE, or the value of env:NAME (default: ask on the terminal).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" servername' -l 'servername' -d 'Ask for this name in TLS, and expect it in the certificate.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" authority' -l 'authority' -d 'Tell HTTP this host instead of the URL\'s.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" tlsv1.2' -l 'tlsv1.2' -d 'Accept TLS 1.2 and newer.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" tlsv1.3' -l 'tlsv1.3' -d 'Accept TLS 1.3 and newer.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" http1.1' -l 'http1.1' -d 'Speak HTTP/1.1 (without TLS the default of Connect and gRPC-Web).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" http2' -l 'http2' -d 'Speak HTTP/2 (the default of gRPC and of bidi methods).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" http2-prior-knowledge' -l 'http2-prior-knowledge' -d 'Speak HTTP/2 from the first byte on, without TLS.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" http3' -l 'http3' -d 'Speak HTTP/3, if the libcurl found here can.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" unix-socket' -l 'unix-socket' -d 'Connect to this socket instead of the URL\'s host.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" proxy' -l 'proxy' -d 'Go through this proxy (default: what http_proxy, https_proxy and no_proxy say).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call"' -l 'resolve' -d 'Use this address for a host and port; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" connect-timeout' -l 'connect-timeout' -d 'How long connecting may take, such as 1.5 or 500ms.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" keepalive-time' -l 'keepalive-time' -d 'Ask a silent peer after this time whether it is still there.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" protocol' -l 'protocol' -d 'Speak grpc, grpc-web or connect (default: grpc, or what RPCURL_PROTOCOL says).' -rfka 'grpc grpc-web connect'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" codec' -l 'codec' -d 'How messages are encoded on the wire: proto or json.' -rfka 'proto json'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" connect-get' -l 'connect-get' -d 'Use GET, for a Connect method that is marked NO_SIDE_EFFECTS.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" compression' -l 'compression' -d 'Compress sent messages with gzip, deflate, br or zstd; identity sends them as they are.' -rfka 'identity gzip deflate br zstd'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" accept-compression' -l 'accept-compression' -d 'What the server may compress with, the most wanted first, such as zstd,gzip; identity for nothing (default: all that the libraries found can do).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call"' -s 'd' -l 'data' -d 'The request message: JSON, @FILE, or @- for standard input; may repeat for a stream.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" data-format' -l 'data-format' -d 'What the request data is written in: json, text or binary.' -rfka 'json text binary'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call"' -s 'H' -l 'header' -d 'Send this header, or those in a file, one on each line; may repeat. Values of names in -bin are base64.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call"' -l 'rpc-header' -d 'As -H, but not sent when the server is asked for its schema.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" u user' -s 'u' -l 'user' -d 'Send these credentials (HTTP Basic).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" bearer' -l 'bearer' -d 'Send this token (HTTP Bearer).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" n netrc' -s 'n' -l 'netrc' -d 'Take credentials for the host from ~/.netrc.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" netrc-file' -l 'netrc-file' -d 'Take credentials for the host from this file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" A user-agent' -s 'A' -l 'user-agent' -d 'Send this user-agent (default: rpcurl and its version).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" max-time' -l 'max-time' -d 'The call\'s deadline, such as 1.5, 1500ms or 2m; it travels to the server.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" max-message-size' -l 'max-message-size' -d 'The limit for one received message, such as 512k or 64m.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" each' -l 'each' -d 'Make one unary call for each message of the data, over one connection where HTTP/2 is spoken.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" jobs' -l 'jobs' -d 'Make this many calls of --each at a time (default: 1).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" fail-early' -l 'fail-early' -d 'End the batch of --each when a call fails.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call"' -l 'use' -d 'Put a built-in interceptor on the chain, in the order written; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call"' -l 'plugin' -d 'Put a plugin on the chain, in the order written; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" format' -l 'format' -d 'Print responses as pretty, json (one a line), text, binary, events (every event of the call as NDJSON) or none (default: pretty on a terminal, otherwise json).' -rfka 'pretty json text binary events none'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" emit-defaults' -l 'emit-defaults' -d 'Print fields that hold their default value.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" enum-numbers' -l 'enum-numbers' -d 'Print enum values as numbers.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" proto-names' -l 'proto-names' -d 'Print field names as the schema writes them.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" allow-unknown-fields' -l 'allow-unknown-fields' -d 'Pass over fields of the request data that the schema does not know.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" v verbose' -s 'v' -l 'verbose' -d 'Show the metadata of request and response on standard error.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" filter' -l 'filter' -d 'Print only this field of each response, raw: strings unquoted, a list\'s elements each on a line.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" o output' -s 'o' -l 'output' -d 'Write the output to this file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" color' -l 'color' -d 'Print JSON in colour: auto, always or never.' -rfka 'auto always never'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" timing' -l 'timing' -d 'Say on standard error what the call took: until the name was resolved, the connection stood, TLS was agreed on, the first byte came, and in total.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" show-secrets' -l 'show-secrets' -d 'Show credentials that -v would redact.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" explain' -l 'explain' -d 'Print what the call would be, with its chain of interceptors, and send nothing; --format json for tools.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" config' -l 'config' -d 'Take options from this file (default: $XDG_CONFIG_HOME/rpcurl/config, if there is one).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" profile' -l 'profile' -d 'Take the options of this profile of the configuration file too.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" version' -l 'version' -d 'Show the version.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl call" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list"' -l 'descriptor-set' -l 'protoset' -d 'Take the schema from this descriptor set; may repeat, the first that knows a name wins.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list"' -l 'proto' -d 'Take the schema from this .proto file, with the help of protoc; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list"' -s 'I' -l 'import-path' -d 'Look here for the files of --proto and for what they import; may repeat (default: the working directory).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" reflect' -l 'reflect' -d 'Ask the server for what no other source knows (default: if no other source is named).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" no-reflect' -l 'no-reflect' -d 'Ask the server for what no other source knows (default: if no other source is named).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" reflect-version' -l 'reflect-version' -d 'Speak this version of reflection: v1 or v1alpha (default: v1alpha where the server has no v1).' -rfka 'v1 v1alpha'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list"' -l 'reflect-header' -d 'As -H, but sent only when the server is asked for its schema.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" no-cache' -l 'no-cache' -d 'Neither use nor keep what servers told of their schemas.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" plaintext' -l 'plaintext' -d 'Speak HTTP without TLS with a HOST:PORT.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" insecure k' -s 'k' -l 'insecure' -d 'Take the server\'s certificate unchecked.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" cacert' -l 'cacert' -d 'Trust the authorities in this PEM file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" capath' -l 'capath' -d 'Trust the authorities in this directory (openssl rehash).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" E cert' -s 'E' -l 'cert' -d 'Show the server this certificate, a PEM file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" key' -l 'key' -d 'The certificate\'s key, if it is not in the same file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" pass' -l 'pass' -d 'What the key is encrypted with: @FILE, or the value of env:NAME (default: ask on the terminal).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" servername' -l 'servername' -d 'Ask for this name in TLS, and expect it in the certificate.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" authority' -l 'authority' -d 'Tell HTTP this host instead of the URL\'s.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" tlsv1.2' -l 'tlsv1.2' -d 'Accept TLS 1.2 and newer.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" tlsv1.3' -l 'tlsv1.3' -d 'Accept TLS 1.3 and newer.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" http1.1' -l 'http1.1' -d 'Speak HTTP/1.1 (without TLS the default of Connect and gRPC-Web).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" http2' -l 'http2' -d 'Speak HTTP/2 (the default of gRPC and of bidi methods).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" http2-prior-knowledge' -l 'http2-prior-knowledge' -d 'Speak HTTP/2 from the first byte on, without TLS.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" http3' -l 'http3' -d 'Speak HTTP/3, if the libcurl found here can.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" unix-socket' -l 'unix-socket' -d 'Connect to this socket instead of the URL\'s host.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" proxy' -l 'proxy' -d 'Go through this proxy (default: what http_proxy, https_proxy and no_proxy say).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list"' -l 'resolve' -d 'Use this address for a host and port; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" connect-timeout' -l 'connect-timeout' -d 'How long connecting may take, such as 1.5 or 500ms.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" keepalive-time' -l 'keepalive-time' -d 'Ask a silent peer after this time whether it is still there.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" protocol' -l 'protocol' -d 'Speak grpc, grpc-web or connect (default: grpc, or what RPCURL_PROTOCOL says).' -rfka 'grpc grpc-web connect'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list"' -s 'H' -l 'header' -d 'Send this header, or those in a file, one on each line; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" u user' -s 'u' -l 'user' -d 'Send these credentials (HTTP Basic).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" bearer' -l 'bearer' -d 'Send this token (HTTP Bearer).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" n netrc' -s 'n' -l 'netrc' -d 'Take credentials for the host from ~/.netrc.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" netrc-file' -l 'netrc-file' -d 'Take credentials for the host from this file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" A user-agent' -s 'A' -l 'user-agent' -d 'Send this user-agent (default: rpcurl and its version).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" max-time' -l 'max-time' -d 'How long the server may take to answer, such as 1.5 or 500ms (default: 10s).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" v verbose' -s 'v' -l 'verbose' -d 'Tell on standard error where the schema is from.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list"' -l 'kind' -d 'List everything of this kind: service, method, message, field, oneof, enum, value or extension; may repeat.' -rfka 'service method message field oneof enum value extension'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" format' -l 'format' -d 'The form of the list: text or json.' -rfka 'text json'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" version' -l 'version' -d 'Show the version.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe"' -l 'descriptor-set' -l 'protoset' -d 'Take the schema from this descriptor set; may repeat, the first that knows a name wins.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe"' -l 'proto' -d 'Take the schema from this .proto file, with the help of protoc; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe"' -s 'I' -l 'import-path' -d 'Look here for the files of --proto and for what they import; may repeat (default: the working directory).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" reflect' -l 'reflect' -d 'Ask the server for what no other source knows (default: if no other source is named).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" no-reflect' -l 'no-reflect' -d 'Ask the server for what no other source knows (default: if no other source is named).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" reflect-version' -l 'reflect-version' -d 'Speak this version of reflection: v1 or v1alpha (default: v1alpha where the server has no v1).' -rfka 'v1 v1alpha'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe"' -l 'reflect-header' -d 'As -H, but sent only when the server is asked for its schema.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" no-cache' -l 'no-cache' -d 'Neither use nor keep what servers told of their schemas.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" plaintext' -l 'plaintext' -d 'Speak HTTP without TLS with a HOST:PORT.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" insecure k' -s 'k' -l 'insecure' -d 'Take the server\'s certificate unchecked.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" cacert' -l 'cacert' -d 'Trust the authorities in this PEM file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" capath' -l 'capath' -d 'Trust the authorities in this directory (openssl rehash).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" E cert' -s 'E' -l 'cert' -d 'Show the server this certificate, a PEM file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" key' -l 'key' -d 'The certificate\'s key, if it is not in the same file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" pass' -l 'pass' -d 'What the key is encrypted with: @FILE, or the value of env:NAME (default: ask on the terminal).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" servername' -l 'servername' -d 'Ask for this name in TLS, and expect it in the certificate.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" authority' -l 'authority' -d 'Tell HTTP this host instead of the URL\'s.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" tlsv1.2' -l 'tlsv1.2' -d 'Accept TLS 1.2 and newer.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" tlsv1.3' -l 'tlsv1.3' -d 'Accept TLS 1.3 and newer.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" http1.1' -l 'http1.1' -d 'Speak HTTP/1.1 (without TLS the default of Connect and gRPC-Web).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" http2' -l 'http2' -d 'Speak HTTP/2 (the default of gRPC and of bidi methods).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" http2-prior-knowledge' -l 'http2-prior-knowledge' -d 'Speak HTTP/2 from the first byte on, without TLS.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" http3' -l 'http3' -d 'Speak HTTP/3, if the libcurl found here can.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" unix-socket' -l 'unix-socket' -d 'Connect to this socket instead of the URL\'s host.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" proxy' -l 'proxy' -d 'Go through this proxy (default: what http_proxy, https_proxy and no_proxy say).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe"' -l 'resolve' -d 'Use this address for a host and port; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" connect-timeout' -l 'connect-timeout' -d 'How long connecting may take, such as 1.5 or 500ms.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" keepalive-time' -l 'keepalive-time' -d 'Ask a silent peer after this time whether it is still there.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" protocol' -l 'protocol' -d 'Speak grpc, grpc-web or connect (default: grpc, or what RPCURL_PROTOCOL says).' -rfka 'grpc grpc-web connect'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe"' -s 'H' -l 'header' -d 'Send this header, or those in a file, one on each line; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" u user' -s 'u' -l 'user' -d 'Send these credentials (HTTP Basic).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" bearer' -l 'bearer' -d 'Send this token (HTTP Bearer).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" n netrc' -s 'n' -l 'netrc' -d 'Take credentials for the host from ~/.netrc.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" netrc-file' -l 'netrc-file' -d 'Take credentials for the host from this file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" A user-agent' -s 'A' -l 'user-agent' -d 'Send this user-agent (default: rpcurl and its version).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" max-time' -l 'max-time' -d 'How long the server may take to answer, such as 1.5 or 500ms (default: 10s).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" v verbose' -s 'v' -l 'verbose' -d 'Tell on standard error where the schema is from.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" format' -l 'format' -d 'The form: text, which is the protobuf language, or json.' -rfka 'text json'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" version' -l 'version' -d 'Show the version.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl describe" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template"' -l 'descriptor-set' -l 'protoset' -d 'Take the schema from this descriptor set; may repeat, the first that knows a name wins.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template"' -l 'proto' -d 'Take the schema from this .proto file, with the help of protoc; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template"' -s 'I' -l 'import-path' -d 'Look here for the files of --proto and for what they import; may repeat (default: the working directory).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" reflect' -l 'reflect' -d 'Ask the server for what no other source knows (default: if no other source is named).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" no-reflect' -l 'no-reflect' -d 'Ask the server for what no other source knows (default: if no other source is named).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" reflect-version' -l 'reflect-version' -d 'Speak this version of reflection: v1 or v1alpha (default: v1alpha where the server has no v1).' -rfka 'v1 v1alpha'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template"' -l 'reflect-header' -d 'As -H, but sent only when the server is asked for its schema.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" no-cache' -l 'no-cache' -d 'Neither use nor keep what servers told of their schemas.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" plaintext' -l 'plaintext' -d 'Speak HTTP without TLS with a HOST:PORT.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" insecure k' -s 'k' -l 'insecure' -d 'Take the server\'s certificate unchecked.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" cacert' -l 'cacert' -d 'Trust the authorities in this PEM file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" capath' -l 'capath' -d 'Trust the authorities in this directory (openssl rehash).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" E cert' -s 'E' -l 'cert' -d 'Show the server this certificate, a PEM file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" key' -l 'key' -d 'The certificate\'s key, if it is not in the same file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" pass' -l 'pass' -d 'What the key is encrypted with: @FILE, or the value of env:NAME (default: ask on the terminal).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" servername' -l 'servername' -d 'Ask for this name in TLS, and expect it in the certificate.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" authority' -l 'authority' -d 'Tell HTTP this host instead of the URL\'s.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" tlsv1.2' -l 'tlsv1.2' -d 'Accept TLS 1.2 and newer.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" tlsv1.3' -l 'tlsv1.3' -d 'Accept TLS 1.3 and newer.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" http1.1' -l 'http1.1' -d 'Speak HTTP/1.1 (without TLS the default of Connect and gRPC-Web).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" http2' -l 'http2' -d 'Speak HTTP/2 (the default of gRPC and of bidi methods).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" http2-prior-knowledge' -l 'http2-prior-knowledge' -d 'Speak HTTP/2 from the first byte on, without TLS.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" http3' -l 'http3' -d 'Speak HTTP/3, if the libcurl found here can.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" unix-socket' -l 'unix-socket' -d 'Connect to this socket instead of the URL\'s host.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" proxy' -l 'proxy' -d 'Go through this proxy (default: what http_proxy, https_proxy and no_proxy say).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template"' -l 'resolve' -d 'Use this address for a host and port; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" connect-timeout' -l 'connect-timeout' -d 'How long connecting may take, such as 1.5 or 500ms.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" keepalive-time' -l 'keepalive-time' -d 'Ask a silent peer after this time whether it is still there.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" protocol' -l 'protocol' -d 'Speak grpc, grpc-web or connect (default: grpc, or what RPCURL_PROTOCOL says).' -rfka 'grpc grpc-web connect'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template"' -s 'H' -l 'header' -d 'Send this header, or those in a file, one on each line; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" u user' -s 'u' -l 'user' -d 'Send these credentials (HTTP Basic).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" bearer' -l 'bearer' -d 'Send this token (HTTP Bearer).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" n netrc' -s 'n' -l 'netrc' -d 'Take credentials for the host from ~/.netrc.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" netrc-file' -l 'netrc-file' -d 'Take credentials for the host from this file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" A user-agent' -s 'A' -l 'user-agent' -d 'Send this user-agent (default: rpcurl and its version).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" max-time' -l 'max-time' -d 'How long the server may take to answer, such as 1.5 or 500ms (default: 10s).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" v verbose' -s 'v' -l 'verbose' -d 'Tell on standard error where the schema is from.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" comments' -l 'comments' -d 'Explain each field on standard error: its type, the values of an enum, the other members of a oneof.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" response' -l 'response' -d 'Of a method, print the response.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" version' -l 'version' -d 'Show the version.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl template" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export"' -l 'descriptor-set' -l 'protoset' -d 'Take the schema from this descriptor set; may repeat, the first that knows a name wins.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export"' -l 'proto' -d 'Take the schema from this .proto file, with the help of protoc; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export"' -s 'I' -l 'import-path' -d 'Look here for the files of --proto and for what they import; may repeat (default: the working directory).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" reflect' -l 'reflect' -d 'Ask the server for what no other source knows (default: if no other source is named).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" no-reflect' -l 'no-reflect' -d 'Ask the server for what no other source knows (default: if no other source is named).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" reflect-version' -l 'reflect-version' -d 'Speak this version of reflection: v1 or v1alpha (default: v1alpha where the server has no v1).' -rfka 'v1 v1alpha'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export"' -l 'reflect-header' -d 'As -H, but sent only when the server is asked for its schema.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" no-cache' -l 'no-cache' -d 'Neither use nor keep what servers told of their schemas.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" plaintext' -l 'plaintext' -d 'Speak HTTP without TLS with a HOST:PORT.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" insecure k' -s 'k' -l 'insecure' -d 'Take the server\'s certificate unchecked.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" cacert' -l 'cacert' -d 'Trust the authorities in this PEM file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" capath' -l 'capath' -d 'Trust the authorities in this directory (openssl rehash).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" E cert' -s 'E' -l 'cert' -d 'Show the server this certificate, a PEM file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" key' -l 'key' -d 'The certificate\'s key, if it is not in the same file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" pass' -l 'pass' -d 'What the key is encrypted with: @FILE, or the value of env:NAME (default: ask on the terminal).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" servername' -l 'servername' -d 'Ask for this name in TLS, and expect it in the certificate.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" authority' -l 'authority' -d 'Tell HTTP this host instead of the URL\'s.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" tlsv1.2' -l 'tlsv1.2' -d 'Accept TLS 1.2 and newer.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" tlsv1.3' -l 'tlsv1.3' -d 'Accept TLS 1.3 and newer.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" http1.1' -l 'http1.1' -d 'Speak HTTP/1.1 (without TLS the default of Connect and gRPC-Web).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" http2' -l 'http2' -d 'Speak HTTP/2 (the default of gRPC and of bidi methods).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" http2-prior-knowledge' -l 'http2-prior-knowledge' -d 'Speak HTTP/2 from the first byte on, without TLS.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" http3' -l 'http3' -d 'Speak HTTP/3, if the libcurl found here can.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" unix-socket' -l 'unix-socket' -d 'Connect to this socket instead of the URL\'s host.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" proxy' -l 'proxy' -d 'Go through this proxy (default: what http_proxy, https_proxy and no_proxy say).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export"' -l 'resolve' -d 'Use this address for a host and port; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" connect-timeout' -l 'connect-timeout' -d 'How long connecting may take, such as 1.5 or 500ms.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" keepalive-time' -l 'keepalive-time' -d 'Ask a silent peer after this time whether it is still there.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" protocol' -l 'protocol' -d 'Speak grpc, grpc-web or connect (default: grpc, or what RPCURL_PROTOCOL says).' -rfka 'grpc grpc-web connect'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export"' -s 'H' -l 'header' -d 'Send this header, or those in a file, one on each line; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" u user' -s 'u' -l 'user' -d 'Send these credentials (HTTP Basic).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" bearer' -l 'bearer' -d 'Send this token (HTTP Bearer).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" n netrc' -s 'n' -l 'netrc' -d 'Take credentials for the host from ~/.netrc.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" netrc-file' -l 'netrc-file' -d 'Take credentials for the host from this file.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" A user-agent' -s 'A' -l 'user-agent' -d 'Send this user-agent (default: rpcurl and its version).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" max-time' -l 'max-time' -d 'How long the server may take to answer, such as 1.5 or 500ms (default: 10s).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" v verbose' -s 'v' -l 'verbose' -d 'Tell on standard error where the schema is from.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" o output' -s 'o' -l 'output' -d 'Write to this file (default, and for -: standard output).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" version' -l 'version' -d 'Show the version.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl export" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert"' -l 'descriptor-set' -l 'protoset' -d 'Take the schema from this descriptor set; may repeat, the first that knows a name wins.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert"' -l 'proto' -d 'Take the schema from this .proto file, with the help of protoc; may repeat.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert"' -s 'I' -l 'import-path' -d 'Look here for the files of --proto and for what they import; may repeat (default: the working directory).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert" type' -l 'type' -d 'The messages\' type, by its full name.' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert" from' -l 'from' -d 'The form of the input: json, text or binary.' -rfka 'json text binary'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert" to' -l 'to' -d 'The form of the output: json, text or binary.' -rfka 'json text binary'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert" delimited' -l 'delimited' -d 'Read and write a stream of messages.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert" pretty' -l 'pretty' -d 'Print JSON over several lines (default on a terminal, except with --delimited).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert" emit-defaults' -l 'emit-defaults' -d 'Print fields that hold their default value.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert" enum-numbers' -l 'enum-numbers' -d 'Print enum values as numbers.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert" proto-names' -l 'proto-names' -d 'Print field names as the schema writes them.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert" allow-unknown-fields' -l 'allow-unknown-fields' -d 'Pass over fields of the input that the schema does not know.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert" allow-partial' -l 'allow-partial' -d 'Take messages that lack required fields.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert" version' -l 'version' -d 'Show the version.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl convert" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl plugins" version' -l 'version' -d 'Show the version.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl plugins" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_positional "rpcurl plugins" -eq 1' -fa 'list' -d 'List the built-in interceptors and the plugins of the search path (the default).'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_positional "rpcurl plugins" -eq 1' -fa 'check' -d 'Check a plugin: its file, without running it, and then its whole life.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_positional "rpcurl plugins" -eq 1' -fa 'new' -d 'Write a small plugin that builds, to be changed.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl plugins list" format' -l 'format' -d 'The form of the list: text or json.' -rfka 'text json'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl plugins list" version' -l 'version' -d 'Show the version.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl plugins list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl plugins check" call-time' -l 'call-time' -d 'How long each call may take until it is canceled (2s).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl plugins check" version' -l 'version' -d 'Show the version.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl plugins check" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl plugins new" lang' -l 'lang' -d 'The language: c or swift.' -rfka 'c swift'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl plugins new" dir' -l 'dir' -d 'Where to write it (default: a directory of its name, here).' -rfka ''
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl plugins new" version' -l 'version' -d 'Show the version.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl plugins new" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl version" version' -l 'version' -d 'Show the version.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl version" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'rpcurl' -n '__rpcurl_should_offer_completions_for_flags_or_options "rpcurl help" version' -l 'version' -d 'Show the version.'
