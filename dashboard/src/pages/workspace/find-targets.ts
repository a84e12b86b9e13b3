import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import type { Mode, Role } from '@bursar/server/src/console/contract/fields.ts'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { containsFolded } from '@bursar/server/src/values/fold-text.ts'
import { may, type Right } from '@bursar/server/src/values/role.ts'
import { formatShortAddress } from '../../format/address.ts'
import { GRANT_STATE_LABELS } from '../../format/grant-state-text.ts'
import { pathTo } from '../../navigation/paths.ts'
import { WORKSPACE_ACTIONS } from './workspace-actions.ts'
import { PAGE_GROUPS } from './workspace-pages.ts'

export interface Target {
  readonly text: string
  /** The kind of object. Undefined for pages and actions. */
  readonly detail?: string
  readonly path: string
}

/** Objects that can be found by name or ID. */
export interface SearchableItems {
  readonly agents: readonly Pick<Agent, 'id'>[]
  readonly wallets: readonly Pick<Wallet, 'name' | 'address'>[]
  readonly grants: readonly Pick<Grant, 'id' | 'agent_id' | 'wallet_name' | 'state'>[]
  readonly recipients: readonly Pick<Recipient, 'label' | 'address'>[]
}

interface SearchContext {
  readonly slug: string
  readonly mode: Mode
  /** Actions that the member may not do are left out. */
  readonly role: Role
  readonly items: SearchableItems
}

/** At most this many results of each kind are listed. The user can type more to get fewer results. */
const RESULTS_PER_KIND_MAX = 6
const PAYMENT_ID = /^pay_[0-9A-Z]{26}$/
const REFUSAL_ID = /^ref_[0-9A-Z]{26}$/

/**
 * Returns the targets that match the text, pages and actions first. Returns all pages and actions if the text is empty.
 * The last target is the search for the text in the payments.
 */
export function findTargets(text: string, context: SearchContext): readonly Target[] {
  const query = text.trim()
  if (PAYMENT_ID.test(query)) return inBothModes(context, { text: `Payment ${query}`, parts: ['payments', query] })
  if (REFUSAL_ID.test(query))
    return inBothModes(context, { text: `Rejected request ${query}`, parts: ['refusals', query] })
  const pages = listPages(context)
    .filter((page) => containsFolded(`${page.text} ${page.words ?? ''}`, query))
    .map((page): Target => ({ text: page.text, path: page.path }))
  if (query === '') return pages
  const { slug, mode } = context
  const search = { text: `Search payments for “${query}”`, path: searchPath(slug, mode, { q: query }) }
  return [...pages, ...listItems(query, context), search]
}

function listItems(query: string, { slug, mode, items }: SearchContext): readonly Target[] {
  const matches = (...texts: readonly string[]) => texts.some((candidate) => containsFolded(candidate, query))
  const agents = items.agents
    .filter(({ id }) => matches(id))
    .map(({ id }) => ({ text: id, detail: 'agent', path: pathTo(slug, mode, 'agents', id) }))
  const wallets = items.wallets
    .filter(({ name, address }) => matches(name, address, formatShortAddress(address)))
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
  const recipients = items.recipients
    .filter(({ label, address }) => matches(label, address, formatShortAddress(address)))
    .map(({ label, address }) => ({
      text: label,
      detail: `payments to ${formatShortAddress(address)}`,
      path: searchPath(slug, mode, { recipient: address }),
    }))
  return [agents, wallets, grants, recipients].flatMap((kind) => kind.slice(0, RESULTS_PER_KIND_MAX))
}

function searchPath(slug: string, mode: Mode, filter: Readonly<Record<string, string>>): string {
  return `${pathTo(slug, mode, 'payments')}?${new URLSearchParams(filter)}`
}

/** An ID does not show the mode of its object. */
function inBothModes(
  { slug, mode }: SearchContext,
  { text, parts }: { readonly text: string; readonly parts: readonly string[] },
): readonly Target[] {
  const other = otherThan(mode)
  return [
    { text, path: pathTo(slug, mode, ...parts) },
    { text, detail: `in ${other} mode`, path: pathTo(slug, other, ...parts) },
  ]
}

function otherThan(mode: Mode): Mode {
  return mode === 'test' ? 'live' : 'test'
}

interface Page extends Target {
  /** Other words by which the page is found. */
  readonly words?: string
  readonly needs?: Right
}

function listPages({ slug, mode, role }: SearchContext): readonly Page[] {
  const other = otherThan(mode)
  const all: readonly Page[] = [
    ...PAGE_GROUPS.flatMap(({ pages }) =>
      pages.map(({ text, parts }) => ({ text, path: pathTo(slug, mode, ...parts) })),
    ),
    ...WORKSPACE_ACTIONS.map(({ parts, hash = '', ...action }) => ({
      ...action,
      path: pathTo(slug, mode, ...parts) + hash,
    })),
    { text: `Switch to ${other} mode`, path: pathTo(slug, other) },
    { text: 'Your account', path: '/account' },
    { text: 'All workspaces', path: '/' },
  ]
  return all.filter(({ needs }) => needs === undefined || may(role, needs))
}
