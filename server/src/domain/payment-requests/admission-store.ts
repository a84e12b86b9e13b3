import { computed, nullable, pick } from '../../db/column.ts'
import { firstOrNull, one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc, type MicroUsdc } from '../../values/money.ts'
import { toPlan } from '../accounts/accounts-store.ts'
import type { GrantPolicy } from '../grants/grant.ts'
import { POLICY_ROW, toPolicy } from '../grants/grants-store.ts'
import type { Plan } from '../plans/plan.ts'
import { heldSince, UNMINED } from '../payments/pending-store.ts'
import { toSignerKey, type SignerKey } from '../payments/signing-store.ts'

const { agents, grants, payments, wallet_slots: slots, wallets } = tables

const FACTS_ROW = {
  agent_exists: computed.bool,
  wallet_exists: computed.bool,
  enclave_wallet_id: nullable(wallets.enclave_wallet_id),
  signer_private_key_sealed: agents.signer_private_key_sealed,
  plan: computed.text,
  spent: computed.numeric,
  unmined: computed.numeric,
}

const GRANT_ROW = {
  id: grants.id,
  ...POLICY_ROW,
  slot: grants.slot,
  slot_key: nullable(slots.signer_private_key_sealed),
}

const GRANT_TEXT = `select g.id, g.max_per_tx_micro, g.daily_cap_micro, g.recipient_allowlist, g.contract_allowlist,
    g.expires_at, g.slot, s.signer_private_key_sealed as slot_key
  from wallets w
  join grants g on g.account_id = w.account_id and g.mode = w.mode and g.wallet_address = w.address
  left join wallet_slots s on s.account_id = g.account_id and s.mode = g.mode
    and s.wallet_address = g.wallet_address and s.slot = g.slot
  where w.account_id = $1 and w.mode = $2 and w.address = $3
    and g.agent_id = $4 and g.status = 'active' and g.suspended_at is null`

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
  /** The key of the grant's slot; null for a grant of a wallet without slots. */
  readonly slotKey: SignerKey | null
}

/**
 * Locks the wallet's row and then the grant's, so that the wallet's balance and the grant's cap are exact (D22).
 * Inserts of rows that refer to them by a foreign key do not wait for this lock. Returns null if there is no active
 * grant to lock; the facts below say what is missing. Uses the primary keys of wallets and
 * slots, and `grants_one_active_per_agent_and_wallet`.
 */
export function lockGrant(parties: Parties): Query<AdmissionGrant | null> {
  return { ...findAdmissionGrant(parties), name: 'lock_grant', text: `${GRANT_TEXT} for no key update of w, g` }
}

/** Returns the same grant without locking it, for a decision that nothing depends on (D55). Uses the same indexes. */
export function findAdmissionGrant(parties: Parties): Query<AdmissionGrant | null> {
  return {
    name: 'find_admission_grant',
    text: GRANT_TEXT,
    values: [parties.accountId, parties.mode, parties.wallet, parties.agentId],
    read: firstOrNull(GRANT_ROW, (row) => ({
      grantId: row.id,
      ...toPolicy(row),
      slotKey: row.slot === null ? null : toSignerKey(row.slot, row.slot_key),
    })),
  }
}

/**
 * What the decision on a payment needs. A payment reads it after the lock was taken, so it includes everything
 * committed before.
 */
export interface AdmissionFacts {
  readonly agentExists: boolean
  readonly walletExists: boolean
  readonly plan: Plan
  /** What the agent has spent from the wallet within the window of the daily cap (D16). */
  readonly spent24hMicro: MicroUsdc
  /**
   * The payments that the balance at the snapshot's block does not show yet: confirmed in a later block, or pending and
   * not older than `BALANCE_HOLD_MS` (D26).
   */
  readonly unminedMicro: MicroUsdc
  /** Null if there is no such wallet. */
  readonly enclaveWalletId: string | null
  /** The agent's own key, for a grant of a wallet without slots. Null if the agent has none. */
  readonly agentKey: SignerKey | null
}

/**
 * Reads the facts that decide whether a payment is allowed. The three sums use the indexes `payments_in_window`,
 * `payments_holding_balance` and `payments_confirmed_by_block`.
 */
export function readFacts(
  parties: Parties,
  { now, windowStart, balanceBlock }: { now: Date; windowStart: Date; balanceBlock: bigint },
): Query<AdmissionFacts> {
  return {
    name: 'read_payment_facts',
    text: `select a.id is not null as agent_exists, w.address is not null as wallet_exists,
        w.enclave_wallet_id, a.signer_private_key_sealed,
        (select plan from accounts where id = $1) as plan,
        (select coalesce(sum(p.amount_micro), 0) from payments p
          where p.account_id = $1 and p.mode = $2 and p.wallet_address = $3 and p.agent_id = $4
            and p.created_at > $5 and p.status <> 'failed') as spent,
        ${UNMINED} as unmined
      from (select 1) one
      left join agents a on a.account_id = $1 and a.mode = $2 and a.id = $4 and a.deleted_at is null
      left join wallets w on w.account_id = $1 and w.mode = $2 and w.address = $3`,
    values: [
      parties.accountId,
      parties.mode,
      parties.wallet,
      parties.agentId,
      windowStart,
      balanceBlock,
      heldSince(now),
    ],
    read: one(FACTS_ROW, (row) => ({
      agentExists: row.agent_exists,
      walletExists: row.wallet_exists,
      plan: toPlan(row.plan),
      spent24hMicro: microUsdc(BigInt(row.spent)),
      unminedMicro: microUsdc(BigInt(row.unmined)),
      enclaveWalletId: row.enclave_wallet_id,
      agentKey: toSignerKey(null, row.signer_private_key_sealed),
    })),
  }
}

/**
 * Finds the oldest payment after which enough of the daily cap is free for `neededMicro`, once it has left the window.
 * Returns when it was created, or null if waiting does not help (D18a). Uses the index `payments_in_window`.
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
