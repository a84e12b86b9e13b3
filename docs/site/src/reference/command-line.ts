import { describeProgram, type DescribedCommand } from '../../../../cli/src/describe-program.ts'
import { createProgram } from '../../../../cli/src/program.ts'
import { tableRow } from './describe-schema.ts'

/** Writes the page with every command of the command line, from the same texts as its `--help`. */
export function writeCommandReference() {
  const program = describeProgram(createProgram(() => Promise.resolve()))
  const commands = program.commands.flatMap((command) => (command.commands.length === 0 ? [command] : command.commands))
  return {
    path: 'reference/command-line',
    title: 'Commands of bursar',
    description: 'Every command of the command line, with its arguments, options and examples.',
    markdown: [
      '[The command line](../cli.md) says how to begin. `bursar <command> --help` shows the same texts.\n',
      `## Options of every command\n\n${writeOptions(program)}`,
      ...commands.map(writeCommand),
    ].join('\n'),
  }
}

function writeCommand(command: DescribedCommand): string {
  const examples = command.examples.map(({ command: line, effect }) => `# ${effect}\n${line}\n`)
  const reason = 'shows the form, with other addresses'
  return [
    `## ${command.path}\n\n${command.description}\n\n\`${command.usage}\`\n`,
    writeOptions(command),
    examples.length === 0 ? '' : `\`\`\`bash not-run="${reason}"\n${examples.join('\n')}\`\`\`\n`,
  ].join('\n')
}

function writeOptions({ arguments: given, options }: DescribedCommand): string {
  const rows = [
    ...given.map(({ name, required, description }) => [`\`${required ? `<${name}>` : `[${name}]`}\``, description]),
    ...options.map(({ flags, description, choices }) => [
      `\`${flags}\``,
      choices === null ? description : `${description} One of: ${choices.join(', ')}.`,
    ]),
  ]
  if (rows.length === 0) return ''
  return `| argument or option | meaning |\n| --- | --- |\n${rows.map(tableRow).join('\n')}\n`
}
