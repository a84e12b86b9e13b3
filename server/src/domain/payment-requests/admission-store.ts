import { computed, nullable, pick, type RowOf } from '../../db/column.ts'
import { all, firstOrNull, one, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc, type MicroUsdc } from '../../values/money.ts'
import { toPlan } from '../accounts/accounts-store.ts'
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
  wallet_exists: computed.bool,
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

/**
 * How a statement names the agent and the wallet of a request: as parameters, or as columns of a row for each request.
 */
interface PartyTerms {
  readonly account: string
  readonly mode: string
  readonly wallet: string
  readonly agent: string
}

/** How a statement names the values on which the facts of a request depend. */
interface FactTerms extends PartyTerms {
  readonly windowStart: string
  readonly block: string
  readonly since: string
  readonly newestAccount: string
  readonly newestId: string
}

const PARTY_PARAMETERS: PartyTerms = { account: '$1', mode: '$2', wallet: '$3', agent: '$4' }
const PARTY_COLUMNS: PartyTerms = { account: 'r.account_id', mode: 'r.mode', wallet: 'r.wallet', agent: 'r.agent_id' }

function grantText({ account, mode, wallet, agent }: PartyTerms): string {
  return `select g.id, g.max_per_tx_micro, g.daily_cap_micro, g.recipient_allowlist, g.contract_allowlist,
    g.expires_at, g.x402, g.slot, s.signer_private_key_sealed as slot_key
  from wallets w
  join grants g on g.account_id = w.account_id and g.mode = w.mode and g.wallet_address = w.address
  join wallet_slots s on s.account_id = g.account_id and s.mode = g.mode
    and s.wallet_address = g.wallet_address and s.slot = g.slot
  where w.account_id = ${account} and w.mode = ${mode} and w.address = ${wallet}
    and g.agent_id = ${agent} and g.status = 'active' and g.suspended_at is null`
}

/** The statement for one request and the statement for many requests read the same facts, so both contain this text. */
function factsText(terms: FactTerms): string {
  const { account, mode, wallet, agent, windowStart, block, since, newestAccount, newestId } = terms
  return `select a.id is not null as agent_exists, w.address is not null as wallet_exists,
        w.enclave_wallet_id,
        (select plan from accounts where id = ${account}) as plan,
        ${spentSum({ account, mode, wallet, agent, since: windowStart })} as spent,
        ${unminedSum({ account, mode, wallet, block, since })} as unmined,
        exists (select 1 from unexplained_transfers u where u.account_id = ${account} and u.mode = ${mode}
          and u.mined_at > ${windowStart}::timestamptz - interval '${LOOKED_UP_DAYS} days'
          and u.payment_id is null) as has_unexplained,
        (${newestId}::text is null or exists (select 1 from payments n
          where n.account_id = ${newestAccount} and n.id = ${newestId})) as has_newest
      from (select 1) one
      left join agents a on a.account_id = ${account} and a.mode = ${mode} and a.id = ${agent} and a.deleted_at is null
      left join wallets w on w.account_id = ${account} and w.mode = ${mode} and w.address = ${wallet}`
}

/** The agent and the wallet that a payment names. */
export interface Parties {
  readonly accountId: string
  readonly mode: Mode
  readonly agentId: string
  readonly wallet: Address
}

/** The active grant that a payment would be made under. */
export interface AdmissionGrant extends GrantPolicy {
  readonly grantId: string
  readonly signerKey: SignerKey
}

/**
 * Locks the wallet's row and then the grant's, so that the wallet's balance and the grant's cap are exact (D22).
 * Inserts of rows that refer to them by a foreign key do not wait for this lock. Returns null if there is no active
 * grant to lock; `readFacts` then says what is missing. Uses the primary keys of wallets and slots, and
 * `grants_one_active_per_agent_and_wallet`.
 */
export function lockGrant(parties: Parties): Query<AdmissionGrant | null> {
  return {
    ...findAdmissionGrant(parties),
    name: 'lock_grant',
    text: `${grantText(PARTY_PARAMETERS)} for no key update of w, g`,
  }
}

/**
 * Returns the grant that `lockGrant` returns, but without a lock. It is for previews, on which nothing depends (D55).
 * Uses the same indexes.
 */
export function findAdmissionGrant(parties: Parties): Query<AdmissionGrant | null> {
  return {
    name: 'find_admission_grant',
    text: grantText(PARTY_PARAMETERS),
    values: [parties.accountId, parties.mode, parties.wallet, parties.agentId],
    read: firstOrNull(GRANT_ROW, toGrant),
  }
}

/**
 * Returns the id of the agent's active grant on the wallet, even if it is suspended. Uses the index
 * `grants_one_active_per_agent_and_wallet`.
 */
export function findActiveGrantId(parties: Parties): Query<string | null> {
  return {
    name: 'find_active_grant_id',
    text: `select id from grants
      where account_id = $1 and mode = $2 and wallet_address = $3 and agent_id = $4 and status = 'active'`,
    values: [parties.accountId, parties.mode, parties.wallet, parties.agentId],
    read: firstOrNull(pick(grants, 'id'), (row) => row.id),
  }
}

/**
 * Locks the same rows as `lockGrant` for many requests, in the given order, and returns the grants by the position of
 * their request. A request is left out if it has no active grant, or if another transaction holds one of its locks:
 * this statement never waits. A lock on the wallet is kept even if the lock on the grant was not free. The planner does
 * not merge a subquery that locks into the outer query, so each request is looked up separately. Uses the same indexes.
 */
export function lockFreeGrants(requests: readonly Parties[]): Query<ReadonlyMap<number, AdmissionGrant>> {
  return {
    name: 'lock_free_grants',
    text: `select r.position, l.id, l.max_per_tx_micro, l.daily_cap_micro, l.recipient_allowlist, l.contract_allowlist,
        l.expires_at, l.x402, l.slot, l.slot_key
      from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality
        as r (account_id, mode, wallet, agent_id, position)
      cross join lateral (${grantText(PARTY_COLUMNS)} for no key update of w, g skip locked) l`,
    values: partyArrays(requests),
    read: rowsOf({ position: computed.int8, ...GRANT_ROW }, (rows) => {
      return new Map(rows.map((row) => [Number(row.position) - 1, toGrant(row)]))
    }),
  }
}

function partyArrays(requests: readonly Parties[]): unknown[] {
  return [
    requests.map(({ accountId }) => accountId),
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
  readonly walletExists: boolean
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

const FACT_PARAMETERS = { windowStart: '$5', block: '$6', since: '$7' } as const

/** As of when facts are read, and the newest payment that this process has reserved. */
interface FactsRead {
  readonly now: Date
  readonly windowStart: Date
  readonly balanceBlock: bigint
  readonly newest: LedgerMemory['newestPayment']
}

/**
 * Reads the facts that decide whether a payment is allowed. The sums in the facts use the indexes `payments_in_window`,
 * `payments_holding_balance`, `payments_confirmed_by_block`, `unexplained_transfers_of_wallet` and the primary
 * key of payments.
 */
export function readFacts(
  parties: Parties,
  { now, windowStart, balanceBlock, newest }: FactsRead,
): Query<AdmissionFacts> {
  return {
    name: 'read_payment_facts',
    text: factsText({ ...PARTY_PARAMETERS, ...FACT_PARAMETERS, newestAccount: '$8', newestId: '$9' }),
    values: [
      parties.accountId,
      parties.mode,
      parties.wallet,
      parties.agentId,
      windowStart,
      balanceBlock,
      heldSince(now),
      newest?.accountId ?? null,
      newest?.id ?? null,
    ],
    read: one(FACTS_ROW, toFacts),
  }
}

/** One request of a batch: the values for which its facts are read. */
export interface BatchedRead extends Parties {
  readonly idempotencyKey: string | null
  readonly now: Date
  readonly windowStart: Date
  readonly balanceBlock: bigint
}

export interface BatchedFacts extends AdmissionFacts {
  /** Whether a payment has the request's idempotency key already. */
  readonly isKeyUsed: boolean
}

/**
 * Reads the facts that `readFacts` reads, but for many requests, in their order. `offset 0` keeps the planner from
 * merging the subquery into a join, so each request is looked up separately. Uses `payments_in_window`,
 * `payments_holding_balance`, `payments_confirmed_by_block`, `payments_by_idempotency_key`,
 * `unexplained_transfers_of_wallet` and primary keys.
 */
export function readFactsOfMany(
  requests: readonly BatchedRead[],
  newest: LedgerMemory['newestPayment'],
): Query<BatchedFacts[]> {
  const times = { windowStart: 'r.window_start', block: 'r.block', since: 'r.since' }
  const terms = { ...PARTY_COLUMNS, ...times, newestAccount: '$9', newestId: '$10' }
  return {
    name: 'read_facts_of_many',
    text: `select f.agent_exists, f.wallet_exists, f.enclave_wallet_id, f.plan, f.spent, f.unmined,
        f.has_unexplained, f.has_newest, (select p.id from payments p where p.account_id = r.account_id and p.mode = r.mode
          and p.idempotency_key = r.key) is not null as key_used
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::bigint[], $7::timestamptz[],
        $8::text[]) with ordinality as r (account_id, mode, wallet, agent_id, window_start, block, since, key, position)
      cross join lateral (${factsText(terms)} offset 0) f
      order by r.position`,
    values: [
      ...partyArrays(requests),
      requests.map(({ windowStart }) => windowStart),
      requests.map(({ balanceBlock }) => balanceBlock),
      requests.map(({ now }) => heldSince(now)),
      requests.map(({ idempotencyKey }) => idempotencyKey),
      newest?.accountId ?? null,
      newest?.id ?? null,
    ],
    read: all({ ...FACTS_ROW, key_used: computed.bool }, (row) => ({ ...toFacts(row), isKeyUsed: row.key_used })),
  }
}

function toFacts(row: RowOf<typeof FACTS_ROW>): AdmissionFacts {
  return {
    agentExists: row.agent_exists,
    walletExists: row.wallet_exists,
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
        where p.account_id = $1 and p.mode = $2 and p.wallet_address = $3 and p.agent_id = $4
          and p.created_at > $5 and p.status <> 'failed') s
      where released >= $6 order by created_at limit 1`,
    values: [parties.accountId, parties.mode, parties.wallet, parties.agentId, windowStart, neededMicro],
    read: firstOrNull(pick(payments, 'created_at'), (row) => row.created_at),
  }
}
