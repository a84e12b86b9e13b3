import type { Query } from '../../../db/query.ts'
import type { Address } from '../../../values/address.ts'
import { isId } from '../../../values/ids.ts'
import type { Mode } from '../../../values/mode.ts'
import { invalidMember } from '../../../values/invalid-request.ts'
import { Problem } from '../../../values/problem.ts'
import type { Context } from '../../context.ts'
import { listDepositRows } from '../../deposits/deposits-store.ts'
import {
  compareNewestFirst,
  depositIdsOf,
  type LedgerEntry,
  type LedgerEntryType,
  type LedgerPosition,
  type LedgerRange,
} from './ledger-entry.ts'
import {
  findDepositPosition,
  findPaymentPosition,
  listLedgerDepositsOfAgent,
  listLedgerPayments,
  listLedgerWithdrawals,
} from './ledger-store.ts'

/** The conditions for the entries in a list. Null sets no condition. */
export interface LedgerFilter {
  /** Only payments of this agent. Deposits and withdrawals have no agent, so they are left out. */
  readonly agentId: string | null
  readonly wallet: Address | null
  readonly types: readonly LedgerEntryType[] | null
  /** Created at this time or later. */
  readonly createdAfter: Date | null
  /** Created before this time. */
  readonly createdBefore: Date | null
}

export interface LedgerRequest {
  readonly workspaceId: string
  readonly mode: Mode
  /**
   * The agent to which the caller's credential is bound. Such a caller sees the payments of this agent, and the
   * deposits to the wallets on which this agent has a signed grant that is not revoked. Null if the caller is not
   * bound.
   */
  readonly boundAgentId: string | null
  readonly filter: LedgerFilter
  /** The id of an entry: the list starts after it. */
  readonly startingAfter: string | null
  /** How many entries to list, at most `LEDGER_PAGE_MAX`. */
  readonly limit: number
}

export interface LedgerPage {
  readonly entries: readonly LedgerEntry[]
  readonly hasMore: boolean
}

const OLDEST = new Date(0)
const NEWEST = new Date('9999-12-31T23:59:59.999Z')

/**
 * Lists what moved in the workspace and mode, newest first (D53): payments of agents, deposits and withdrawals. Pages
 * have no gaps and no duplicates, even if new entries are written meanwhile.
 *
 * Errors: 400 `validation_failed`, whose details name `starting_after`, if the caller can see no entry with this id;
 * 403 `agent_not_authorized` if the filter names an agent other than the caller's own.
 */
export async function listLedger(ctx: Pick<Context, 'db'>, request: LedgerRequest): Promise<LedgerPage> {
  const { boundAgentId, filter, limit } = request
  if (boundAgentId !== null && filter.agentId !== null && filter.agentId !== boundAgentId) throw otherAgent()
  const start = await findStart(ctx, request)
  const queries = selectQueries(request, toRange(filter, start))
  if (queries.length === 0) return { entries: [], hasMore: false }
  const found = (await ctx.db.readSlow(queries, request.workspaceId)).flat().toSorted(compareNewestFirst)
  return { entries: found.slice(0, limit), hasMore: found.length > limit }
}

/** Returns a query for each type of entry that the list may contain. */
function selectQueries(request: LedgerRequest, range: LedgerRange): Query<LedgerEntry[]>[] {
  const { workspaceId, mode, boundAgentId, filter } = request
  const { wallet, types } = filter
  // Reads one more entry than fits on the page, to know whether there is a next page.
  const selection = { workspaceId, mode, wallet, range, limit: request.limit + 1 }
  const isWanted = (type: LedgerEntryType): boolean =>
    (types === null || types.includes(type)) && (type === 'payment' || filter.agentId === null)
  const queries: Query<LedgerEntry[]>[] = []
  if (isWanted('payment')) queries.push(listLedgerPayments({ ...selection, agentId: filter.agentId ?? boundAgentId }))
  if (isWanted('deposit')) {
    const { from, below: before } = depositIdsOf(range)
    queries.push(
      boundAgentId === null
        ? listDepositRows({ ...selection, from, before })
        : listLedgerDepositsOfAgent({ ...selection, agentId: boundAgentId }),
    )
  }
  // A withdrawal is made by an owner of the wallet, and no agent can read it (D62).
  if (isWanted('withdrawal') && boundAgentId === null) queries.push(listLedgerWithdrawals(selection))
  return queries
}

function toRange({ createdAfter, createdBefore }: LedgerFilter, start: LedgerPosition | null): LedgerRange {
  const end = { createdAt: later(createdBefore ?? NEWEST, OLDEST), id: '' }
  const after = start !== null && compareNewestFirst(start, end) > 0 ? start : end
  return { from: later(createdAfter ?? OLDEST, OLDEST), after }
}

function later(left: Date, right: Date): Date {
  return left > right ? left : right
}

/** Finds the entry after which the list starts. */
async function findStart(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode, boundAgentId, startingAfter: id }: LedgerRequest,
): Promise<LedgerPosition | null> {
  if (id === null) return null
  if (isId('deposit', id)) {
    const found = await ctx.db.read(findDepositPosition({ workspaceId, mode, agentId: boundAgentId }, id))
    if (found !== null) return found
  }
  if (isId('payment', id)) {
    const found = await ctx.db.read(findPaymentPosition(workspaceId, mode, id))
    if (found !== null && (boundAgentId === null || found.agentId === boundAgentId)) return found
  }
  const message = 'must be the id of an entry that you can list'
  throw invalidMember('starting_after', message)
}

function otherAgent(): Problem {
  const message =
    'This credential reads only the payments of its own agent. Leave agent_id out, or send the id of that agent.'
  return new Problem('forbidden', message, { code: 'agent_not_authorized' })
}
