# Completion of rpcurl for fish, which `rpcurl completion fish` prints.

# Whether an option of a command has a value.
function __rpcurl_has_value
    switch $argv[1]
        case call
            contains -- $argv[2] --descriptor-set --protoset --proto -I --import-path --reflect-version --reflect-protocol --reflect-header --cacert --capath -E --cert --cert-type --key --certkey --pass --servername --authority --unix-socket --abstract-unix-socket -x --proxy -U --proxy-user --resolve --connect-to --connect-timeout --wait --keepalive-time --keepalive-timeout --protocol -H --header --var -u --user --bearer --oauth2-bearer --netrc-file -A --user-agent --codec --compression --accept-compression --rpc-header -m --max-time --timeout --max-message-size --max-msg-sz -d --data --data-raw --data-binary --json --data-format --set --set-file --chunk --seed --rows --jobs --repeat --every --use --plugin --script --no-use --attribute --format --bytes --unknown-fields --filter --filter-missing --limit -o --output --color --colour --redact --error-format -K --config --profile
        case session
            contains -- $argv[2] --descriptor-set --protoset --proto -I --import-path --reflect-version --reflect-protocol --reflect-header --cacert --capath -E --cert --cert-type --key --certkey --pass --servername --authority --unix-socket --abstract-unix-socket -x --proxy -U --proxy-user --resolve --connect-to --connect-timeout --wait --keepalive-time --keepalive-timeout --protocol -H --header --var -u --user --bearer --oauth2-bearer --netrc-file -A --user-agent --codec --compression --accept-compression --rpc-header -m --max-time --timeout --max-message-size --max-msg-sz --seed --use --plugin --script --no-use --attribute --format --bytes --unknown-fields --color --colour --redact --error-format -K --config --profile
        case run
            contains -- $argv[2] --descriptor-set --protoset --proto -I --import-path --reflect-version --reflect-protocol --reflect-header --cacert --capath -E --cert --cert-type --key --certkey --pass --servername --authority --unix-socket --abstract-unix-socket -x --proxy -U --proxy-user --resolve --connect-to --connect-timeout --wait --keepalive-time --keepalive-timeout --protocol -H --header --var -u --user --bearer --oauth2-bearer --netrc-file -A --user-agent --codec --compression --accept-compression --rpc-header -m --max-time --timeout --max-message-size --max-msg-sz --seed --repeat --every --use --plugin --script --no-use --attribute --format --bytes --unknown-fields --color --colour --redact --error-format -K --config --profile
        case test
            contains -- $argv[2] --descriptor-set --protoset --proto -I --import-path --reflect-version --reflect-protocol --reflect-header --cacert --capath -E --cert --cert-type --key --certkey --pass --servername --authority --unix-socket --abstract-unix-socket -x --proxy -U --proxy-user --resolve --connect-to --connect-timeout --wait --keepalive-time --keepalive-timeout --protocol -H --header --var -u --user --bearer --oauth2-bearer --netrc-file -A --user-agent --codec --compression --accept-compression --rpc-header -m --max-time --timeout --max-message-size --max-msg-sz --seed --jobs --repeat --every --use --plugin --script --no-use --attribute --color --colour --redact --rules --ignore --rules-from --only --skip --test-timeout --step-timeout --total-timeout --report --coverage --coverage-of --coverage-min --compare --record --replay --mock --error-format -K --config --profile
        case load
            contains -- $argv[2] --descriptor-set --protoset --proto -I --import-path --reflect-version --reflect-protocol --reflect-header --cacert --capath -E --cert --cert-type --key --certkey --pass --servername --authority --unix-socket --abstract-unix-socket -x --proxy -U --proxy-user --resolve --connect-to --connect-timeout --wait --keepalive-time --keepalive-timeout --protocol -H --header --var -u --user --bearer --oauth2-bearer --netrc-file -A --user-agent --codec --compression --accept-compression --rpc-header -m --max-time --timeout --max-message-size --max-msg-sz -d --data --data-raw --data-binary --json --data-format --set --set-file --seed --rows --jobs --use --plugin --script --no-use --attribute --color --colour --redact --rate --ramp --warm-up --stages --duration --requests --connections --threshold --compare --tag --format --html --hdr --raw --export --only --skip --error-format -K --config --profile
        case list
            contains -- $argv[2] --descriptor-set --protoset --proto -I --import-path --reflect-version --reflect-protocol --reflect-header --cacert --capath -E --cert --cert-type --key --certkey --pass --servername --authority --unix-socket --abstract-unix-socket -x --proxy -U --proxy-user --resolve --connect-to --connect-timeout --keepalive-time --keepalive-timeout --protocol -H --header -u --user --bearer --oauth2-bearer --netrc-file -A --user-agent -m --max-time --timeout --format --color --colour --redact --kind --error-format -K --config --profile
        case describe
            contains -- $argv[2] --descriptor-set --protoset --proto -I --import-path --reflect-version --reflect-protocol --reflect-header --cacert --capath -E --cert --cert-type --key --certkey --pass --servername --authority --unix-socket --abstract-unix-socket -x --proxy -U --proxy-user --resolve --connect-to --connect-timeout --keepalive-time --keepalive-timeout --protocol -H --header -u --user --bearer --oauth2-bearer --netrc-file -A --user-agent -m --max-time --timeout --format --color --colour --redact --error-format -K --config --profile
        case template
            contains -- $argv[2] --descriptor-set --protoset --proto -I --import-path --reflect-version --reflect-protocol --reflect-header --cacert --capath -E --cert --cert-type --key --certkey --pass --servername --authority --unix-socket --abstract-unix-socket -x --proxy -U --proxy-user --resolve --connect-to --connect-timeout --keepalive-time --keepalive-timeout --protocol -H --header -u --user --bearer --oauth2-bearer --netrc-file -A --user-agent -m --max-time --timeout --color --colour --redact --error-format -K --config --profile
        case export
            contains -- $argv[2] --descriptor-set --protoset --proto -I --import-path --reflect-version --reflect-protocol --reflect-header --cacert --capath -E --cert --cert-type --key --certkey --pass --servername --authority --unix-socket --abstract-unix-socket -x --proxy -U --proxy-user --resolve --connect-to --connect-timeout --keepalive-time --keepalive-timeout --protocol -H --header -u --user --bearer --oauth2-bearer --netrc-file -A --user-agent -m --max-time --timeout -o --output --color --colour --redact --proto-dir --error-format -K --config --profile
        case diff
            contains -- $argv[2] -I --import-path --reflect-version --reflect-protocol --reflect-header --cacert --capath -E --cert --cert-type --key --certkey --pass --servername --authority --unix-socket --abstract-unix-socket -x --proxy -U --proxy-user --resolve --connect-to --connect-timeout --keepalive-time --keepalive-timeout --protocol -H --header -u --user --bearer --oauth2-bearer --netrc-file -A --user-agent -m --max-time --timeout --color --colour --redact --format --against --rules --ignore --rules-from --only --error-format -K --config --profile
        case convert
            contains -- $argv[2] --descriptor-set --protoset --proto -I --import-path --reflect-version --reflect-protocol --reflect-header --cacert --capath -E --cert --cert-type --key --certkey --pass --servername --authority --unix-socket --abstract-unix-socket -x --proxy -U --proxy-user --resolve --connect-to --connect-timeout --keepalive-time --keepalive-timeout --protocol -H --header -u --user --bearer --oauth2-bearer --netrc-file -A --user-agent -m --max-time --timeout --bytes --unknown-fields --filter --filter-missing --color --colour --redact --type --from --to --error-format -K --config --profile
        case health
            contains -- $argv[2] --cacert --capath -E --cert --cert-type --key --certkey --pass --servername --authority --unix-socket --abstract-unix-socket -x --proxy -U --proxy-user --resolve --connect-to --connect-timeout --wait --keepalive-time --keepalive-timeout --protocol -H --header -u --user --bearer --oauth2-bearer --netrc-file -A --user-agent -m --max-time --timeout --color --colour --redact --error-format -K --config --profile
        case check
            contains -- $argv[2] --descriptor-set --protoset --proto -I --import-path --cacert --capath -E --cert --cert-type --key --certkey --pass --servername --authority --unix-socket --abstract-unix-socket -x --proxy -U --proxy-user --resolve --connect-to --connect-timeout --keepalive-time --keepalive-timeout --protocol -H --header -u --user --bearer --oauth2-bearer --netrc-file -A --user-agent -m --max-time --timeout --format --color --colour --redact --error-format -K --config --profile
        case proxy
            contains -- $argv[2] --descriptor-set --protoset --proto -I --import-path --reflect-version --reflect-protocol --reflect-header --cacert --capath -E --cert --cert-type --key --certkey --pass --servername --authority --unix-socket --abstract-unix-socket -x --proxy -U --proxy-user --resolve --connect-to --connect-timeout --keepalive-time --keepalive-timeout --protocol -H --header --var -u --user --bearer --oauth2-bearer --netrc-file -A --user-agent --codec --compression --accept-compression --rpc-header -m --max-time --timeout --max-message-size --max-msg-sz --seed --use --plugin --script --no-use --attribute --format --bytes --unknown-fields --color --colour --redact --listen --listen-cert --listen-key --listen-name --allow-origin --save-suite --break --error-format -K --config --profile
        case serve
            contains -- $argv[2] --descriptor-set --protoset --proto -I --import-path --var --codec --compression --accept-compression --rpc-header -m --max-time --timeout --max-message-size --max-msg-sz --seed --use --plugin --script --no-use --attribute --format --bytes --unknown-fields --color --colour --redact --listen --listen-cert --listen-key --listen-name --allow-origin --save-suite --break --error-format -K --config --profile
        case plugins-list
            contains -- $argv[2] --format --color --colour --error-format
        case plugins-check
            contains -- $argv[2] --descriptor-set --protoset --proto -I --import-path --color --colour --method --call-time --error-format
        case plugins-new
            contains -- $argv[2] --color --colour --lang --dir --error-format
        case trust
            contains -- $argv[2] --color --colour --error-format
        case completion
            contains -- $argv[2] --color --colour --error-format
        case version
            contains -- $argv[2] --format --color --colour --error-format
        case '*'
            false
    end
end

# Parses the words before the cursor: the command, the options, and the other arguments.
function __rpcurl_read
    set -l tokens (commandline -opc)
    # Each condition calls this; the line is parsed once.
    set -q __rpcurl_command; and test "x$__rpcurl_tokens" = "x$tokens"; and return
    set -g __rpcurl_tokens $tokens
    set -g __rpcurl_command call
    set -g __rpcurl_used
    set -g __rpcurl_words
    set -l index 2
    if set -q tokens[2]; and contains -- $tokens[2] call session run test load list describe template export diff convert health check proxy serve plugins trust completion version help
        set __rpcurl_command $tokens[2]
        set index 3
        switch $tokens[2]
            case plugins
                set __rpcurl_command plugins-list
                if contains -- "$tokens[3]" list check new
                    set __rpcurl_command plugins-$tokens[3]
                    set index 4
                end
        end
    end
    set -l plain
    while set -q tokens[$index]
        set -l token $tokens[$index]
        set index (math $index + 1)
        if set -q plain[1]; or not string match -qr -- '^-.' $token
            set -a __rpcurl_words $token
        else if test "x$token" = x--
            set plain 1
        else
            set -l name (string replace -r -- '=.*' '' $token)
            # Letters may be combined, the last one with a value.
            string match -qr -- '^-[^-]' $token; and set token -(string sub -s -1 -- $token)
            if not string match -q -- '*=*' $token; and __rpcurl_has_value $__rpcurl_command $token
                # Its value is being typed, so it counts as current, not as used.
                set -q tokens[$index]; or break
                set index (math $index + 1)
            end
            set -a __rpcurl_used $name
        end
    end
end

function __rpcurl_is
    __rpcurl_read
    contains -- $__rpcurl_command $argv
end

# Whether an option is absent, by all of its names.
function __rpcurl_unused
    for name in $argv
        contains -- $name $__rpcurl_used; and return 1
    end
    return 0
end

function __rpcurl_places
    test (count $__rpcurl_words) $argv
end

function __rpcurl_first
    test (count (commandline -opc)) -eq 1
end

function __rpcurl_second
    set -l tokens (commandline -opc)
    test (count $tokens) -eq 2; and string match -q -- $argv[1] $tokens[2]
end

# Runs rpcurl, which prints candidates with descriptions.
function __rpcurl_ask
    __rpcurl_read
    set -l tokens (commandline -opc)
    set -l program $tokens[1]
    command -q -- $program; or set program rpcurl
    command -q -- $program; or return
    # A value may follow its option in the same word, and its quote may be open.
    set -l word (string replace -r -- '^--[^=]*=' '' (commandline -ct))
    set -l typed
    for quote in '' \' \"
        set typed (string unescape -- $word$quote); and break
    end
    $program complete $argv[1] "$typed" "$__rpcurl_words[1]" "$__rpcurl_words[2]" $tokens[2..-1] 2>/dev/null
end

# Files after an @.
function __rpcurl_atfiles
    set -l typed (string replace -r -- '^--[^=]*=' '' (commandline -ct))
    string match -q -- '@*' $typed; or return
    for line in (__fish_complete_path (string sub -s 2 -- $typed))
        echo @$line
    end
end

# Another element of a comma-separated list.
function __rpcurl_list
    set -l typed (string replace -r -- '^--[^=]*=' '' (commandline -ct))
    set -l stem (string replace -r -- '[^,]*$' '' $typed)
    for word in $argv
        contains -- $word (string split , -- $stem); or echo $stem$word
    end
end

complete -c rpcurl -e
complete -c rpcurl -f
complete -c rpcurl -n __rpcurl_first -a 'call' -d 'Call a method and print its response (the default command)'
complete -c rpcurl -n __rpcurl_first -a 'session' -d 'Call methods of a server at a prompt, over one connection, with streams open in both directions'
complete -c rpcurl -n __rpcurl_first -a 'run' -d 'Run a file of session commands; the first that fails ends it'
complete -c rpcurl -n __rpcurl_first -a 'test' -d 'Run suites: files of calls with checks, which a team keeps beside its protos'
complete -c rpcurl -n __rpcurl_first -a 'load' -d 'Make many calls of a method, and report latencies, errors and rate'
complete -c rpcurl -n __rpcurl_first -a 'list' -d 'List services, the methods of a service, or other names of a schema'
complete -c rpcurl -n __rpcurl_first -a 'describe' -d 'Show what a schema declares, with comments and options, in the protobuf language'
complete -c rpcurl -n __rpcurl_first -a 'template' -d 'Print a JSON template of a message, with every field'
complete -c rpcurl -n __rpcurl_first -a 'export' -d 'Write a schema, or the part of it that a name needs, as a descriptor set or as .proto files'
complete -c rpcurl -n __rpcurl_first -a 'diff' -d 'Find breaking changes between two schemas'
complete -c rpcurl -n __rpcurl_first -a 'convert' -d 'Convert messages between JSON, text format and binary'
complete -c rpcurl -n __rpcurl_first -a 'health' -d 'Check the health of a server, or of one of its services'
complete -c rpcurl -n __rpcurl_first -a 'check' -d 'Find out how a server can be called, and why not'
complete -c rpcurl -n __rpcurl_first -a 'proxy' -d 'Listen for clients, and make each of their calls through the chain of interceptors'
complete -c rpcurl -n __rpcurl_first -a 'serve' -d 'Listen for clients, and respond by interceptors: a server of stubs or recorded calls'
complete -c rpcurl -n __rpcurl_first -a 'plugins' -d 'List interceptors and plugins, check a plugin, or create one'
complete -c rpcurl -n __rpcurl_first -a 'trust' -d 'Trust the project file .rpcurl, with its current contents'
complete -c rpcurl -n __rpcurl_first -a 'completion' -d 'Print the script with which a shell completes command lines'
complete -c rpcurl -n __rpcurl_first -a 'version' -d 'Print the version, and the features of the libraries in use'
complete -c rpcurl -n __rpcurl_first -a 'help' -d 'Show the help of a command'
complete -c rpcurl -n '__rpcurl_second plugins' -a 'list' -d 'List the built-in interceptors and the plugins of the search path (the default)'
complete -c rpcurl -n '__rpcurl_second plugins' -a 'check' -d 'Check a plugin or a script: inspect it, then make calls through it'
complete -c rpcurl -n '__rpcurl_second plugins' -a 'new' -d 'Create a small plugin that builds, as a starting point'
complete -c rpcurl -n '__rpcurl_second help' -a 'call session run test load list describe template export diff convert health check proxy serve plugins trust completion version'
complete -c rpcurl -n '__rpcurl_is call' -n '__rpcurl_places -eq 0' -a '(__rpcurl_ask target)'
complete -c rpcurl -n '__rpcurl_is call' -n '__rpcurl_places -eq 1' -a '(__rpcurl_ask method)'
complete -c rpcurl -n '__rpcurl_is session' -n '__rpcurl_places -eq 0' -a '(__rpcurl_ask target)'
complete -c rpcurl -n '__rpcurl_is run' -n '__rpcurl_places -ge 0' -F
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_places -ge 0' -F
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_places -eq 0' -a '(__rpcurl_ask target)'
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_places -eq 1' -a '(__rpcurl_ask method)'
complete -c rpcurl -n '__rpcurl_is list' -n '__rpcurl_places -ge 0' -a '(__rpcurl_ask list)'
complete -c rpcurl -n '__rpcurl_is describe' -n '__rpcurl_places -ge 0' -a '(__rpcurl_ask describe)'
complete -c rpcurl -n '__rpcurl_is template' -n '__rpcurl_places -ge 0' -a '(__rpcurl_ask template)'
complete -c rpcurl -n '__rpcurl_is export' -n '__rpcurl_places -ge 0' -a '(__rpcurl_ask export)'
complete -c rpcurl -n '__rpcurl_is diff' -n '__rpcurl_places -eq 0' -F
complete -c rpcurl -n '__rpcurl_is diff' -n '__rpcurl_places -eq 1' -F
complete -c rpcurl -n '__rpcurl_is convert' -n '__rpcurl_places -ge 0' -F
complete -c rpcurl -n '__rpcurl_is health' -n '__rpcurl_places -eq 0' -a '(__rpcurl_ask target)'
complete -c rpcurl -n '__rpcurl_is check' -n '__rpcurl_places -eq 0' -a '(__rpcurl_ask target)'
complete -c rpcurl -n '__rpcurl_is proxy' -n '__rpcurl_places -eq 0' -a '(__rpcurl_ask target)'
complete -c rpcurl -n '__rpcurl_is plugins-check' -n '__rpcurl_places -eq 0' -a '(__rpcurl_ask checked)'
complete -c rpcurl -n '__rpcurl_is trust' -n '__rpcurl_places -eq 0' -F
complete -c rpcurl -n '__rpcurl_is completion' -n '__rpcurl_places -eq 0' -a '(__rpcurl_ask shell)'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export convert check proxy serve plugins-check' -l descriptor-set -l protoset -r -F -d 'Read the schema from this descriptor set'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export convert check proxy serve plugins-check' -l proto -r -F -d 'Compile this .proto file'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert check proxy serve plugins-check' -s I -l import-path -x -a '(__fish_complete_directories)' -d 'Search this directory for .proto files and their imports'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export convert proxy' -n '__rpcurl_unused --reflect --no-reflect --use-reflection' -l reflect -l no-reflect -d 'Use reflection for names missing from other sources'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert proxy' -n '__rpcurl_unused --reflect-version --reflect-protocol' -l reflect-version -x -a 'v1 v1alpha' -d 'Version of the reflection service'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert proxy' -l reflect-header -x -a '(__rpcurl_atfiles) (__rpcurl_ask header)' -d 'Send this header with requests for the schema only'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert proxy' -n '__rpcurl_unused --no-cache' -l no-cache -d 'Do not read or write the caches of schemas'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --plaintext' -l plaintext -d 'Use HTTP without TLS if the target is not a URL'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused -k --insecure' -s k -l insecure -d 'Do not verify the server\'s certificate'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --cacert' -l cacert -r -F -d 'Certificate authorities to trust (PEM)'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --capath' -l capath -x -a '(__fish_complete_directories)' -d 'Directory of certificate authorities to trust, prepared by openssl rehash'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused -E --cert' -s E -l cert -r -F -d 'Client certificate (PEM)'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --cert-type' -l cert-type -x -a 'PEM P12 DER' -d 'Format of the client certificate: PEM, P12 (PKCS #12) or DER'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --key --certkey' -l key -r -F -d 'Key of the client certificate, if it is in another file'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --pass' -l pass -x -a '(__rpcurl_atfiles) (__rpcurl_ask value)' -d 'Passphrase of the client key'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --servername' -l servername -x -d 'Name for TLS SNI and certificate verification'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --authority' -l authority -x -d 'Value of the Host header / :authority'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --tlsv1.2' -l tlsv1.2 -d 'Require TLS 1.2 or newer'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --tlsv1.3' -l tlsv1.3 -d 'Require TLS 1.3 or newer'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --http1.1' -l http1.1 -d 'Use HTTP/1.1 (the default of Connect and gRPC-Web without TLS)'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --http2' -l http2 -d 'Use HTTP/2 (the default of gRPC and of bidi methods)'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --http2-prior-knowledge' -l http2-prior-knowledge -d 'Use HTTP/2 from the first byte: without TLS, or over TLS that negotiates no protocol'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --http3' -l http3 -d 'Use HTTP/3 only (needs a libcurl with HTTP/3)'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused -4 --ipv4' -s 4 -l ipv4 -d 'Resolve names to IPv4 addresses only'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused -6 --ipv6' -s 6 -l ipv6 -d 'Resolve names to IPv6 addresses only'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --unix-socket' -l unix-socket -r -F -d 'Connect to this Unix socket instead of the URL\'s host'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --abstract-unix-socket' -l abstract-unix-socket -x -d 'Connect to this Unix socket of the abstract namespace'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused -x --proxy' -s x -l proxy -x -d 'Proxy: http://, https://, socks4://, socks4a://, socks5:// or socks5h://'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused -U --proxy-user' -s U -l proxy-user -x -a '(__rpcurl_atfiles) (__rpcurl_ask value)' -d 'Credentials for the proxy'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -l resolve -x -d 'Use this address for a host and port'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -l connect-to -x -d 'Connect to the second host and port instead of the first'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --connect-timeout' -l connect-timeout -x -d 'Time limit for connecting, such as 1.5 or 500ms'
complete -c rpcurl -n '__rpcurl_is call session run test load health' -n '__rpcurl_unused --wait' -l wait -x -d 'Wait at most this long for a server that is not ready'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --keepalive-time' -l keepalive-time -x -d 'Probe a silent server after this time'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --keepalive-timeout' -l keepalive-timeout -x -d 'Time limit for a response to a probe of --keepalive-time'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --protocol' -l protocol -x -a 'grpc grpc-web connect' -d 'Protocol: grpc, grpc-web or connect'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -s H -l header -x -a '(__rpcurl_atfiles) (__rpcurl_ask header)' -d 'Send this header, or the headers of a file, one per line'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --expand' -l expand -f -a 'typed files all' -d 'Replace ${…} in headers, -d TEXT and --set: ${env.NAME}, ${uuid()}'
complete -c rpcurl -n '__rpcurl_is call session run test load proxy serve' -l var -x -a '(__rpcurl_atfiles) (__rpcurl_ask variable)' -d 'Set a variable of templates, ${NAME}, or those of a file'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused -u --user' -s u -l user -x -a '(__rpcurl_atfiles) (__rpcurl_ask value)' -d 'Credentials for the server (HTTP Basic)'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --bearer --oauth2-bearer' -l bearer -l oauth2-bearer -x -a '(__rpcurl_atfiles) (__rpcurl_ask value)' -d 'Bearer token for the server'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused -n --netrc' -s n -l netrc -d 'Read credentials for the host from ~/.netrc'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused --netrc-file' -l netrc-file -r -F -d 'Read credentials for the host from this file'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy' -n '__rpcurl_unused -A --user-agent' -s A -l user-agent -x -d 'Value of the user-agent header'
complete -c rpcurl -n '__rpcurl_is call session run test load proxy serve' -n '__rpcurl_unused --codec' -l codec -x -a 'proto json' -d 'Encoding of messages on the wire: proto or json'
complete -c rpcurl -n '__rpcurl_is call session run test load' -n '__rpcurl_unused --connect-get' -l connect-get -d 'Use GET for a Connect method that is marked NO_SIDE_EFFECTS'
complete -c rpcurl -n '__rpcurl_is call session run test load proxy serve' -n '__rpcurl_unused --compression' -l compression -x -a 'identity gzip deflate br zstd snappy' -d 'Compression of sent messages: gzip, deflate, br, zstd, snappy or identity'
complete -c rpcurl -n '__rpcurl_is call session run test load proxy serve' -n '__rpcurl_unused --accept-compression' -l accept-compression -x -a '(__rpcurl_list identity gzip deflate br zstd snappy)' -d 'Accepted response compressions, in order of preference'
complete -c rpcurl -n '__rpcurl_is call session run test load proxy serve' -l rpc-header -x -a '(__rpcurl_atfiles) (__rpcurl_ask header)' -d 'Send this header with the call, but not with requests for the schema'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy serve' -n '__rpcurl_unused -m --max-time --timeout' -s m -l max-time -x -d 'Time limit, such as 1.5, 1500ms or 2m; for a call, its deadline'
complete -c rpcurl -n '__rpcurl_is call session run test load proxy serve' -n '__rpcurl_unused --max-message-size --max-msg-sz' -l max-message-size -x -d 'Size limit of one received message, such as 512k or 64m'
complete -c rpcurl -n '__rpcurl_is call load' -s d -l data -x -a '(__rpcurl_atfiles) (__rpcurl_ask data)' -d 'Request message: JSON, @FILE, or @- for standard input'
complete -c rpcurl -n '__rpcurl_is call load' -n '__rpcurl_unused --data-format' -l data-format -x -a 'json text binary' -d 'Format of the request data: json, text or binary'
complete -c rpcurl -n '__rpcurl_is call load' -l set -x -a '(__rpcurl_ask set)' -d 'Set a field of the request message, over -d'
complete -c rpcurl -n '__rpcurl_is call load' -l set-file -x -a '(__rpcurl_ask set)' -d 'Set a bytes or string field to the content of a file, over -d'
complete -c rpcurl -n '__rpcurl_is call' -n '__rpcurl_unused --chunk' -l chunk -x -d 'Send the file of --set-file in pieces, one message each, over a request stream'
complete -c rpcurl -n '__rpcurl_is call session run test load proxy serve' -n '__rpcurl_unused --seed' -l seed -x -d 'Random seed of --expand, for repeatable runs'
complete -c rpcurl -n '__rpcurl_is call session run test load convert' -n '__rpcurl_unused --allow-unknown-fields' -l allow-unknown-fields -d 'Ignore unknown fields in the data'
complete -c rpcurl -n '__rpcurl_is call' -n '__rpcurl_unused --each' -l each -d 'Make one call for each message of the data: unary, or with a response stream'
complete -c rpcurl -n '__rpcurl_is call load' -n '__rpcurl_unused --rows' -l rows -r -F -d 'Make a call for each row of a CSV or NDJSON file: ${row.NAME} in -d and --set'
complete -c rpcurl -n '__rpcurl_is call test load' -n '__rpcurl_unused --jobs' -l jobs -x -d 'Maximum number of concurrent calls of --each'
complete -c rpcurl -n '__rpcurl_is call' -n '__rpcurl_unused --unordered' -l unordered -d 'Print responses of --each as they arrive, not in the order of the messages'
complete -c rpcurl -n '__rpcurl_is call test' -n '__rpcurl_unused --fail-early' -l fail-early -d 'Stop --each or --repeat at the first call that fails, or a run of suites at the first test'
complete -c rpcurl -n '__rpcurl_is call run test' -n '__rpcurl_unused --repeat' -l repeat -x -d 'Make the call, all calls of --each, or run the file or the suites, this many times'
complete -c rpcurl -n '__rpcurl_is call run test' -n '__rpcurl_unused --every' -l every -x -d 'Begin again this long after the last beginning; without --repeat, until Ctrl-C'
complete -c rpcurl -n '__rpcurl_is call session run test load proxy serve' -l use -x -a '(__rpcurl_ask use)' -d 'Add a built-in interceptor to the chain, in the order given'
complete -c rpcurl -n '__rpcurl_is call session run test load proxy serve' -l plugin -x -a '(__rpcurl_ask plugin)' -d 'Add a plugin to the chain, in the order given'
complete -c rpcurl -n '__rpcurl_is call session run test load proxy serve' -l script -x -a '(__rpcurl_ask script)' -d 'Add a script to the chain, in the order given'
complete -c rpcurl -n '__rpcurl_is call session run test load proxy serve' -l no-use -x -a '(__rpcurl_ask use)' -d 'Omit an interceptor or plugin of the configuration from the chain'
complete -c rpcurl -n '__rpcurl_is call session run test load proxy serve' -l attribute -x -d 'Set an attribute of the call, for its interceptors'
complete -c rpcurl -n '__rpcurl_is call session run proxy serve' -n '__rpcurl_unused --format' -l format -x -a 'pretty json text binary tsv csv events none sh curl grpcurl buf' -d 'Format of responses: pretty, json, text, binary, tsv, csv, events or none'
complete -c rpcurl -n '__rpcurl_is call session run convert proxy serve' -n '__rpcurl_unused --emit-defaults' -l emit-defaults -d 'Print fields that have their default value'
complete -c rpcurl -n '__rpcurl_is call session run convert proxy serve' -n '__rpcurl_unused --enum-numbers' -l enum-numbers -d 'Print enum values as numbers'
complete -c rpcurl -n '__rpcurl_is call session run convert proxy serve' -n '__rpcurl_unused --int64-numbers' -l int64-numbers -d 'Print 64-bit integers as numbers instead of strings'
complete -c rpcurl -n '__rpcurl_is call session run convert proxy serve' -n '__rpcurl_unused --bytes' -l bytes -x -a 'base64 hex text escape' -d 'Print bytes fields in JSON and of --filter as base64, hex, text or escape'
complete -c rpcurl -n '__rpcurl_is call session run convert proxy serve' -n '__rpcurl_unused --proto-names --keep-proto-names' -l proto-names -d 'Print field names as they are in the schema'
complete -c rpcurl -n '__rpcurl_is call session run convert proxy serve' -n '__rpcurl_unused --unknown-fields' -l unknown-fields -x -a 'show drop' -d 'For fields that the schema lacks: show or drop'
complete -c rpcurl -n '__rpcurl_is call convert' -l filter -x -a '(__rpcurl_ask filter)' -d 'Print only this field of each message, raw; several are columns'
complete -c rpcurl -n '__rpcurl_is call convert' -n '__rpcurl_unused --filter-missing' -l filter-missing -x -a 'fail null skip' -d 'For messages without the field of --filter: fail, null or skip'
complete -c rpcurl -n '__rpcurl_is call convert' -n '__rpcurl_unused --raw' -l raw -d 'With --filter, write the bytes of a bytes or string field'
complete -c rpcurl -n '__rpcurl_is call' -n '__rpcurl_unused --limit' -l limit -x -d 'End a stream after this many responses'
complete -c rpcurl -n '__rpcurl_is call export' -n '__rpcurl_unused -o --output' -s o -l output -r -F -d 'Write the output to this file'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy serve' -s v -l verbose -d 'Show metadata and requests on standard error, and the source of the schema; -vv also the connection'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy serve plugins-list plugins-check plugins-new trust completion version' -n '__rpcurl_unused --color --colour' -l color -x -a 'auto always never' -d 'Color output and errors: auto, always or never'
complete -c rpcurl -n '__rpcurl_is call session run' -n '__rpcurl_unused --timing' -l timing -d 'Print the times of the call on standard error'
complete -c rpcurl -n '__rpcurl_is call session run load proxy serve' -n '__rpcurl_unused --show-secrets' -l show-secrets -d 'Do not redact credentials in the output of -v and --explain'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy serve' -l redact -x -d 'Redact the header or attribute NAME in all output'
complete -c rpcurl -n '__rpcurl_is call' -n '__rpcurl_unused --explain' -l explain -d 'Dry run: print the resolved call, send nothing'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy serve plugins-list plugins-check plugins-new trust completion version' -n '__rpcurl_unused -s --silent' -s s -l silent -d 'Print no errors, warnings or progress on standard error'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy serve plugins-list plugins-check plugins-new trust completion version' -n '__rpcurl_unused -S --show-error' -s S -l show-error -d 'With -s, still print errors'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy serve plugins-list plugins-check plugins-new trust completion version' -n '__rpcurl_unused --error-format' -l error-format -x -a 'text json' -d 'Format of errors: text, or json with one object per line'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy serve' -n '__rpcurl_unused -K --config' -s K -l config -r -F -d 'Read options from this file only'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy serve' -n '__rpcurl_unused --profile' -l profile -x -a '(__rpcurl_ask profile)' -d 'Also read the options of this profile of the configuration files'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy serve plugins-list plugins-check plugins-new trust completion version' -n '__rpcurl_unused -h --help' -s h -l help -d 'Show help: -h for the common options, --help for all'
complete -c rpcurl -n '__rpcurl_is call session run test load list describe template export diff convert health check proxy serve plugins-list plugins-check plugins-new trust completion version' -n '__rpcurl_unused -V --version' -s V -l version -d 'Show the version'
complete -c rpcurl -n '__rpcurl_is test diff' -n '__rpcurl_unused --rules' -l rules -x -a 'FILE PACKAGE WIRE_JSON WIRE' -d 'Category of the rules: FILE, PACKAGE, WIRE_JSON or WIRE'
complete -c rpcurl -n '__rpcurl_is test diff' -l ignore -x -a '(__rpcurl_ask rule)' -d 'Do not report this rule, package, name, file or directory'
complete -c rpcurl -n '__rpcurl_is test diff' -n '__rpcurl_unused --ignore-unstable' -l ignore-unstable -d 'Do not report changes of unstable packages: v1alpha1, v1beta1, v1test'
complete -c rpcurl -n '__rpcurl_is test diff' -n '__rpcurl_unused --rules-from' -l rules-from -r -F -d 'Rules and exceptions of this buf.yaml'
complete -c rpcurl -n '__rpcurl_is test load' -l only -x -d 'Run only the tests whose name contains this, or with this tag as @TAG'
complete -c rpcurl -n '__rpcurl_is test load' -l skip -x -d 'Do not run these tests; PATTERN is that of --only'
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_unused --shuffle' -l shuffle -d 'Run the files, and the tests of each, in random order; --seed repeats an order'
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_unused --test-timeout' -l test-timeout -x -d 'Maximum time of each test, unless its suite has its own'
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_unused --step-timeout' -l step-timeout -x -d 'Maximum time of each step'
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_unused --total-timeout' -l total-timeout -x -d 'Maximum time of the run; then suites that run are stopped, with their teardowns'
complete -c rpcurl -n '__rpcurl_is test' -l report -x -a '(__rpcurl_ask report)' -d 'Write a report: terminal (the default), tap, junit, ndjson, html or github'
complete -c rpcurl -n '__rpcurl_is test' -l coverage -x -a '(__rpcurl_ask coverage)' -d 'Report what the tests exercise of the API: text, json, html or report'
complete -c rpcurl -n '__rpcurl_is test' -l coverage-of -x -d 'Count only this service or the services of this package'
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_unused --coverage-min' -l coverage-min -x -d 'Fail with exit code 8 if fewer methods are called'
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_unused --compare' -l compare -r -F -d 'Fail if an older schema is not compatible with what the tests exercise'
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_unused --update' -l update -d 'Write the golden files of checks instead of comparing them'
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_unused --record' -l record -x -a '(__fish_complete_directories)' -d 'Record the calls and the schema of each suite in this directory, for --replay'
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_unused --replay' -l replay -x -a '(__fish_complete_directories)' -d 'Respond to all calls with what --record has recorded in this directory, without a server'
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_unused --mock' -l mock -r -F -d 'Respond to calls with the stubs of this file, as --use mock,file=FILE does'
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_unused --list' -l list -d 'List the tests instead of running them: file, line, name and tags'
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_unused --check' -l check -d 'Check the files instead of running them, without a call'
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_unused --format-files' -l format-files -d 'Format the files instead of running them'
complete -c rpcurl -n '__rpcurl_is test' -n '__rpcurl_unused --rerun' -l rerun -d 'Run the suites, and again those whose files change, until Ctrl-C'
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_unused --rate' -l rate -x -d 'Start this number of calls per second, such as 200 or 0.5, at their due times'
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_unused --ramp' -l ramp -x -d 'Before the measured part, increase --rate, or --jobs without it, from 0 in this time'
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_unused --warm-up' -l warm-up -x -d 'Make calls for this time before the measured part, after --ramp'
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_unused --stages' -l stages -x -d 'Change the load in stages DURATION:TARGET with commas between, such as 30s:100,1m:500'
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_unused --duration' -l duration -x -d 'Length of the measured part'
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_unused --requests' -l requests -x -d 'End the run after this many measured calls'
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_unused --connections' -l connections -x -d 'Spread the calls evenly over this many connections'
complete -c rpcurl -n '__rpcurl_is load' -l threshold -x -a '(__rpcurl_ask threshold)' -d 'Exit with 8 unless these conditions hold, such as \'p99 < 50ms, errors < 0.1%\''
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_unused --compare' -l compare -r -F -d 'Exit with 8 if the run is slower than an earlier one, or has more errors'
complete -c rpcurl -n '__rpcurl_is load' -l tag -x -d 'Name the run in all reports'
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_unused --format' -l format -x -a 'text json csv' -d 'Format of the report: text, json or csv'
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_unused --html' -l html -r -F -d 'Also write the report as an HTML page with charts'
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_unused --hdr' -l hdr -r -F -d 'Also write the latencies as a log of HdrHistogram, in nanoseconds'
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_unused --raw' -l raw -r -F -d 'Also write each latency on a line, in nanoseconds'
complete -c rpcurl -n '__rpcurl_is load' -n '__rpcurl_unused --export' -l export -x -a 'k6' -d 'Print the same load as a script for k6 instead of making it'
complete -c rpcurl -n '__rpcurl_is list describe check plugins-list version' -n '__rpcurl_unused --format' -l format -x -a 'text json' -d 'Format of the output: text or json'
complete -c rpcurl -n '__rpcurl_is list' -l kind -x -a 'service method message field oneof enum value extension' -d 'List everything of this kind: service, method, message, field, oneof, enum, value or extension'
complete -c rpcurl -n '__rpcurl_is template' -n '__rpcurl_unused --comments' -l comments -d 'Explain each field on standard error: its type, enum values, other members of its oneof'
complete -c rpcurl -n '__rpcurl_is template' -n '__rpcurl_unused --response' -l response -d 'Print the response message of the method instead of its request'
complete -c rpcurl -n '__rpcurl_is export' -n '__rpcurl_unused --proto-dir' -l proto-dir -x -a '(__fish_complete_directories)' -d 'Write .proto files below this directory, each at the path of its name'
complete -c rpcurl -n '__rpcurl_is diff' -n '__rpcurl_unused --format' -l format -x -a 'text json github markdown' -d 'Format of the output: text, json, github or markdown'
complete -c rpcurl -n '__rpcurl_is diff' -n '__rpcurl_unused --against' -l against -r -F -d 'Compare NEW'
complete -c rpcurl -n '__rpcurl_is diff' -l only -x -d 'Report only this package, service, message or other name, and what it contains'
complete -c rpcurl -n '__rpcurl_is convert' -n '__rpcurl_unused --type' -l type -x -a '(__rpcurl_ask type)' -d 'Message type; any unique suffix of its name is accepted. Required, except with --no-schema'
complete -c rpcurl -n '__rpcurl_is convert' -n '__rpcurl_unused --from' -l from -x -a 'json text binary' -d 'Format of the input: json, text or binary. Required, except with --no-schema'
complete -c rpcurl -n '__rpcurl_is convert' -n '__rpcurl_unused --to' -l to -x -a 'json text binary tsv csv' -d 'Format of the output: json, text, binary, tsv or csv. Required, except with --no-schema'
complete -c rpcurl -n '__rpcurl_is convert' -n '__rpcurl_unused --no-schema' -l no-schema -d 'Print binary input without a schema: numbers of fields, and all types that a value can have'
complete -c rpcurl -n '__rpcurl_is convert' -n '__rpcurl_unused --delimited' -l delimited -d 'Read and write a stream of messages'
complete -c rpcurl -n '__rpcurl_is convert' -n '__rpcurl_unused --pretty' -l pretty -d 'Print JSON over several lines'
complete -c rpcurl -n '__rpcurl_is convert' -n '__rpcurl_unused --no-unknown-fields' -l no-unknown-fields -d 'The same as --unknown-fields drop'
complete -c rpcurl -n '__rpcurl_is convert' -n '__rpcurl_unused --allow-partial' -l allow-partial -d 'Accept messages without their required fields'
complete -c rpcurl -n '__rpcurl_is health' -n '__rpcurl_unused --watch' -l watch -d 'Print each change of the status, until the stream ends'
complete -c rpcurl -n '__rpcurl_is proxy serve' -n '__rpcurl_unused --listen' -l listen -x -d 'Where to listen; port 0 is any free port, which is printed'
complete -c rpcurl -n '__rpcurl_is proxy serve' -n '__rpcurl_unused --listen-cert' -l listen-cert -r -F -d 'Listen with TLS: the certificate chain (PEM); new:FILE makes one'
complete -c rpcurl -n '__rpcurl_is proxy serve' -n '__rpcurl_unused --listen-key' -l listen-key -r -F -d 'Key of the certificate of --listen-cert, if it is in another file'
complete -c rpcurl -n '__rpcurl_is proxy serve' -l listen-name -x -d 'Another name by which clients reach this address'
complete -c rpcurl -n '__rpcurl_is proxy serve' -l allow-origin -x -d 'Let pages of this origin make calls in a browser; * lets all'
complete -c rpcurl -n '__rpcurl_is proxy serve' -n '__rpcurl_unused --save-suite' -l save-suite -r -F -d 'At the end, write the calls as a suite for rpcurl test'
complete -c rpcurl -n '__rpcurl_is proxy serve' -n '__rpcurl_unused --interactive' -l interactive -d 'Hold calls at break points, with a prompt to look, change, fail or respond'
complete -c rpcurl -n '__rpcurl_is proxy serve' -l break -x -d 'Break point of --interactive: [request|response] METHOD [where CONDITION]'
complete -c rpcurl -n '__rpcurl_is serve' -n '__rpcurl_unused --default' -l default -d 'Respond with plausible values if no interceptor responds'
complete -c rpcurl -n '__rpcurl_is plugins-check' -n '__rpcurl_unused --method' -l method -x -d 'Call this method of the schema, with every field set'
complete -c rpcurl -n '__rpcurl_is plugins-check' -n '__rpcurl_unused --call-time' -l call-time -x -d 'Time limit of each call'
complete -c rpcurl -n '__rpcurl_is plugins-new' -n '__rpcurl_unused --lang' -l lang -x -a 'c cpp swift rust python js sh' -d 'Language: c, cpp, swift or rust; of a script: python, js or sh'
complete -c rpcurl -n '__rpcurl_is plugins-new' -n '__rpcurl_unused --dir' -l dir -x -a '(__fish_complete_directories)' -d 'Directory to write to'
complete -c rpcurl -n '__rpcurl_is trust' -n '__rpcurl_unused --list' -l list -d 'List the trusted files, and those that changed or were removed since'
complete -c rpcurl -n '__rpcurl_is trust' -n '__rpcurl_unused --revoke' -l revoke -d 'Do not trust the file any more'
