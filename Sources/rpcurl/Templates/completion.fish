# Completion of rpcurl for fish, which `rpcurl completion fish` prints.

# Whether an option of a command has a value.
function __rpcurl_has_value
    switch $argv[1]
@VALUED@
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
    set -g __rpcurl_command @DEFAULT@
    set -g __rpcurl_used
    set -g __rpcurl_words
    set -l index 2
    if set -q tokens[2]; and contains -- $tokens[2] @COMMANDS@
        set __rpcurl_command $tokens[2]
        set index 3
        switch $tokens[2]
@NESTED@
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
@COMPLETE@
