import type { Mode } from '../../api/wire.ts'
import type { Agent, Grant, Wallet } from '../../api/wire-spending.ts'
import { formatShortAddress } from '../../format/address.ts'
import { GRANT_STATE_LABELS } from '../../format/grant-state-text.ts'
import { pathTo } from '../../navigation/paths.ts'
import { PAGE_GROUPS } from './workspace-pages.ts'

export interface Target {
  readonly text: string
  /** What kind of thing it is, where it is no page. */
  readonly detail?: string
  readonly path: string
}

/** What can be found by its name or its id. */
export interface SearchableItems {
  readonly agents: readonly Pick<Agent, 'id'>[]
  readonly wallets: readonly Pick<Wallet, 'name' | 'address'>[]
  readonly grants: readonly Pick<Grant, 'id' | 'agent_id' | 'wallet_name' | 'state'>[]
}

interface Place {
  readonly slug: string
  readonly mode: Mode
  readonly items: SearchableItems
}

/** Of each kind, so many at most: who types another letter finds the rest. */
const OF_A_KIND_MAX = 6
const PAYMENT_ID = /^pay_[0-9A-Z]{26}$/
const REFUSAL_ID = /^ref_[0-9A-Z]{26}$/

/** Where what somebody typed may lead, pages first. Nothing typed: every page. */
export function findTargets(text: string, { slug, mode, items }: Place): readonly Target[] {
  const wanted = text.trim()
  if (PAYMENT_ID.test(wanted)) return [{ text: `Payment ${wanted}`, path: pathTo(slug, mode, 'payments', wanted) }]
  if (REFUSAL_ID.test(wanted)) return [{ text: `Refusal ${wanted}`, path: pathTo(slug, mode, 'refusals', wanted) }]
  const isWanted = (...texts: readonly string[]) =>
    texts.some((candidate) => candidate.toLowerCase().includes(wanted.toLowerCase()))
  const pages = listPages(slug, mode).filter((page) => isWanted(page.text))
  if (wanted === '') return pages
  const agents = items.agents
    .filter(({ id }) => isWanted(id))
    .map(({ id }) => ({ text: id, detail: 'agent', path: pathTo(slug, mode, 'agents', id) }))
  const wallets = items.wallets
    .filter(({ name, address }) => isWanted(name, address))
    .map(({ name, address }) => ({
      text: name,
      detail: `wallet ${formatShortAddress(address)}`,
      path: pathTo(slug, mode, 'wallets', address),
    }))
  const grants = items.grants
    .filter((grant) => isWanted(grant.id, grant.agent_id, grant.wallet_name))
    .map((grant) => ({
      text: `${grant.agent_id} from ${grant.wallet_name}`,
      detail: `grant: ${GRANT_STATE_LABELS[grant.state].toLowerCase()}`,
      path: pathTo(slug, mode, 'grants', grant.id),
    }))
  return [...pages, ...[agents, wallets, grants].flatMap((kind) => kind.slice(0, OF_A_KIND_MAX))]
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
