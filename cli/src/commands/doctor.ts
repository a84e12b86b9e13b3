import type { Command } from 'commander'
import type { Cli, Run } from '../cli.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import type { Check } from '../doctor/check.ts'
import { runChecks } from '../doctor/run-checks.ts'
import { cleanLine } from '../output/clean-text.ts'
import type { Paint } from '../output/style.ts'

export function addDoctorCommand(program: Command, run: Run): Command {
  return program
    .command('doctor')
    .summary('Checks everything that a payment needs.')
    .description(
      'Checks the address, the service, the clock, your credential, its scopes, the agent, the wallets and their grants. Says what to do about each problem. Changes nothing.',
    )
    .action(async (_options: object, self: Command) => {
      await run(self, diagnose)
    })
}

async function diagnose(cli: Cli): Promise<ExitCode> {
  const checks = await runChecks(cli)
  const failed = checks.filter(({ status }) => status === 'failed')
  const isSignIn = failed.some(({ name }) => name === 'credential')
  const next = checks.find((check) => check.status !== 'ok' && check.next !== undefined)?.next ?? null
  cli.output.answer({
    body: { ok: failed.length === 0, checks },
    next,
    human: (paint) => checks.map((check) => formatCheck(check, paint)).join(''),
  })
  if (failed.length === 0) return EXIT.ok
  return isSignIn ? EXIT.signIn : EXIT.failure
}

function formatCheck({ status, message, fix }: Check, paint: Paint): string {
  const mark = { ok: paint('green', '✔'), warning: paint('yellow', '!'), failed: paint('red', '✖') }[status]
  const line = `${mark} ${cleanLine(message)}\n`
  return fix === undefined ? line : `${line}  ${cleanLine(fix)}\n`
}
