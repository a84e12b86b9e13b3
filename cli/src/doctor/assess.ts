import type { Identity, Wallet } from 'bursar'
import type { Check } from './check.ts'

/** A token is refreshed a minute before it expires, so clocks that differ by at most a minute do no harm. */
const SKEW_SECONDS_MAX = 60
const MS_PER_SECOND = 1_000
/** A grant that expires sooner than this is worth a warning. */
const EXPIRY_HOURS = 24
const MS_PER_HOUR = 3_600_000

/** Compares this machine's clock with that of the service. */
export function assessClock({ server_time: theirs }: Pick<Identity, 'server_time'>, now: Date): Check {
  const seconds = Math.round((now.getTime() - Date.parse(theirs)) / MS_PER_SECOND)
  if (Math.abs(seconds) <= SKEW_SECONDS_MAX) return { name: 'clock', status: 'ok', message: 'The clocks agree.' }
  const direction = seconds > 0 ? 'ahead of' : 'behind'
  return {
    name: 'clock',
    status: 'warning',
    message: `This machine's clock is ${Math.abs(seconds)} seconds ${direction} that of the service.`,
    fix: 'Set the clock of this machine. Signatures of webhooks, for example, are only valid for some minutes. If the clock of a sandbox was moved, this is expected.',
  }
}

/** Says which operations the scopes do not allow. */
export function assessScopes({ scopes, auth_type: kind }: Pick<Identity, 'scopes' | 'auth_type'>): Check {
  const missing = [
    ...(scopes.includes('wallet:transfer') ? [] : ['wallet:transfer (to pay)']),
    ...(scopes.includes('x402:pay') ? [] : ['x402:pay (to buy)']),
  ]
  if (missing.length === 0) return { name: 'scopes', status: 'ok', message: `Scopes: ${scopes.join(', ')}.` }
  return {
    name: 'scopes',
    status: 'warning',
    message: `Scopes that are missing: ${missing.join(', ')}.`,
    fix:
      kind === 'api_key'
        ? 'If you need them, create a key that has them, in the dashboard.'
        : 'If you need them, sign in again and allow them.',
    ...(kind === 'api_key' ? {} : { next: ['bursar', 'login'] }),
  }
}

/** Says which wallets can be used to pay now, and why the others cannot. */
export function assessGrants(wallets: readonly Wallet[], me: Identity): Check[] {
  const now = new Date(me.server_time)
  const all = wallets.flatMap((wallet) =>
    wallet.grants
      .filter(({ agent_id: agentId }) => me.agent_id === null || agentId === me.agent_id)
      .map((grant) => assessGrant(wallet, grant, now)),
  )
  if (all.some(({ status }) => status === 'ok')) return all
  return [
    ...all,
    {
      name: 'wallets',
      status: 'failed',
      message: 'There is no wallet from which you can pay now.',
      fix: 'The owner of a wallet must sign a grant for the agent, in the dashboard.',
    },
  ]
}

function assessGrant({ address, balance_usdc: balance }: Wallet, grant: Wallet['grants'][number], now: Date): Check {
  const { agent_id: agentId, state, remaining_24h_usdc: left, max_per_tx_usdc: max, expires_at: expiresAt } = grant
  const warning = (problem: string, fix: string): Check => {
    return { name: 'wallets', status: 'warning', message: `${agentId} on ${address}: ${problem}`, fix }
  }
  if (state === 'pending')
    return warning('the grant is not signed yet.', 'The owner of the wallet signs it in the dashboard.')
  if (state === 'suspended')
    return warning(
      'the grant is suspended.',
      'The owner of the wallet must sign the same terms again in the dashboard.',
    )
  if (state === 'expired') return warning('the grant has expired.', 'Ask the owner of the wallet for a new grant.')
  if (left === '0')
    return warning('the 24-hour limit is used up.', 'Wait until earlier payments are older than 24 hours.')
  if (balance === '0') return warning('the wallet is empty.', 'Send USDC to the wallet.')
  const hours = expiresAt === null ? Infinity : (Date.parse(expiresAt) - now.getTime()) / MS_PER_HOUR
  const soon = hours < EXPIRY_HOURS ? ` The grant expires at ${expiresAt}.` : ''
  const funds = balance === null ? 'a balance that is unknown now' : `${balance} USDC`
  const message = `${agentId} on ${address}: ${left} USDC left of the 24-hour limit, at most ${max} each, ${funds}.${soon}`
  return { name: 'wallets', status: 'ok', message }
}
