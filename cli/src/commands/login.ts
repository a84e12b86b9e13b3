import { createInterface } from 'node:readline'
import type { Identity } from 'bursar'
import type { Command } from 'commander'
import type { Cli, Run } from '../cli.ts'
import { CliError, usageError } from '../cli-error.ts'
import { configFolder } from '../credentials/config-folder.ts'
import { revokeToken } from '../credentials/oauth-calls.ts'
import { readDefaultUrl, readSession, sessionFile, writeDefaultUrl, writeSession } from '../credentials/session.ts'
import { signIn } from '../credentials/sign-in.ts'
import { callService } from '../describe-error.ts'
import { addExamples } from '../describe-program.ts'
import { EXIT } from '../exit-codes.ts'
import { formatPairs } from '../output/format-table.ts'
import { openService } from '../open-service.ts'
import { parseCount } from '../parse-values.ts'
import { namedUrl, parseBaseUrl } from '../settings.ts'
import { spawn } from 'node:child_process'

const SCOPES = ['wallet:read', 'wallet:transfer', 'x402:pay']
const TIMEOUT_SECONDS_MAX = 600
const MS_PER_SECOND = 1_000

interface LoginOptions {
  readonly browser: boolean
  readonly scope?: string
  readonly agent?: string
  readonly timeout?: string
}

export function addLoginCommand(program: Command, run: Run): Command {
  const command = program
    .command('login')
    .summary('Signs in with the browser.')
    .description(
      'Signs in with the browser, where you choose the workspace and the agent. Stores the tokens in a file that only you can read, one for each service.',
    )
    .argument('[url]', 'The address of the service. Without it: --url, BURSAR_URL, or the service of the last sign-in.')
    .option('--no-browser', 'Prints the address instead of opening the browser, so that you can open it yourself.')
    .option('--scope <scopes>', `The scopes to request, separated by commas: ${SCOPES.join(', ')}. The default is all.`)
    .option('--agent <id>', 'The agent that the consent page suggests.')
    .option('--timeout <seconds>', 'How long to wait for your approval, up to 600 seconds, which is the default.')
    .action(async (url: string | undefined, options: LoginOptions, self: Command) => {
      await run(self, async (cli) => await login(cli, url, options))
    })
  return addExamples(command, [
    { command: 'bursar login https://bursar.example.com', effect: 'sign in for the first time' },
    { command: 'bursar login --no-browser', effect: 'sign in on a machine without a browser' },
  ])
}

async function login(cli: Cli, urlArgument: string | undefined, options: LoginOptions): Promise<void> {
  const { env, output, globals } = cli
  const folder = configFolder(env)
  const baseUrl = await chooseUrl(cli, folder, urlArgument)
  const credential = ['BURSAR_API_KEY', 'BURSAR_TOKEN'].find((name) => (env[name] ?? '') !== '')
  const previous = await readSession(folder, baseUrl).catch(() => null)
  const seconds = parseCount(options.timeout ?? String(TIMEOUT_SECONDS_MAX), {
    name: '--timeout',
    min: 1,
    max: TIMEOUT_SECONDS_MAX,
  })
  const session = await signIn({
    baseUrl,
    scope: options.scope === undefined ? null : parseScopes(options.scope),
    agentId: options.agent ?? null,
    timeoutMs: seconds * MS_PER_SECOND,
    onUrl: (authorizeUrl) => {
      const isOpened = options.browser
      output.notice(
        { authorize_url: authorizeUrl },
        describeUrl(authorizeUrl, { isOpened, canPaste: cli.isInteractive }),
      )
      if (isOpened) openBrowser(authorizeUrl, env)
    },
    onPaste: () => readPasted(cli),
  })
  await writeSession(folder, session)
  await writeDefaultUrl(folder, baseUrl)
  // Without this call, the connection of the earlier sign-in would stay in the dashboard, and its tokens would stay
  // valid.
  if (previous !== null) {
    const { refreshToken: token, clientId, revocationEndpoint } = previous
    await revokeToken(revocationEndpoint, { token, clientId }).catch(() => undefined)
  }
  const service = openService({ folder, baseUrl, urlSource: 'the sign-in', credential: { kind: 'session' } })
  const me = await callService(cli, () => service.bursar.me(service.options))
  const file = sessionFile(folder, baseUrl)
  output.answer({
    body: { signed_in: { url: baseUrl, file, scopes: session.scope.split(' '), ...identityOf(me) } },
    next: credential === undefined ? cli.next('wallets') : null,
    human: (paint) =>
      `${paint('green', 'Signed in.')}\n${formatPairs(
        [
          ['Service', baseUrl],
          ['Workspace', `${me.account_name} (${me.mode} mode)`],
          ['Agent', me.agent_id],
          ['Scopes', session.scope],
          ['Stored in', file],
        ],
        paint,
      )}`,
  })
  if (credential !== undefined) {
    output.note(`${credential} is set, so commands use it instead of this sign-in. Unset it to use the sign-in.`)
  }
  if (
    globals.url === undefined &&
    env['BURSAR_URL'] !== undefined &&
    env['BURSAR_URL'] !== '' &&
    parseBaseUrl(env['BURSAR_URL']) !== baseUrl
  ) {
    output.note('BURSAR_URL names another service, which other commands will call. Unset it to use this one.')
  }
}

function identityOf({ account_slug, account_name, mode, agent_id, expires_at }: Identity) {
  return { account_slug, account_name, mode, agent_id, expires_at }
}

async function chooseUrl({ env, globals }: Cli, folder: string, argument: string | undefined): Promise<string> {
  if (argument !== undefined) {
    if (globals.url !== undefined) throw usageError('Name the service once: as the argument or with --url.')
    return parseBaseUrl(argument)
  }
  const url = namedUrl(env, globals.url)?.baseUrl ?? (await readDefaultUrl(folder))
  if (url !== null) return url
  throw usageError('Which service do you want to sign in to?', {
    hint: 'Name its address, such as `bursar login https://bursar.example.com`. A sandbox on this machine is usually at http://localhost:4100.',
  })
}

function parseScopes(text: string): string {
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '')
  const unknown = scopes.find((scope) => !SCOPES.includes(scope))
  if (unknown === undefined && scopes.length > 0) return scopes.join(' ')
  throw usageError(`--scope: use one or more of ${SCOPES.join(', ')}.`)
}

function describeUrl(url: string, { isOpened, canPaste }: { isOpened: boolean; canPaste: boolean }): string {
  const ask = isOpened ? 'Approve in the browser. If it does not open, go to:' : 'Open this address and approve:'
  const paste = canPaste
    ? '\nIf the browser is on another computer, it shows an error after you approve. Paste the address of that error page here.'
    : ''
  return `${ask}\n\n  ${url}\n${paste}`
}

/** Reads from the terminal the address at which the browser ended. Without a terminal, the promise never settles. */
async function readPasted({ isInteractive }: Cli): Promise<string> {
  if (!isInteractive) return await new Promise(() => undefined)
  const lines = createInterface({ input: process.stdin })
  return await new Promise((resolve, reject) => {
    lines.on('line', (line) => line.trim() !== '' && resolve(line.trim()))
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    lines.on('error', () =>
      reject(new CliError('The terminal cannot be read.', { exitCode: EXIT.failure, code: 'internal' })),
    )
  })
}

/**
 * Opens an address in the browser: with the program in `BROWSER`, or with the system's program. A failure is ignored,
 * because the address is also shown to the person.
 */
function openBrowser(url: string, env: NodeJS.ProcessEnv): void {
  const [command, ...args] = browserCommand(env)
  if (command === undefined) return
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}

function browserCommand(env: NodeJS.ProcessEnv): readonly string[] {
  const chosen = env['BROWSER']
  if (chosen !== undefined && chosen !== '') return [chosen]
  if (process.platform === 'darwin') return ['open']
  // Windows also has `start`, but it would read the address as a command line, where `&` separates commands.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return ['xdg-open']
}
