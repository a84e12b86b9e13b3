import { Command } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import type { Run } from './cli.ts'
import { addAgentsCommand } from './commands/agents.ts'
import { addCompletionCommand } from './commands/completion.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addEventsCommand } from './commands/events.ts'
import { addFetchCommand } from './commands/fetch.ts'
import { addLedgerCommand } from './commands/ledger.ts'
import { addLoginCommand } from './commands/login.ts'
import { addLogoutCommand } from './commands/logout.ts'
import { addMcpCommand } from './commands/mcp.ts'
import { addMeCommand } from './commands/me.ts'
import { addPayCommand } from './commands/pay.ts'
import { addPaymentsCommand } from './commands/payments.ts'
import { addPreviewCommand } from './commands/preview.ts'
import { addVerifyCommand } from './commands/verify.ts'
import { addWalletsCommand } from './commands/wallets.ts'
import { addWebhooksCommand } from './commands/webhooks.ts'

const VERSION: string = manifest.version

const DESCRIPTION = `Pays in USDC within the limits that a wallet's owner has signed.

Sign in once with \`bursar login\`, or set BURSAR_URL and BURSAR_API_KEY. Credentials are never arguments.
Output is JSON with --json, or when standard output is not a terminal; \`next\` in it is the command to run next.`

const EPILOGUE = `
Environment:
  BURSAR_URL              the address of the service
  BURSAR_API_KEY          an API key; BURSAR_TOKEN, an access token, is used in the same way
  BURSAR_WEBHOOK_SECRET   the secret with which \`webhooks listen\` signs
  NO_COLOR, FORCE_COLOR   turn colours off or on

Exit codes:
  0 done · 1 failed · 2 wrong usage · 3 sign in first · 4 refused by a limit · 5 reserved for approvals · 6 no result in time`

/** Builds the whole program. `run` runs the work of the command that is called. */
export function createProgram(run: Run): Command {
  const program = new Command('bursar')
    .description(DESCRIPTION)
    .usage('<command> [options]')
    .version(VERSION, '-V, --version', 'Shows the version.')
    .option('--json', 'Writes JSON. The default if standard output is not a terminal.')
    .option('--no-json', 'Writes text for people, even if standard output is not a terminal.')
    .option('--url <url>', 'Calls the service at this address, instead of BURSAR_URL or the last sign-in.')
    .helpOption('-h, --help', 'Shows the help.')
    .helpCommand('help [command]', 'Shows the help of a command.')
    .addHelpText('after', EPILOGUE)
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
    .exitOverride()
  // Neither `--json` nor `--no-json` is the default: without a choice, the kind of standard output decides.
  program.setOptionValue('json', undefined)
  for (const add of COMMANDS) inherit(add(program, run))
  return program
}

/** The commands, in the order of the help. */
const COMMANDS = [
  addLoginCommand,
  addLogoutCommand,
  addMeCommand,
  addAgentsCommand,
  addWalletsCommand,
  addPreviewCommand,
  addPayCommand,
  addPaymentsCommand,
  addFetchCommand,
  addLedgerCommand,
  addEventsCommand,
  addWebhooksCommand,
  addVerifyCommand,
  addMcpCommand,
  addDoctorCommand,
  addCompletionCommand,
]

/** Gives a command and all its subcommands the help option with our wording. */
function inherit(command: Command): void {
  command.helpOption('-h, --help', 'Shows the help.').helpCommand(false)
  for (const child of command.commands) inherit(child)
}
