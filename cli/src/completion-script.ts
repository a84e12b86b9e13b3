import type { DescribedCommand } from './describe-program.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** A command without its program's name, and the words that may follow it. */
interface Place {
  readonly path: string
  readonly words: readonly { readonly word: string; readonly description: string }[]
}

/** Returns the script that completes the commands and options of the program in a shell. */
export function completionScript(program: DescribedCommand, shell: Shell): string {
  const places = listPlaces(program, '', program.options)
  const scripts = { bash: formatBash, zsh: formatZsh, fish: formatFish }
  return scripts[shell](places)
}

function listPlaces(command: DescribedCommand, path: string, globals: DescribedCommand['options']): Place[] {
  const options = [...new Set([...command.options, ...globals])].flatMap(({ long, description }) =>
    long === null ? [] : [{ word: long, description }],
  )
  const children = command.commands.map(({ name, summary }) => ({ word: name, description: summary }))
  return [
    { path, words: [...children, ...options, { word: '--help', description: 'Shows the help.' }] },
    ...command.commands.flatMap((child) => listPlaces(child, `${path} ${child.name}`.trim(), globals)),
  ]
}

function formatBash(places: readonly Place[]): string {
  const cases = places.map(({ path, words }) => `    '${path}') words='${words.map(({ word }) => word).join(' ')}' ;;`)
  return `# Completion of the command bursar in bash.
_bursar() {
  local word path='' words='' known
  known='${places.map(({ path }) => `|${path}|`).join('')}'
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $known == *"|\${path:+$path }$word|"* ]]; then path="\${path:+$path }$word"; fi
  done
  case $path in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _bursar bursar
`
}

function formatZsh(places: readonly Place[]): string {
  const cases = places.map(({ path, words }) => {
    const list = words.map(({ word, description }) => quote(`${word}:${description.replaceAll(':', ' -')}`))
    return `    '${path}') list=(${list.join(' ')}) ;;`
  })
  return `#compdef bursar
# Completion of the command bursar in zsh.
_bursar() {
  local word path_='' known
  local -a list
  known='${places.map(({ path }) => `|${path}|`).join('')}'
  for word in \${words[2,CURRENT-1]}; do
    if [[ $known == *"|\${path_:+$path_ }$word|"* ]]; then path_="\${path_:+$path_ }$word"; fi
  done
  case $path_ in
${cases.join('\n')}
  esac
  _describe 'bursar' list
}
if [ "$funcstack[1]" = _bursar ]; then _bursar "$@"; else compdef _bursar bursar; fi
`
}

function formatFish(places: readonly Place[]): string {
  const cases = places.map(({ path, words }) => {
    const lines = words.map(({ word, description }) => `      printf '%s\\t%s\\n' ${quote(word)} ${quote(description)}`)
    return `    case '${path}'\n${lines.join('\n')}`
  })
  return `# Completion of the command bursar in fish.
function __bursar_words
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l longer (string trim "$path $word")
    if contains -- $longer ${places.map(({ path }) => `'${path}'`).join(' ')}
      set path $longer
    end
  end
  switch $path
${cases.join('\n')}
  end
end
complete -c bursar -f -a '(__bursar_words)'
`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", '’')}'`
}
