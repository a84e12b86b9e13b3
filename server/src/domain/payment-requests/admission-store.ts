import { computed, nullable, pick, type RowOf } from '../../db/column.ts'
import { all, firstOrNull, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc, type MicroUsdc } from '../../values/money.ts'
import { toPlan } from '../workspaces/workspaces-store.ts'
import type { LedgerMemory } from '../context.ts'
import type { GrantPolicy } from '../grants/grant.ts'
import { POLICY_ROW, toPolicy } from '../grants/grants-store.ts'
import type { Plan } from '../plans/plan.ts'
import { heldSince, unminedSum } from '../payments/pending-store.ts'
import { spentSum } from '../grants/spent-window.ts'
import { LOOKED_UP_DAYS } from '../unexplained-transfers/unexplained-transfer.ts'
import type { SignerKey } from '../payments/signing-store.ts'

const { grants, payments, wallet_slots: slots, wallets } = tables

const FACTS_ROW = {
  agent_exists: computed.bool,
  enclave_wallet_id: nullable(wallets.enclave_wallet_id),
  plan: computed.text,
  spent: computed.numeric,
  unmined: computed.numeric,
  has_unexplained: computed.bool,
  has_newest: computed.bool,
}

const GRANT_ROW = {
  id: grants.id,
  ...POLICY_ROW,
  slot: grants.slot,
  slot_key: slots.signer_private_key_sealed,
}

/** The agent and the wallet that a payment names. */
export interface Parties {
  readonly workspaceId: string
  readonly mode: Mode
  readonly agentId: string
  readonly wallet: Address
}

/** The active grant that a payment would be made under. */
export interface AdmissionGrant extends GrantPolicy {
  readonly grantId: string
  readonly signerKey: SignerKey
}

/** The columns of `unnest` with one row for each request; `PARTY_ARRAYS` are its arguments. */
const PARTY_COLUMNS = 'workspace_id, mode, wallet, agent_id'
const PARTY_ARRAYS = '$1::text[], $2::text[], $3::text[], $4::text[]'

/**
 * Returns the active grants that payments would be made under, by the position of their request. A request without one
 * is left out. Takes no lock, so it is for previews, on which nothing depends (D55). Uses the primary keys of wallets
 * and slots, and `grants_one_active_per_agent_and_wallet`: the planner does not merge the subquery into the outer query,
 * so each request is looked up separately.
 */
export function findAdmissionGrants(requests: readonly Parties[]): Query<ReadonlyMap<number, AdmissionGrant>> {
  return {
    name: 'find_admission_grants',
    text: grantsText('offset 0'),
    values: partyArrays(requests),
    read: rowsOf({ position: computed.int8, ...GRANT_ROW }, (rows) => {
      return new Map(rows.map((row) => [Number(row.position) - 1, toGrant(row)]))
    }),
  }
}

/**
 * Locks the wallets' rows and then the grants', in the given order, so that the wallets' balances and the grants' limits
 * are exact (D22). Waits for other transactions. Inserts of rows that refer to them by a foreign key do not wait for
 * these locks. Returns what `findAdmissionGrants` returns; `readFacts` says what is missing. Uses the same indexes.
 */
export function lockGrants(requests: readonly Parties[]): Query<ReadonlyMap<number, AdmissionGrant>> {
  return { ...findAdmissionGrants(requests), name: 'lock_grants', text: grantsText('for no key update of w, g') }
}

/**
 * Locks what `lockGrants` locks, but never waits: a request is left out if another transaction holds one of its locks.
 * A lock on the wallet is kept even if the lock on the grant was not free. Uses the same indexes.
 */
export function lockFreeGrants(requests: readonly Parties[]): Query<ReadonlyMap<number, AdmissionGrant>> {
  const text = grantsText('for no key update of w, g skip locked')
  return { ...findAdmissionGrants(requests), name: 'lock_free_grants', text }
}

function grantsText(ending: string): string {
  return `select r.position, l.id, l.max_per_tx_micro, l.daily_cap_micro, l.recipient_allowlist, l.contract_allowlist,
        l.expires_at, l.x402, l.slot, l.slot_key
      from unnest(${PARTY_ARRAYS}) with ordinality as r (${PARTY_COLUMNS}, position)
      cross join lateral (
        select g.id, g.max_per_tx_micro, g.daily_cap_micro, g.recipient_allowlist, g.contract_allowlist, g.expires_at,
          g.x402, g.slot, s.signer_private_key_sealed as slot_key
        from wallets w
        join grants g on g.workspace_id = w.workspace_id and g.mode = w.mode and g.wallet_address = w.address
        join wallet_slots s on s.workspace_id = g.workspace_id and s.mode = g.mode
          and s.wallet_address = g.wallet_address and s.slot = g.slot
        where w.workspace_id = r.workspace_id and w.mode = r.mode and w.address = r.wallet
          and g.agent_id = r.agent_id and g.status = 'active' and g.suspended_at is null
        ${ending}) l`
}

/**
 * Returns the id of the agent's active grant on the wallet, even if it is suspended. Uses the index
 * `grants_one_active_per_agent_and_wallet`.
 */
export function findActiveGrantId(parties: Parties): Query<string | null> {
  return {
    name: 'find_active_grant_id',
    text: `select id from grants
      where workspace_id = $1 and mode = $2 and wallet_address = $3 and agent_id = $4 and status = 'active'`,
    values: [parties.workspaceId, parties.mode, parties.wallet, parties.agentId],
    read: firstOrNull(pick(grants, 'id'), (row) => row.id),
  }
}

function partyArrays(requests: readonly Parties[]): unknown[] {
  return [
    requests.map(({ workspaceId }) => workspaceId),
    requests.map(({ mode }) => mode),
    requests.map(({ wallet }) => wallet),
    requests.map(({ agentId }) => agentId),
  ]
}

function toGrant(row: RowOf<typeof GRANT_ROW>): AdmissionGrant {
  return {
    grantId: row.id,
    ...toPolicy(row),
    signerKey: { slot: row.slot, sealed: row.slot_key },
  }
}

/**
 * The facts that the decision on a payment needs. A payment reads them after the lock was granted, so they include
 * everything that was committed before.
 */
export interface AdmissionFacts {
  readonly agentExists: boolean
  readonly plan: Plan
  /** What the agent has spent from the wallet within the window of the daily cap (D16). */
  readonly spent24hMicro: MicroUsdc
  /**
   * The sum of the payments that the balance at the snapshot's block does not show yet: confirmed in a later block, or
   * pending and not older than `BALANCE_HOLD_MS` (D26).
   */
  readonly unminedMicro: MicroUsdc
  /**
   * Whether USDC has left a wallet of this workspace and mode without a payment. If so, a payment with an idempotency
   * key may already have been made, before the database was restored from a backup (D96).
   */
  readonly hasUnexplained: boolean
  /** Whether the database has the newest payment that this process has reserved, or there is none. */
  readonly hasNewest: boolean
  /** Null if there is no such wallet. */
  readonly enclaveWalletId: string | null
}

/** The values on which the facts of a request depend. */
export interface FactsRead extends Parties {
  readonly now: Date
  readonly windowStart: Date
  readonly balanceBlock: bigint
}

/**
 * Reads the facts that decide whether payments are allowed, in the order of the requests. `newest` is the newest payment
 * that this process has reserved. `offset 0` keeps the planner from merging the subquery into a join, so each request is
 * looked up separately. Uses `payments_in_window`, `payments_holding_balance`, `payments_confirmed_by_block`,
 * `unexplained_transfers_of_wallet` and primary keys.
 */
export function readFacts(
  requests: readonly FactsRead[],
  newest: LedgerMemory['newestPayment'],
): Query<AdmissionFacts[]> {
  const party = { workspace: 'r.workspace_id', mode: 'r.mode', wallet: 'r.wallet' }
  return {
    name: 'read_payment_facts',
    text: `select f.agent_exists, f.enclave_wallet_id, f.plan, f.spent, f.unmined, f.has_unexplained, f.has_newest
      from unnest(${PARTY_ARRAYS}, $5::timestamptz[], $6::bigint[], $7::timestamptz[])
        with ordinality as r (${PARTY_COLUMNS}, window_start, block, since, position)
      cross join lateral (
        select a.id is not null as agent_exists, w.enclave_wallet_id,
          (select plan from workspaces where id = r.workspace_id) as plan,
          ${spentSum({ ...party, agent: 'r.agent_id', since: 'r.window_start' })} as spent,
          ${unminedSum({ ...party, block: 'r.block', since: 'r.since' })} as unmined,
          exists (select 1 from unexplained_transfers u where u.workspace_id = r.workspace_id and u.mode = r.mode
            and u.mined_at > r.window_start - interval '${LOOKED_UP_DAYS} days'
            and u.payment_id is null) as has_unexplained,
          ($9::text is null or exists (select 1 from payments n
            where n.workspace_id = $8 and n.id = $9)) as has_newest
        from (select 1) one
        left join agents a on a.workspace_id = r.workspace_id and a.mode = r.mode and a.id = r.agent_id
          and a.deleted_at is null
        left join wallets w on w.workspace_id = r.workspace_id and w.mode = r.mode and w.address = r.wallet
        offset 0) f
      order by r.position`,
    values: [
      ...partyArrays(requests),
      requests.map(({ windowStart }) => windowStart),
      requests.map(({ balanceBlock }) => balanceBlock),
      requests.map(({ now }) => heldSince(now)),
      newest?.workspaceId ?? null,
      newest?.id ?? null,
    ],
    read: all(FACTS_ROW, toFacts),
  }
}

function toFacts(row: RowOf<typeof FACTS_ROW>): AdmissionFacts {
  return {
    agentExists: row.agent_exists,
    plan: toPlan(row.plan),
    spent24hMicro: microUsdc(BigInt(row.spent)),
    unminedMicro: microUsdc(BigInt(row.unmined)),
    hasUnexplained: row.has_unexplained,
    hasNewest: row.has_newest,
    enclaveWalletId: row.enclave_wallet_id,
  }
}

/**
 * Finds the oldest payment for which this is true: once it has left the window, enough of the daily cap is free for
 * `neededMicro`. Returns when this payment was created, or null if waiting does not help (D18a). Uses the index
 * `payments_in_window`.
 */
export function findReleasingPayment(parties: Parties, windowStart: Date, neededMicro: bigint): Query<Date | null> {
  return {
    name: 'find_releasing_payment',
    text: `select created_at from (
        select p.created_at, sum(p.amount_micro) over (order by p.created_at) as released from payments p
        where p.workspace_id = $1 and p.mode = $2 and p.wallet_address = $3 and p.agent_id = $4
          and p.created_at > $5 and p.status <> 'failed') s
      where released >= $6 order by created_at limit 1`,
    values: [parties.workspaceId, parties.mode, parties.wallet, parties.agentId, windowStart, neededMicro],
    read: firstOrNull(pick(payments, 'created_at'), (row) => row.created_at),
  }
}
