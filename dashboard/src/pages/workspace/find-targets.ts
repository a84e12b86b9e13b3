import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { formatShortAddress } from '../../format/address.ts'
import { GRANT_STATE_LABELS } from '../../format/grant-state-text.ts'
import { pathTo } from '../../navigation/paths.ts'
import { PAGE_GROUPS } from './workspace-pages.ts'

export interface Target {
  readonly text: string
  /** The kind of object. Undefined for pages. */
  readonly detail?: string
  readonly path: string
}

/** Objects that can be found by name or ID. */
export interface SearchableItems {
  readonly agents: readonly Pick<Agent, 'id'>[]
  readonly wallets: readonly Pick<Wallet, 'name' | 'address'>[]
  readonly grants: readonly Pick<Grant, 'id' | 'agent_id' | 'wallet_name' | 'state'>[]
}

interface SearchContext {
  readonly slug: string
  readonly mode: Mode
  readonly items: SearchableItems
}

/** At most this many results of each kind are listed. The user can type more to get fewer results. */
const RESULTS_PER_KIND_MAX = 6
const PAYMENT_ID = /^pay_[0-9A-Z]{26}$/
const REFUSAL_ID = /^ref_[0-9A-Z]{26}$/

/** Returns the targets that match the text, pages first. Returns all pages if the text is empty. */
export function findTargets(text: string, { slug, mode, items }: SearchContext): readonly Target[] {
  const query = text.trim()
  if (PAYMENT_ID.test(query)) return [{ text: `Payment ${query}`, path: pathTo(slug, mode, 'payments', query) }]
  if (REFUSAL_ID.test(query))
    return [{ text: `Rejected request ${query}`, path: pathTo(slug, mode, 'refusals', query) }]
  const matches = (...texts: readonly string[]) =>
    texts.some((candidate) => candidate.toLowerCase().includes(query.toLowerCase()))
  const pages = listPages(slug, mode).filter((page) => matches(page.text))
  if (query === '') return pages
  const agents = items.agents
    .filter(({ id }) => matches(id))
    .map(({ id }) => ({ text: id, detail: 'agent', path: pathTo(slug, mode, 'agents', id) }))
  const wallets = items.wallets
    .filter(({ name, address }) => matches(name, address))
    .map(({ name, address }) => ({
      text: name,
      detail: `wallet ${formatShortAddress(address)}`,
      path: pathTo(slug, mode, 'wallets', address),
    }))
  const grants = items.grants
    .filter((grant) => matches(grant.id, grant.agent_id, grant.wallet_name))
    .map((grant) => ({
      text: `${grant.agent_id} from ${grant.wallet_name}`,
      detail: `grant: ${GRANT_STATE_LABELS[grant.state].toLowerCase()}`,
      path: pathTo(slug, mode, 'grants', grant.id),
    }))
  return [...pages, ...[agents, wallets, grants].flatMap((kind) => kind.slice(0, RESULTS_PER_KIND_MAX))]
}

function listPages(slug: string, mode: Mode): readonly Target[] {
  const other: Mode = mode === 'test' ? 'live' : 'test'
  return [
    ...PAGE_GROUPS.flatMap(({ pages }) =>
      pages.map(({ text, parts }) => ({ text, path: pathTo(slug, mode, ...parts) })),
    ),
    { text: 'New grant', path: pathTo(slug, mode, 'grants', 'new') },
    { text: `Switch to ${other} mode`, path: pathTo(slug, other) },
    { text: 'Your account', path: '/account' },
    { text: 'All workspaces', path: '/' },
  ]
}
