export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * Each script asks `unacked __complete` what may stand at the cursor. It answers one candidate a line, and `:files` last
 * where a file may stand. So the scripts need not change when the commands do.
 */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  // Bash takes : and = for the ends of words, so what stands before the last of them must not be offered again.
  bash: `# unacked: eval "$(unacked completion bash)"
_unacked() {
  local line="\${COMP_LINE:0:COMP_POINT}" found current head
  local -a words
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  current="\${words[\${#words[@]}-1]}"
  head="\${current%"\${current##*[:=]}"}"
  found="$(unacked __complete -- "\${words[@]:1}" 2>/dev/null)" || return 0
  if [[ "$found" == *":files" ]]; then
    compopt -o default
    COMPREPLY=()
    return 0
  fi
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$found" -- "$current"))
  COMPREPLY=("\${COMPREPLY[@]#"$head"}")
  [[ "\${COMPREPLY[0]}" == *= ]] && compopt -o nospace
  return 0
}
complete -F _unacked unacked
`,
  zsh: `#compdef unacked
# unacked: source <(unacked completion zsh)
_unacked() {
  local -a found
  found=("\${(@f)$(unacked __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "\${found[-1]}" == ":files" ]]; then
    _files
  elif [[ "\${found[1]}" == *= ]]; then
    compadd -S '' -a found
  else
    compadd -a found
  fi
}
(( $+functions[compdef] )) && compdef _unacked unacked
`,
  fish: `# unacked: unacked completion fish | source
function __unacked_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (unacked __complete -- $words[2..-1] 2>/dev/null)
    if test "$found[-1]" = ":files"
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $found
    end
end
complete -c unacked -f -a '(__unacked_complete)'
`,
};
