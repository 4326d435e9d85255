/** Shells that can be taught to complete. */
export type Shell = 'bash' | 'zsh' | 'fish'

/** What a shell reads to complete the command lines of `coracle`: each asks `coracle __complete` and offers its answer. */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: String.raw`# bash completion for coracle
_coracle() {
  local line="${'$'}{COMP_LINE:0:COMP_POINT}" out directive current broken='' candidate
  local words=()
  COMPREPLY=()
  read -r -a words <<< "$line"
  if [[ "$line" == *[[:space:]] ]]; then words+=(''); fi
  current="${'$'}{words[${'$'}{#words[@]}-1]}"
  out="$("${'$'}{words[0]}" __complete "${'$'}{words[@]:1}" 2>/dev/null)" || return 0
  directive="${'$'}{out##*:}"
  out="${'$'}{out%:*}"
  # Of a word in which = or : stand bash replaces only what follows the last of them.
  case "$current" in *[=:]*) broken="${'$'}{current%"${'$'}{current##*[=:]}"}" ;; esac
  while IFS=$'\t' read -r candidate _; do
    if [[ -n "$candidate" ]]; then COMPREPLY+=("${'$'}{candidate#"$broken"}"); fi
  done <<< "$out"
  case "${'$'}{COMPREPLY[0]-}" in *=) directive=$((directive | 2)) ;; esac
  if ((directive & 2)); then compopt -o nospace 2>/dev/null; fi
  if ((!(directive & 4))); then compopt -o default 2>/dev/null; fi
}
complete -F _coracle coracle
`,
  zsh: String.raw`#compdef coracle
_coracle() {
  local out line name description directive
  local -a lines candidates
  out="$("${'$'}{words[1]}" __complete "${'$'}{(@)words[2,CURRENT]}" 2>/dev/null)" || return
  lines=("${'$'}{(@f)out}")
  directive="${'$'}{lines[-1]#:}"
  for line in "${'$'}{(@)lines[1,-2]}"; do
    [[ -z "$line" ]] && continue
    name="${'$'}{line%%$'\t'*}"
    description="${'$'}{line#*$'\t'}"
    [[ "$description" == "$line" ]] && description=''
    candidates+=("${'$'}{name//:/\\:}${'$'}{description:+:$description}")
  done
  if ((${'$'}{#candidates})); then
    if ((directive & 2)) || [[ "${'$'}{name}" == *= ]]; then
      _describe 'coracle' candidates -S ''
    else
      _describe 'coracle' candidates
    fi
  elif ((!(directive & 4))); then
    _files
  fi
}
if [[ "${'$'}{funcstack[1]}" == '_coracle' ]]; then
  _coracle
else
  compdef _coracle coracle
fi
`,
  fish: String.raw`# fish completion for coracle
function __coracle_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    test (count $lines) -gt 0; or return
    set -l directive (string replace ':' '' -- $lines[-1])
    if test (count $lines) -gt 1
        printf '%s\n' $lines[1..-2]
    else if test (math "$directive % 8") -lt 4
        __fish_complete_path "$current"
    end
end
complete -c coracle -f -a '(__coracle_complete)'
`,
}
