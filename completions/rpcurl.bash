#!/bin/bash

__rpcurl_cursor_index_in_current_word() {
    local remaining="${COMP_LINE}"

    local word
    for word in "${COMP_WORDS[@]::COMP_CWORD}"; do
        remaining="${remaining##*([[:space:]])"${word}"*([[:space:]])}"
    done

    local -ir index="$((COMP_POINT - ${#COMP_LINE} + ${#remaining}))"
    if [[ "${index}" -le 0 ]]; then
        printf 0
    else
        printf %s "${index}"
    fi
}

# positional arguments:
#
# - 1: the current (sub)command's count of positional arguments
#
# required variables:
#
# - repeating_flags: the repeating flags that the current (sub)command can accept
# - non_repeating_flags: the non-repeating flags that the current (sub)command can accept
# - repeating_options: the repeating options that the current (sub)command can accept
# - non_repeating_options: the non-repeating options that the current (sub)command can accept
# - positional_number: value ignored
# - unparsed_words: unparsed words from the current command line
#
# modified variables:
#
# - non_repeating_flags: remove flags for this (sub)command that are already on the command line
# - non_repeating_options: remove options for this (sub)command that are already on the command line
# - positional_number: set to the current positional number
# - unparsed_words: remove all flags, options, and option values for this (sub)command
__rpcurl_offer_flags_options() {
    local -ir positional_count="${1}"
    positional_number=0

    local was_flag_option_terminator_seen=false
    local is_parsing_option_value=false

    local -ar unparsed_word_indices=("${!unparsed_words[@]}")
    local -i word_index
    for word_index in "${unparsed_word_indices[@]}"; do
        if "${is_parsing_option_value}"; then
            # This word is an option value:
            # Reset marker for next word iff not currently the last word
            [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]] && is_parsing_option_value=false
            unset "unparsed_words[${word_index}]"
            # Do not process this word as a flag or an option
            continue
        fi

        local word="${unparsed_words["${word_index}"]}"
        if ! "${was_flag_option_terminator_seen}"; then
            case "${word}" in
            --)
                unset "unparsed_words[${word_index}]"
                # by itself -- is a flag/option terminator, but if it is the last word, it is the start of a completion
                if [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]]; then
                    was_flag_option_terminator_seen=true
                fi
                continue
                ;;
            -*)
                # ${word} is a flag or an option
                # If ${word} is an option, mark that the next word to be parsed is an option value
                local option
                for option in "${repeating_options[@]}" "${non_repeating_options[@]}"; do
                    [[ "${word}" = "${option}" ]] && is_parsing_option_value=true && break
                done

                # Remove ${word} from ${non_repeating_flags} or ${non_repeating_options} so it isn't offered again
                local not_found=true
                local -i index
                for index in "${!non_repeating_flags[@]}"; do
                    if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                        unset "non_repeating_flags[${index}]"
                        non_repeating_flags=("${non_repeating_flags[@]}")
                        not_found=false
                        break
                    fi
                done
                if "${not_found}"; then
                    for index in "${!non_repeating_flags[@]}"; do
                        if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                            unset "non_repeating_flags[${index}]"
                            non_repeating_flags=("${non_repeating_flags[@]}")
                            break
                        fi
                    done
                fi
                unset "unparsed_words[${word_index}]"
                continue
                ;;
            esac
        fi

        # ${word} is neither a flag, nor an option, nor an option value
        if [[ "${positional_number}" -lt "${positional_count}" || "${positional_count}" -lt 0 ]]; then
            # ${word} is a positional
            ((positional_number++))
            unset "unparsed_words[${word_index}]"
        else
            if [[ -z "${word}" ]]; then
                # Could be completing a flag, option, or subcommand
                positional_number=-1
            else
                # ${word} is a subcommand or invalid, so stop processing this (sub)command
                positional_number=-2
            fi
            break
        fi
    done

    unparsed_words=("${unparsed_words[@]}")

    if\
        ! "${was_flag_option_terminator_seen}"\
        && ! "${is_parsing_option_value}"\
        && [[ ("${cur}" = -* && "${positional_number}" -ge 0) || "${positional_number}" -eq -1 ]]
    then
        COMPREPLY+=($(compgen -W "${repeating_flags[*]} ${non_repeating_flags[*]} ${repeating_options[*]} ${non_repeating_options[*]}" -- "${cur}"))
    fi
}

__rpcurl_add_completions() {
    local completion
    while IFS='' read -r completion; do
        COMPREPLY+=("${completion}")
    done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
}

__rpcurl_custom_complete() {
    if [[ -n "${cur}" || -z ${COMP_WORDS[${COMP_CWORD}]} || "${COMP_LINE:${COMP_POINT}:1}" != ' ' ]]; then
        local -ar words=("${COMP_WORDS[@]}")
    else
        local -ar words=("${COMP_WORDS[@]::${COMP_CWORD}}" '' "${COMP_WORDS[@]:${COMP_CWORD}}")
    fi

    "${COMP_WORDS[0]}" "${@}" "${words[@]}"
}

_rpcurl() {
    local state
    state="$(shopt -p;shopt -po)"
    trap "${state//$'\n'/;}" RETURN
    shopt -s extglob
    set +o history +o posix

    local -xr SAP_SHELL=bash
    local -x SAP_SHELL_VERSION
    SAP_SHELL_VERSION="$(IFS='.';printf %s "${BASH_VERSINFO[*]}")"
    local -r SAP_SHELL_VERSION

    local -r cur="${2}"
    local -r prev="${3}"

    local -i positional_number
    local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")

    local -a repeating_flags=()
    local -a non_repeating_flags=(--version -h --help)
    local -a repeating_options=()
    local -a non_repeating_options=()
    __rpcurl_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    call|list|describe|template|export|convert|plugins|version|help)
        # Offer subcommand argument completions
        "_rpcurl_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'call list describe template export convert plugins version help' -- "${cur}"))
        ;;
    esac
}

_rpcurl_call() {
    repeating_flags=(-v --verbose)
    non_repeating_flags=(--reflect --no-reflect --no-cache --plaintext -k --insecure --tlsv1.2 --tlsv1.3 --http1.1 --http2 --http2-prior-knowledge --http3 --connect-get --expand-headers -n --netrc --each --fail-early --emit-defaults --enum-numbers --proto-names --allow-unknown-fields --timing --show-secrets --explain -s --silent -S --show-error --version -h --help)
    repeating_options=(--descriptor-set --protoset --proto -I --import-path --reflect-header --resolve -d --data -H --header --rpc-header --use --plugin)
    non_repeating_options=(--reflect-version --cacert --capath -E --cert --key --pass --servername --authority --unix-socket --proxy --connect-timeout --keepalive-time --protocol --codec --compression --accept-compression --data-format -u --user --bearer --netrc-file -A --user-agent --max-time --max-message-size --jobs --format --filter -o --output --color --error-format --config --profile)
    __rpcurl_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--descriptor-set'|'--protoset')
        return
        ;;
    '--proto')
        return
        ;;
    '-I'|'--import-path')
        return
        ;;
    '--reflect-version')
        __rpcurl_add_completions -W 'v1'$'\n''v1alpha'
        return
        ;;
    '--reflect-header')
        return
        ;;
    '--cacert')
        return
        ;;
    '--capath')
        return
        ;;
    '-E'|'--cert')
        return
        ;;
    '--key')
        return
        ;;
    '--pass')
        return
        ;;
    '--servername')
        return
        ;;
    '--authority')
        return
        ;;
    '--unix-socket')
        return
        ;;
    '--proxy')
        return
        ;;
    '--resolve')
        return
        ;;
    '--connect-timeout')
        return
        ;;
    '--keepalive-time')
        return
        ;;
    '--protocol')
        __rpcurl_add_completions -W 'grpc'$'\n''grpc-web'$'\n''connect'
        return
        ;;
    '--codec')
        __rpcurl_add_completions -W 'proto'$'\n''json'
        return
        ;;
    '--compression')
        __rpcurl_add_completions -W 'identity'$'\n''gzip'$'\n''deflate'$'\n''br'$'\n''zstd'
        return
        ;;
    '--accept-compression')
        return
        ;;
    '-d'|'--data')
        return
        ;;
    '--data-format')
        __rpcurl_add_completions -W 'json'$'\n''text'$'\n''binary'
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '--rpc-header')
        return
        ;;
    '-u'|'--user')
        return
        ;;
    '--bearer')
        return
        ;;
    '--netrc-file')
        return
        ;;
    '-A'|'--user-agent')
        return
        ;;
    '--max-time')
        return
        ;;
    '--max-message-size')
        return
        ;;
    '--jobs')
        return
        ;;
    '--use')
        return
        ;;
    '--plugin')
        return
        ;;
    '--format')
        __rpcurl_add_completions -W 'pretty'$'\n''json'$'\n''text'$'\n''binary'$'\n''events'$'\n''none'
        return
        ;;
    '--filter')
        return
        ;;
    '-o'|'--output')
        return
        ;;
    '--color')
        __rpcurl_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    '--error-format')
        __rpcurl_add_completions -W 'text'$'\n''json'
        return
        ;;
    '--config')
        return
        ;;
    '--profile')
        return
        ;;
    esac
}

_rpcurl_list() {
    repeating_flags=(-v --verbose)
    non_repeating_flags=(--reflect --no-reflect --no-cache --plaintext -k --insecure --tlsv1.2 --tlsv1.3 --http1.1 --http2 --http2-prior-knowledge --http3 --expand-headers -n --netrc -s --silent -S --show-error --version -h --help)
    repeating_options=(--descriptor-set --protoset --proto -I --import-path --reflect-header --resolve -H --header --kind)
    non_repeating_options=(--reflect-version --cacert --capath -E --cert --key --pass --servername --authority --unix-socket --proxy --connect-timeout --keepalive-time --protocol -u --user --bearer --netrc-file -A --user-agent --max-time --config --profile --error-format --format)
    __rpcurl_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--descriptor-set'|'--protoset')
        return
        ;;
    '--proto')
        return
        ;;
    '-I'|'--import-path')
        return
        ;;
    '--reflect-version')
        __rpcurl_add_completions -W 'v1'$'\n''v1alpha'
        return
        ;;
    '--reflect-header')
        return
        ;;
    '--cacert')
        return
        ;;
    '--capath')
        return
        ;;
    '-E'|'--cert')
        return
        ;;
    '--key')
        return
        ;;
    '--pass')
        return
        ;;
    '--servername')
        return
        ;;
    '--authority')
        return
        ;;
    '--unix-socket')
        return
        ;;
    '--proxy')
        return
        ;;
    '--resolve')
        return
        ;;
    '--connect-timeout')
        return
        ;;
    '--keepalive-time')
        return
        ;;
    '--protocol')
        __rpcurl_add_completions -W 'grpc'$'\n''grpc-web'$'\n''connect'
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '-u'|'--user')
        return
        ;;
    '--bearer')
        return
        ;;
    '--netrc-file')
        return
        ;;
    '-A'|'--user-agent')
        return
        ;;
    '--max-time')
        return
        ;;
    '--config')
        return
        ;;
    '--profile')
        return
        ;;
    '--error-format')
        __rpcurl_add_completions -W 'text'$'\n''json'
        return
        ;;
    '--kind')
        __rpcurl_add_completions -W 'service'$'\n''method'$'\n''message'$'\n''field'$'\n''oneof'$'\n''enum'$'\n''value'$'\n''extension'
        return
        ;;
    '--format')
        __rpcurl_add_completions -W 'text'$'\n''json'
        return
        ;;
    esac
}

_rpcurl_describe() {
    repeating_flags=(-v --verbose)
    non_repeating_flags=(--reflect --no-reflect --no-cache --plaintext -k --insecure --tlsv1.2 --tlsv1.3 --http1.1 --http2 --http2-prior-knowledge --http3 --expand-headers -n --netrc -s --silent -S --show-error --version -h --help)
    repeating_options=(--descriptor-set --protoset --proto -I --import-path --reflect-header --resolve -H --header)
    non_repeating_options=(--reflect-version --cacert --capath -E --cert --key --pass --servername --authority --unix-socket --proxy --connect-timeout --keepalive-time --protocol -u --user --bearer --netrc-file -A --user-agent --max-time --config --profile --error-format --format)
    __rpcurl_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--descriptor-set'|'--protoset')
        return
        ;;
    '--proto')
        return
        ;;
    '-I'|'--import-path')
        return
        ;;
    '--reflect-version')
        __rpcurl_add_completions -W 'v1'$'\n''v1alpha'
        return
        ;;
    '--reflect-header')
        return
        ;;
    '--cacert')
        return
        ;;
    '--capath')
        return
        ;;
    '-E'|'--cert')
        return
        ;;
    '--key')
        return
        ;;
    '--pass')
        return
        ;;
    '--servername')
        return
        ;;
    '--authority')
        return
        ;;
    '--unix-socket')
        return
        ;;
    '--proxy')
        return
        ;;
    '--resolve')
        return
        ;;
    '--connect-timeout')
        return
        ;;
    '--keepalive-time')
        return
        ;;
    '--protocol')
        __rpcurl_add_completions -W 'grpc'$'\n''grpc-web'$'\n''connect'
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '-u'|'--user')
        return
        ;;
    '--bearer')
        return
        ;;
    '--netrc-file')
        return
        ;;
    '-A'|'--user-agent')
        return
        ;;
    '--max-time')
        return
        ;;
    '--config')
        return
        ;;
    '--profile')
        return
        ;;
    '--error-format')
        __rpcurl_add_completions -W 'text'$'\n''json'
        return
        ;;
    '--format')
        __rpcurl_add_completions -W 'text'$'\n''json'
        return
        ;;
    esac
}

_rpcurl_template() {
    repeating_flags=(-v --verbose)
    non_repeating_flags=(--reflect --no-reflect --no-cache --plaintext -k --insecure --tlsv1.2 --tlsv1.3 --http1.1 --http2 --http2-prior-knowledge --http3 --expand-headers -n --netrc -s --silent -S --show-error --comments --response --version -h --help)
    repeating_options=(--descriptor-set --protoset --proto -I --import-path --reflect-header --resolve -H --header)
    non_repeating_options=(--reflect-version --cacert --capath -E --cert --key --pass --servername --authority --unix-socket --proxy --connect-timeout --keepalive-time --protocol -u --user --bearer --netrc-file -A --user-agent --max-time --config --profile --error-format)
    __rpcurl_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--descriptor-set'|'--protoset')
        return
        ;;
    '--proto')
        return
        ;;
    '-I'|'--import-path')
        return
        ;;
    '--reflect-version')
        __rpcurl_add_completions -W 'v1'$'\n''v1alpha'
        return
        ;;
    '--reflect-header')
        return
        ;;
    '--cacert')
        return
        ;;
    '--capath')
        return
        ;;
    '-E'|'--cert')
        return
        ;;
    '--key')
        return
        ;;
    '--pass')
        return
        ;;
    '--servername')
        return
        ;;
    '--authority')
        return
        ;;
    '--unix-socket')
        return
        ;;
    '--proxy')
        return
        ;;
    '--resolve')
        return
        ;;
    '--connect-timeout')
        return
        ;;
    '--keepalive-time')
        return
        ;;
    '--protocol')
        __rpcurl_add_completions -W 'grpc'$'\n''grpc-web'$'\n''connect'
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '-u'|'--user')
        return
        ;;
    '--bearer')
        return
        ;;
    '--netrc-file')
        return
        ;;
    '-A'|'--user-agent')
        return
        ;;
    '--max-time')
        return
        ;;
    '--config')
        return
        ;;
    '--profile')
        return
        ;;
    '--error-format')
        __rpcurl_add_completions -W 'text'$'\n''json'
        return
        ;;
    esac
}

_rpcurl_export() {
    repeating_flags=(-v --verbose)
    non_repeating_flags=(--reflect --no-reflect --no-cache --plaintext -k --insecure --tlsv1.2 --tlsv1.3 --http1.1 --http2 --http2-prior-knowledge --http3 --expand-headers -n --netrc -s --silent -S --show-error --version -h --help)
    repeating_options=(--descriptor-set --protoset --proto -I --import-path --reflect-header --resolve -H --header)
    non_repeating_options=(--reflect-version --cacert --capath -E --cert --key --pass --servername --authority --unix-socket --proxy --connect-timeout --keepalive-time --protocol -u --user --bearer --netrc-file -A --user-agent --max-time --config --profile --error-format -o --output)
    __rpcurl_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--descriptor-set'|'--protoset')
        return
        ;;
    '--proto')
        return
        ;;
    '-I'|'--import-path')
        return
        ;;
    '--reflect-version')
        __rpcurl_add_completions -W 'v1'$'\n''v1alpha'
        return
        ;;
    '--reflect-header')
        return
        ;;
    '--cacert')
        return
        ;;
    '--capath')
        return
        ;;
    '-E'|'--cert')
        return
        ;;
    '--key')
        return
        ;;
    '--pass')
        return
        ;;
    '--servername')
        return
        ;;
    '--authority')
        return
        ;;
    '--unix-socket')
        return
        ;;
    '--proxy')
        return
        ;;
    '--resolve')
        return
        ;;
    '--connect-timeout')
        return
        ;;
    '--keepalive-time')
        return
        ;;
    '--protocol')
        __rpcurl_add_completions -W 'grpc'$'\n''grpc-web'$'\n''connect'
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '-u'|'--user')
        return
        ;;
    '--bearer')
        return
        ;;
    '--netrc-file')
        return
        ;;
    '-A'|'--user-agent')
        return
        ;;
    '--max-time')
        return
        ;;
    '--config')
        return
        ;;
    '--profile')
        return
        ;;
    '--error-format')
        __rpcurl_add_completions -W 'text'$'\n''json'
        return
        ;;
    '-o'|'--output')
        return
        ;;
    esac
}

_rpcurl_convert() {
    repeating_flags=()
    non_repeating_flags=(--delimited --pretty --emit-defaults --enum-numbers --proto-names --allow-unknown-fields --allow-partial -s --silent -S --show-error --version -h --help)
    repeating_options=(--descriptor-set --protoset --proto -I --import-path)
    non_repeating_options=(--type --from --to --error-format)
    __rpcurl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--descriptor-set'|'--protoset')
        return
        ;;
    '--proto')
        return
        ;;
    '-I'|'--import-path')
        return
        ;;
    '--type')
        return
        ;;
    '--from')
        __rpcurl_add_completions -W 'json'$'\n''text'$'\n''binary'
        return
        ;;
    '--to')
        __rpcurl_add_completions -W 'json'$'\n''text'$'\n''binary'
        return
        ;;
    '--error-format')
        __rpcurl_add_completions -W 'text'$'\n''json'
        return
        ;;
    esac
}

_rpcurl_plugins() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __rpcurl_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    list|check|new)
        # Offer subcommand argument completions
        "_rpcurl_plugins_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'list check new' -- "${cur}"))
        ;;
    esac
}

_rpcurl_plugins_list() {
    repeating_flags=()
    non_repeating_flags=(-s --silent -S --show-error --version -h --help)
    repeating_options=()
    non_repeating_options=(--format --error-format)
    __rpcurl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--format')
        __rpcurl_add_completions -W 'text'$'\n''json'
        return
        ;;
    '--error-format')
        __rpcurl_add_completions -W 'text'$'\n''json'
        return
        ;;
    esac
}

_rpcurl_plugins_check() {
    repeating_flags=()
    non_repeating_flags=(-s --silent -S --show-error --version -h --help)
    repeating_options=()
    non_repeating_options=(--call-time --error-format)
    __rpcurl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--call-time')
        return
        ;;
    '--error-format')
        __rpcurl_add_completions -W 'text'$'\n''json'
        return
        ;;
    esac
}

_rpcurl_plugins_new() {
    repeating_flags=()
    non_repeating_flags=(-s --silent -S --show-error --version -h --help)
    repeating_options=()
    non_repeating_options=(--lang --dir --error-format)
    __rpcurl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--lang')
        __rpcurl_add_completions -W 'c'$'\n''swift'
        return
        ;;
    '--dir')
        return
        ;;
    '--error-format')
        __rpcurl_add_completions -W 'text'$'\n''json'
        return
        ;;
    esac
}

_rpcurl_version() {
    repeating_flags=()
    non_repeating_flags=(-s --silent -S --show-error --version -h --help)
    repeating_options=()
    non_repeating_options=(--error-format)
    __rpcurl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--error-format')
        __rpcurl_add_completions -W 'text'$'\n''json'
        return
        ;;
    esac
}

_rpcurl_help() {
    repeating_flags=()
    non_repeating_flags=(--version)
    repeating_options=()
    non_repeating_options=()
    __rpcurl_offer_flags_options -1
}

complete -o filenames -F _rpcurl rpcurl
