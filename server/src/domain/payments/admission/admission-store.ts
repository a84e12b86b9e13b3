import { computed, nullable, pick, required } from '../../../db/column.ts'
import { firstOrNull, one, type Query } from '../../../db/query.ts'
import { tables } from '../../../db/tables.ts'
import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import { microUsdc, type MicroUsdc } from '../../../values/money.ts'
import { toPlan } from '../../accounts/accounts-store.ts'
import type { GrantPolicy } from '../../grants/grant.ts'
import { POLICY_ROW, toPolicy } from '../../grants/grants-store.ts'
import type { Plan } from '../../plans/plan.ts'
import type { Payment } from '../payment.ts'

const { agents, grants, payments, wallets } = tables

const FACTS_ROW = {
  agent_exists: computed.bool,
  wallet_exists: computed.bool,
  enclave_wallet_id: nullable(wallets.enclave_wallet_id),
  signer_private_key_sealed: agents.signer_private_key_sealed,
  plan: computed.text,
  spent: computed.numeric,
  unmined: computed.numeric,
}

/** The agent has an active grant, so it has a signer. */
const SIGNING_ROW = {
  enclave_wallet_id: wallets.enclave_wallet_id,
  signer_private_key_sealed: required(agents.signer_private_key_sealed),
  expires_at: grants.expires_at,
}

/** The agent and the wallet that a payment names. */
export interface Parties {
  readonly accountId: string
  readonly mode: Mode
  readonly agentId: string
  readonly wallet: Address
}

export interface LockedGrant extends GrantPolicy {
  readonly grantId: string
}

/**
 * Locks the wallet's row and then the grant's, so that the wallet's balance and the grant's cap are exact (D22).
 * Inserts of rows that refer to them by a foreign key do not wait for this lock. Returns null if there is no active
 * grant to lock; the facts below say what is missing. Uses the primary key of wallets and
 * `grants_one_active_per_agent_and_wallet`.
 */
export function lockGrant(parties: Parties): Query<LockedGrant | null> {
  return {
    name: 'lock_grant',
    text: `select g.id, g.max_per_tx_micro, g.daily_cap_micro, g.recipient_allowlist, g.contract_allowlist, g.expires_at
      from wallets w
      join grants g on g.account_id = w.account_id and g.mode = w.mode and g.wallet_address = w.address
      where w.account_id = $1 and w.mode = $2 and w.address = $3
        and g.agent_id = $4 and g.status = 'active' and g.suspended_at is null
      for no key update of w, g`,
    values: [parties.accountId, parties.mode, parties.wallet, parties.agentId],
    read: firstOrNull({ id: grants.id, ...POLICY_ROW }, (row) => ({ grantId: row.id, ...toPolicy(row) })),
  }
}

/**
 * What the decision on a payment needs. It is read after the lock was taken, so it includes everything committed
 * before.
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
  /** Null if there is no such wallet, or no such agent with a signer. */
  readonly signing: SigningParties | null
}

export interface SigningParties {
  readonly enclaveWalletId: string
  readonly signerPrivateKeySealed: Buffer
}

/**
 * How long after its creation a pending payment reserves its amount of the wallet's balance (D24a). After that it
 * counts only towards the daily cap, in the window of its `created_at`.
 */
const BALANCE_HOLD_MS = 24 * 60 * 60 * 1_000

/**
 * Sums by `payments_in_window`, `payments_holding_balance` and `payments_confirmed_by_block`. Pending payments are
 * found by `settled_at is null`, which means the same as `status = 'pending'` by a check of the table. Written this
 * way, the planner cannot read the sum from `payments_due_for_look`, which holds the pending payments of every
 * workspace.
 */
export function readFacts(
  parties: Parties,
  { now, windowStart, balanceBlock }: { now: Date; windowStart: Date; balanceBlock: bigint },
): Query<AdmissionFacts> {
  const heldSince = new Date(now.getTime() - BALANCE_HOLD_MS)
  return {
    name: 'read_payment_facts',
    text: `select a.id is not null as agent_exists, w.address is not null as wallet_exists,
        w.enclave_wallet_id, a.signer_private_key_sealed,
        (select plan from accounts where id = $1) as plan,
        (select coalesce(sum(p.amount_micro), 0) from payments p
          where p.account_id = $1 and p.mode = $2 and p.wallet_address = $3 and p.agent_id = $4
            and p.created_at > $5 and p.status <> 'failed') as spent,
        (select coalesce(sum(p.amount_micro), 0) from payments p
          where p.account_id = $1 and p.mode = $2 and p.wallet_address = $3 and p.settled_at is null
            and p.created_at > $7 and (p.mined_block is null or p.mined_block > $6))
        + (select coalesce(sum(p.amount_micro), 0) from payments p
          where p.account_id = $1 and p.mode = $2 and p.wallet_address = $3 and p.status = 'confirmed'
            and p.mined_block > $6) as unmined
      from (select 1) one
      left join agents a on a.account_id = $1 and a.mode = $2 and a.id = $4 and a.deleted_at is null
      left join wallets w on w.account_id = $1 and w.mode = $2 and w.address = $3`,
    values: [parties.accountId, parties.mode, parties.wallet, parties.agentId, windowStart, balanceBlock, heldSince],
    read: one(FACTS_ROW, (row) => ({
      agentExists: row.agent_exists,
      walletExists: row.wallet_exists,
      plan: toPlan(row.plan),
      spent24hMicro: microUsdc(BigInt(row.spent)),
      unminedMicro: microUsdc(BigInt(row.unmined)),
      signing: toSigning(row.enclave_wallet_id, row.signer_private_key_sealed),
    })),
  }
}

/** Who signs for a payment that is resumed, while its grant is active and not suspended. Uses primary keys. */
export function findSigningParties(
  payment: Pick<Payment, 'accountId' | 'grantId'>,
): Query<(SigningParties & { readonly expiresAt: Date | null }) | null> {
  return {
    name: 'find_signing_parties',
    text: `select w.enclave_wallet_id, a.signer_private_key_sealed, g.expires_at
      from grants g
      join wallets w on w.account_id = g.account_id and w.mode = g.mode and w.address = g.wallet_address
      join agents a on a.account_id = g.account_id and a.mode = g.mode and a.id = g.agent_id
      where g.account_id = $1 and g.id = $2 and g.status = 'active' and g.suspended_at is null`,
    values: [payment.accountId, payment.grantId],
    read: firstOrNull(SIGNING_ROW, (row) => ({
      enclaveWalletId: row.enclave_wallet_id,
      signerPrivateKeySealed: row.signer_private_key_sealed,
      expiresAt: row.expires_at,
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

function toSigning(enclaveWalletId: string | null, signerPrivateKeySealed: Buffer | null): SigningParties | null {
  return enclaveWalletId === null || signerPrivateKeySealed === null
    ? null
    : { enclaveWalletId, signerPrivateKeySealed }
}
