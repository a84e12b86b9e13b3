import { Argument, type Command } from 'commander'
import type { Run } from '../cli.ts'
import { completionScript, SHELLS, type Shell } from '../completion-script.ts'
import { addExamples, describeProgram } from '../describe-program.ts'

export function addCompletionCommand(program: Command, run: Run): Command {
  const command = program
    .command('completion')
    .summary('Prints a completion script for your shell.')
    .description('Prints the script with which your shell completes the commands and options of bursar.')
    .addArgument(new Argument('<shell>', 'The shell.').choices(SHELLS))
    .action(async (shell: Shell, _options: object, self: Command) => {
      await run(self, async ({ output }) => output.bytes(completionScript(describeProgram(program), shell)))
    })
  return addExamples(command, [
    { command: 'source <(bursar completion bash)', effect: 'bash, in ~/.bashrc' },
    { command: 'source <(bursar completion zsh)', effect: 'zsh, in ~/.zshrc after compinit' },
    { command: 'bursar completion fish > ~/.config/fish/completions/bursar.fish', effect: 'fish' },
  ])
}
