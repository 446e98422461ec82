#compdef rpcurl
# Completion of rpcurl for zsh, for a directory of $fpath; `rpcurl completion zsh` prints it, also for `source`.

@FUNCTIONS@
# Runs rpcurl, which prints candidates with descriptions.
_rpcurl_ask() {
  local kind=$1 program=$_rpcurl_program candidate description stem
  # The word without quotes, of which one may be open.
  local typed=${(Q):-$compstate[quote]$PREFIX$compstate[quote]}
  local -a lines spaced joined asked places
  (( $+commands[$program] )) || [[ -x $program ]] || program=rpcurl
  asked=("${(@)_rpcurl_words}")
  places=("${(@Q)line}")
  # The word at the cursor is not an argument yet.
  case $kind in
    target) places=() ;;
    method) places=("${places[1]}") ;;
    *) [[ $2 == place ]] && places=("${(@)places[1,-2]}") ;;
  esac
  lines=("${(@f)$(_call_program $kind ${(q)program} complete ${(q)kind} "${(qq)typed}" "${(qq)places[1]}" "${(qq)places[2]}" "${(@qq)asked}" 2>/dev/null)}")
  [[ $kind == (use|plugin) && $typed == *,* ]] && compset -P '*,' && stem=${typed%"${typed##*,}"}
  for candidate in $lines; do
    description=${candidate#*$'\t'} candidate=${candidate%%$'\t'*}
    candidate=${candidate#"$stem"}
    if [[ $kind == (use|plugin) || $candidate == *[/=.:,@\(\[\}\ ] ]]; then
      joined+=("${candidate//:/\\:}:$description")
    else
      spaced+=("${candidate//:/\\:}:$description")
    fi
  done
  # Names may begin with what is typed in another case.
  local ret=1
  local -a match=(-M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}')
  (( $#spaced )) && _describe -t $kind $kind spaced $match && ret=0
  (( $#joined )) && _describe -t $kind $kind joined -S '' $match && ret=0
  return ret
}

_rpcurl_at() {
  if compset -P @; then _files; else _rpcurl_ask $1; fi
}

_rpcurl() {
  local curcontext=$curcontext _rpcurl_program=${(Q)words[1]} default= command=@DEFAULT@
  local -a commands_of_rpcurl nested _rpcurl_words line
  local -A opt_args
  # All words except the one at the cursor.
  _rpcurl_words=("${(@Q)words[2,CURRENT-1]}" "${(@Q)words[CURRENT+1,-1]}")
  commands_of_rpcurl=(
@COMMANDS@
  )
  if (( CURRENT > 2 )) && (( ${commands_of_rpcurl[(I)${words[2]}:*]} )); then
    command=$words[2]
    shift words
    (( CURRENT-- ))
  elif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe -t commands command commands_of_rpcurl
  fi
  case $command in
@NESTED@
    help)
      (( CURRENT == 2 )) && _describe -t commands command commands_of_rpcurl
      return ;;
  esac
  if (( $#nested )); then
    if (( CURRENT > 2 )) && (( ${nested[(I)${words[2]}:*]} )); then
      command+=_$words[2]
      shift words
      (( CURRENT-- ))
    else
      (( CURRENT == 2 )) && [[ $words[2] != -* ]] && _describe -t commands command nested
      command+=_$default
    fi
  fi
  curcontext=${curcontext%:*:*}:rpcurl-$command:
  _rpcurl_$command
}

# A file of $fpath is the body of the function.
if [[ $funcstack[1] == _rpcurl ]]; then _rpcurl "$@"; else compdef _rpcurl rpcurl; fi
