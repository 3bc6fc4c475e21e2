/**
 * Generates completion scripts for shells. A script contains tables of all commands, and shell code that searches these
 * tables.
 */
import type { Node, Values, Word } from './tree.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * Returns a script that already contains every command and option, because starting `mex` for each completion would
 * take a second. At run time, the script reads only the party names, from dev.json.
 */
export function completionScript(shell: Shell, tree: Node[]): string {
  return { bash, zsh, fish }[shell](tree);
}

/** One row of a table: the path of a command, and the words to suggest after that path. */
type Row = [key: string, words: Word[]];

function wordRows(tree: Node[]): Row[] {
  return tree.map((node) => [node.path, [...node.commands, ...node.options]]);
}

/**
 * Returns the possible values of options and arguments. The key is `path --option`, or `path 1` for the first argument.
 */
function valueRows(tree: Node[]): [key: string, values: Values][] {
  return tree.flatMap((node) => [
    ...node.options.flatMap(({ word, value }) =>
      value ? [[`${node.path} ${word}`, value] as [string, Values]] : [],
    ),
    ...node.arguments.map((values, i): [string, Values] => [`${node.path} ${i + 1}`, values]),
  ]);
}

const lines = <R>(rows: R[], line: (row: R) => string) => rows.map(line).join('\n');
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const words = (list: Word[]) => list.map(({ word }) => word).join(' ');

function shellValue(values: Values): string {
  if (values === 'file') return '@file';
  if (values === 'anything') return '@anything';
  return 'choices' in values ? values.choices.join(' ') : `@party ${values.parties}`.trimEnd();
}

/**
 * Returns a shell command that prints the party names in dev.json. `sed` can extract them because each name is on its
 * own line. It skips texts with other characters than those of names, because bash would expand them.
 */
const partyNames = (prefix: string) =>
  `sed -n 's|^ *"name": "\\('"${prefix}"'[A-Za-z0-9_/-]*\\)".*|\\1|p' "\${MEX_DATA_DIR:-.mex}/dev.json" 2>/dev/null`;

const posixTables = (tree: Node[]) => `_mex_words() {
  case "$1" in
${lines(wordRows(tree), ([path, list]) => `    ${quote(path)}) echo ${quote(words(list))} ;;`)}
  esac
}
_mex_values() {
  case "$1" in
${lines(valueRows(tree), ([key, values]) => `    ${quote(key)}) echo ${quote(shellValue(values))} ;;`)}
  esac
}
_mex_parties() { ${partyNames('$1')}; }
# Where we are: the command in $_mex_path, the number of its arguments so far in $_mex_count, and in $_mex_option
# the option whose value comes next.
_mex_walk() {
  _mex_path='' _mex_count=0 _mex_option=''
  local word
  for word in "$@"; do
    if [ -n "$_mex_option" ]; then
      _mex_option=''
    elif [ "\${word#-}" != "$word" ]; then
      [ -n "$(_mex_values "$_mex_path $word")" ] && _mex_option="$word"
    else
      case " $(_mex_words "$_mex_path") " in
        *" $word "*) _mex_path="\${_mex_path:+$_mex_path }$word" ;;
        *) _mex_count=$((_mex_count + 1)) ;;
      esac
    fi
  done
  return 0
}
# What fits there: words, @file, @anything or @party with the beginning of the name.
_mex_candidates() {
  if [ -n "$_mex_option" ]; then
    _mex_values "$_mex_path $_mex_option"
  elif [ "\${1#-}" != "$1" ]; then
    _mex_words "$_mex_path"
  else
    local values="$(_mex_values "$_mex_path $((_mex_count + 1))")"
    echo "\${values:-$(_mex_words "$_mex_path")}"
  fi
}`;

const bash = (tree: Node[]) => `# Completion of mex for bash. In ~/.bashrc: source <(mex completion bash)
${posixTables(tree)}
_mex() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}") candidates
  # bash cuts --option=value in three words.
  if [ "$cur" = '=' ]; then cur=''; fi
  if [ "$COMP_CWORD" -gt 1 ] && [ "\${before[-1]}" = '=' ]; then unset 'before[-1]'; fi
  _mex_walk "\${before[@]}"
  candidates="$(_mex_candidates "$cur")"
  case "$candidates" in
    @file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    @anything) COMPREPLY=() ;;
    @party*) candidates="\${candidates#@party}"; COMPREPLY=($(compgen -W "$(_mex_parties "\${candidates# }")" -- "$cur")) ;;
    *)
      # Options are offered once a dash is typed, or where nothing else fits.
      [[ "$cur" != -* && " $candidates" == *" "[a-z]* ]] && candidates="$(printf '%s\\n' $candidates | grep -v '^-')"
      COMPREPLY=($(compgen -W "$candidates" -- "$cur"))
      ;;
  esac
}
complete -F _mex mex`;

const zsh = (tree: Node[]) => `#compdef mex
# Completion of mex for zsh. In ~/.zshrc, after compinit: source <(mex completion zsh)
${posixTables(tree)}
_mex_describe() {
  case "$1" in
${lines(wordRows(tree), ([path, list]) => `    ${quote(path)}) reply=(${list.map(described).join(' ')}) ;;`)}
  esac
}
_mex() {
  local _mex_path _mex_count _mex_option candidates
  local -a reply plain
  _mex_walk "\${(@)words[2,CURRENT-1]}"
  candidates="$(_mex_candidates "$PREFIX")"
  case "$candidates" in
    @file) _files ;;
    @anything) _message 'a value' ;;
    @party*) reply=(\${(f)"$(_mex_parties "\${\${candidates#@party}# }")"}); compadd -a reply ;;
    *)
      if [[ "$candidates" == "$(_mex_words "$_mex_path")" ]]; then
        _mex_describe "$_mex_path"
        plain=(\${reply:#-*})
        if [[ "$PREFIX" != -* ]] && (( \${#plain} )); then reply=($plain); fi
        _describe 'mex' reply
      else
        compadd -- \${=candidates}
      fi
      ;;
  esac
}
if [ "\${funcstack[1]}" = '_mex' ]; then _mex "$@"; else compdef _mex mex; fi`;

const described = ({ word, description }: Word) => quote(`${word}:${description.replaceAll(':', ' ')}`);

const fishQuote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
/** Formats words for fish, which expects a tab between a word and its description. */
const fishLines = (list: Word[]) =>
  list.map(({ word, description }) => fishQuote(`${word}\t${description}`)).join(' ');

function fishValue(values: Values): string {
  if (values === 'file') return '__fish_complete_path (commandline -ct)';
  if (values === 'anything') return 'true';
  if ('choices' in values) return `printf '%s\\n' ${values.choices.map(fishQuote).join(' ')}`;
  return `__mex_parties ${fishQuote(values.parties)}`;
}

const fish = (
  tree: Node[],
) => `# Completion of mex for fish: mex completion fish > ~/.config/fish/completions/mex.fish
function __mex_words
  switch "$argv[1]"
${lines(wordRows(tree), ([path, list]) => `    case ${fishQuote(path)}\n      printf '%s\\n' ${fishLines(list)}`)}
  end
end
function __mex_values
  switch "$argv[1]"
${lines(valueRows(tree), ([key, values]) => `    case ${fishQuote(key)}\n      ${fishValue(values)}`)}
    case '*'
      return 1
  end
end
function __mex_takes_value
  contains -- "$argv[1]" ${valueRows(tree)
    .filter(([key]) => / -/.test(key))
    .map(([key]) => fishQuote(key))
    .join(' ')}
end
function __mex_parties
  set -l directory .mex
  set -q MEX_DATA_DIR; and set directory $MEX_DATA_DIR
  test -r $directory/dev.json; and string match -rg '^ *"name": "('$argv[1]'[^"]*)"' < $directory/dev.json
end
function __mex_complete
  set -l path ''
  set -l count 0
  set -l option ''
  for word in (commandline -opc)[2..-1]
    if test -n "$option"
      set option ''
    else if string match -q -- '-*' $word
      __mex_takes_value "$path $word"; and set option $word
    else if contains -- $word (__mex_words "$path" | string split -f1 \\t)
      set path (string trim "$path $word")
    else
      set count (math $count + 1)
    end
  end
  if test -n "$option"
    __mex_values "$path $option"
  else if string match -q -- '-*' (commandline -ct)
    __mex_words "$path"
  else
    __mex_values "$path "(math $count + 1); or __mex_words "$path" | string match -v -- '-*'
  end
end
complete -c mex -f -a '(__mex_complete)'`;
