import type { Identity, Wallet } from 'bursar'
import type { Cli } from '../cli.ts'
import { CliError } from '../cli-error.ts'
import { checkNotRedirected, readText } from '../credentials/foreign-response.ts'
import { sessionFile } from '../credentials/session.ts'
import { isOpenToOthers } from '../credentials/private-files.ts'
import { callService } from '../describe-error.ts'
import { EXIT } from '../exit-codes.ts'
import { openService } from '../open-service.ts'
import type { Settings } from '../settings.ts'
import { assessClock, assessGrants, assessScopes } from './assess.ts'
import type { Check } from './check.ts'

const REQUEST_TIMEOUT_MS = 10_000

/** Makes the checks in order, and stops after a failure that makes the later checks useless. Changes nothing. */
export async function runChecks(cli: Cli): Promise<readonly Check[]> {
  let settings: Settings
  try {
    settings = await cli.settings()
  } catch (error) {
    return [failedBy(error, error instanceof CliError && error.exitCode === EXIT.signIn ? 'credential' : 'address')]
  }
  const { baseUrl, urlSource } = settings
  const address: Check = { name: 'address', status: 'ok', message: `The service is ${baseUrl} (from ${urlSource}).` }
  const file = await checkFile(settings)
  const service = await checkService(cli, baseUrl)
  if (service.some(({ status }) => status === 'failed')) return [address, ...file, ...service]
  return [address, ...file, ...service, ...(await checkCredential(cli, settings))]
}

async function checkFile({ folder, baseUrl, credential }: Settings): Promise<Check[]> {
  if (credential.kind === 'environment') return []
  const path = sessionFile(folder, baseUrl)
  const isOpen = await isOpenToOthers(path).catch(() => null)
  if (isOpen === null) return []
  if (!isOpen) return [{ name: 'file', status: 'ok', message: `Only you can read ${path}.` }]
  return [
    {
      name: 'file',
      status: 'warning',
      message: `Other users of this machine could read ${path}. The next bursar command corrects its permissions.`,
      fix: 'If somebody else uses this machine, sign out and in again.',
    },
  ]
}

async function checkService(cli: Cli, baseUrl: string): Promise<Check[]> {
  try {
    const url = `${baseUrl}/readyz`
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
    checkNotRedirected(response, url)
    return [assessService(response.status, await readText(response))]
  } catch (error) {
    if (error instanceof CliError) return [failedBy(error, 'service')]
    const message = `${baseUrl} cannot be reached.`
    const fix = 'Check the address, your network, and whether the service runs. `npm start` starts a sandbox.'
    return [{ name: 'service', status: 'failed', message, fix, next: cli.next('doctor') }]
  }
}

function assessService(status: number, text: string): Check {
  const parts = readParts(text)
  if (parts === null) {
    const fix = 'Use the address of the REST API, the BASE_URL of the service.'
    return { name: 'service', status: 'failed', message: 'There is no Bursar service at this address.', fix }
  }
  const down = Object.entries(parts).flatMap(([name, state]) => (state === 'ok' ? [] : [name]))
  if (down.length === 0 && status !== 200)
    return { name: 'service', status: 'failed', message: 'The service is stopping.', fix: 'Try again in a minute.' }
  if (down.length === 0) return { name: 'service', status: 'ok', message: 'The service is ready.' }
  const message = `The service runs, but cannot reach: ${down.join(', ')}.`
  return { name: 'service', status: status === 200 ? 'warning' : 'failed', message, fix: 'Tell its operator.' }
}

function readParts(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const { checks } = JSON.parse(text) as { checks?: unknown }
    return typeof checks === 'object' && checks !== null ? (checks as Record<string, unknown>) : null
  } catch {
    return null
  }
}

async function checkCredential(cli: Cli, settings: Settings): Promise<Check[]> {
  const { bursar, options } = openService(settings)
  let me: Identity
  try {
    me = await callService(cli, () => bursar.me(options))
  } catch (error) {
    return [failedBy(error, 'credential', signInAdvice(settings))]
  }
  const clock = assessClock(me, new Date())
  const wallets: Wallet[] = []
  try {
    for await (const wallet of bursar.wallets.list({}, options)) wallets.push(wallet)
  } catch (error) {
    return [clock, describeCredential(settings, me), failedBy(error, 'wallets')]
  }
  return [clock, describeCredential(settings, me), assessScopes(me), describeAgent(me), ...assessGrants(wallets, me)]
}

function describeCredential(
  { credential }: Settings,
  { account_name: workspace, mode, expires_at: at }: Identity,
): Check {
  const origin = credential.kind === 'environment' ? `The key in ${credential.name}` : 'Your sign-in'
  const end = at === null ? '' : ` It ends at ${at}.`
  return { name: 'credential', status: 'ok', message: `${origin} works: workspace ${workspace}, ${mode} mode.${end}` }
}

function describeAgent({ agent_id: agentId }: Identity): Check {
  const message =
    agentId === null
      ? 'You can pay as any agent of the workspace: name it with --agent.'
      : `You pay as the agent ${agentId}.`
  return { name: 'agent', status: 'ok', message }
}

function signInAdvice({ baseUrl, credential }: Settings): Pick<Check, 'fix' | 'next'> {
  if (credential.kind === 'environment') return { fix: `Set ${credential.name} to a key that works.` }
  return { fix: 'Sign in again.', next: ['bursar', 'login', baseUrl] }
}

function failedBy(error: unknown, name: Check['name'], advice: Pick<Check, 'fix' | 'next'> = {}): Check {
  const message = error instanceof Error ? error.message : String(error)
  const { hint, next } = error instanceof CliError ? error : {}
  return {
    name,
    status: 'failed',
    message,
    ...(hint === undefined ? {} : { fix: hint }),
    ...(next === undefined || next === null ? {} : { next }),
    ...advice,
  }
}
