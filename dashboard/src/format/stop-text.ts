import type { Output } from '@bursar/server/src/console/contract/all-routes.ts'
import type { StopGroup } from '@bursar/server/src/console/contract/stops.ts'
import { formatCount } from './format-count.ts'

type Preview = Output<'GET /console/workspaces/:slug/stops/preview'>

/** Says in numbers what a stop will suspend. */
export function formatStopPreview({ grants, agents, wallets }: Preview): string {
  if (grants === 0) return 'No grant allows payments at the moment, so there is nothing to stop.'
  const [what, whose, where] = [countOf(grants, 'active grant'), countOf(agents, 'agent'), countOf(wallets, 'wallet')]
  return `This suspends ${what} of ${whose} on ${where} at once.`
}

/** Says how many payments a stop does not stop. Null if there are none. */
export function formatUnderWay({ pending_payments: payments }: Preview): string | null {
  if (payments === 0) return null
  return payments === 1
    ? '1 payment is already under way and may still arrive.'
    : `${formatCount(payments)} payments are already under way and may still arrive.`
}

/** Counts things, such as `3 grants`. */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** Says for whom a group of grants waits: `2 grants on “Savings” wait for Bob or Carol.` */
export function formatWaiting({ grants, wallets, people }: StopGroup): string {
  const names = wallets.map(({ name }) => `“${name}”`)
  const where = names.length > WALLETS_NAMED_MAX ? countOf(names.length, 'wallet') : listOf(names, 'conjunction')
  return `${countOf(grants, 'grant')} on ${where} ${grants === 1 ? 'waits' : 'wait'} for ${listOf(people, 'disjunction')}.`
}

const WALLETS_NAMED_MAX = 3

function listOf(texts: readonly string[], type: 'conjunction' | 'disjunction'): string {
  return new Intl.ListFormat('en', { type }).format(texts)
}
