import { CommanderError } from 'commander'
import { createCli, toCliError } from './cli.ts'
import { usageError } from './cli-error.ts'
import { describeProgram } from './describe-program.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { Output } from './output/output.ts'
import { createProgram } from './program.ts'
import { finishWork, handleSignals, stoppedCode, stopSignal } from './signals.ts'

/** A hidden option: writes the whole program's help as JSON. The documentation is made from it. */
const DESCRIBE_OPTION = '--help-json'

let exitCode: ExitCode = EXIT.ok

// Without this, a program that stops reading early, such as `head`, would cause an error message.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.closedOutput : EXIT.failure)
})
process.stderr.on('error', () => undefined)

await main(process.argv.slice(2))
await leave()

async function main(args: readonly string[]): Promise<void> {
  const program = createProgram(async (command, work) => {
    const cli = createCli(command, process.env)
    handleSignals(() => void leave(stoppedCode()))
    try {
      exitCode = (await work(cli)) ?? EXIT.ok
    } catch (error) {
      const failure = toCliError(error)
      // After a signal, most errors only say that the work was interrupted. An error with members in `answer` says
      // more, so it is still written.
      if (!stopSignal.aborted || Object.keys(failure.answer).length > 0) cli.output.error(failure)
      exitCode = failure.exitCode
    }
    if (stopSignal.aborted) exitCode = stoppedCode()
  })
  if (args[0] === DESCRIBE_OPTION) {
    process.stdout.write(`${JSON.stringify(describeProgram(program), null, 2)}\n`)
    return
  }
  let message = ''
  program.configureOutput({ writeErr: (text) => (message += text) })
  for (const command of program.commands) command.configureOutput(program.configureOutput())
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    exitCode = endParsing(error, message, args)
  }
}

/**
 * Returns the exit code after the parser has stopped. With `--help` and `--version`, it stops without an error. In all
 * other cases, the command was called wrongly.
 */
function endParsing(error: CommanderError, message: string, args: readonly string[]): ExitCode {
  if (error.exitCode === 0) return EXIT.ok
  if (error.code === 'commander.help') {
    process.stderr.write(message)
    return EXIT.usage
  }
  const json = args.includes('--no-json') ? false : args.includes('--json') ? true : undefined
  const { stdout, stderr, env } = process
  const text = message.trim().replace(/^error: /, '')
  const sentence = text.charAt(0).toUpperCase() + text.slice(1)
  new Output({ stdout, stderr, env, json }).error(
    usageError(sentence.replaceAll('\n', ' '), { hint: 'Add --help to see how the command is used.' }),
  )
  return EXIT.usage
}

/** Ends the program once everything that was written has arrived. Open connections do not keep it alive. */
async function leave(code: ExitCode = exitCode): Promise<never> {
  await finishWork()
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write('', done))))
  process.exit(code)
}
