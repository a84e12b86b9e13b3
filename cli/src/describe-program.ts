import type { Argument, Command, Option } from 'commander'

/** A command as data: what its help says. Documentation and completions are made from it. */
export interface DescribedCommand {
  readonly name: string
  /** The whole command, such as `bursar payments get`. */
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly usage: string
  readonly arguments: readonly { readonly name: string; readonly required: boolean; readonly description: string }[]
  readonly options: readonly DescribedOption[]
  readonly examples: readonly Example[]
  readonly commands: readonly DescribedCommand[]
}

export interface DescribedOption {
  readonly flags: string
  readonly long: string | null
  readonly short: string | null
  readonly takesValue: boolean
  readonly description: string
  readonly choices: readonly string[] | null
}

/** An example for the help of a command, and what it does. */
export interface Example {
  readonly command: string
  readonly effect: string
}

const examplesOf = new WeakMap<Command, readonly Example[]>()

/** Adds examples to the help of a command. */
export function addExamples(command: Command, examples: readonly Example[]): Command {
  examplesOf.set(command, examples)
  const lines = examples.map(({ command: text, effect }) => `  # ${effect}\n  ${text}`)
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
}

export function describeProgram(command: Command, parents: readonly string[] = []): DescribedCommand {
  const path = [...parents, command.name()]
  return {
    name: command.name(),
    path: path.join(' '),
    summary: command.summary() === '' ? command.description() : command.summary(),
    description: command.description(),
    usage: `${path.join(' ')} ${command.usage()}`,
    arguments: command.registeredArguments.map(describeArgument),
    options: command.options.filter(({ hidden }) => !hidden).map(describeOption),
    examples: examplesOf.get(command) ?? [],
    commands: command.commands.filter((child) => child.name() !== 'help').map((child) => describeProgram(child, path)),
  }
}

function describeArgument(argument: Argument): DescribedCommand['arguments'][number] {
  return { name: argument.name(), required: argument.required, description: argument.description }
}

function describeOption(option: Option): DescribedOption {
  return {
    flags: option.flags,
    long: option.long ?? null,
    short: option.short ?? null,
    takesValue: option.required || option.optional,
    description: option.description,
    choices: option.argChoices ?? null,
  }
}
