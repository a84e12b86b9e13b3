import { firstOrNull, type Query } from '../../../db/query.ts'
import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import { microUsdc, type MicroUsdc } from '../../../values/money.ts'
import { toPlan } from '../../accounts/accounts-store.ts'
import type { GrantPolicy } from '../../grants/grant.ts'
import type { Plan } from '../../plans/plan.ts'
import type { Payment } from '../payment.ts'

/** The parties that a payment names. */
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
 * Takes the lock under which the wallet's balance and the grant's cap are exact (D22): the wallet's row, then the
 * grant's; rows that merely refer to them (foreign keys) are not held up. Answers null when there is no active grant to lock; the facts below say what is missing.
 * By the primary key of wallets and `grants_one_active_per_agent_and_wallet`.
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
    read: firstOrNull((row) => ({
      grantId: row['id'],
      maxPerTxMicro: microUsdc(BigInt(row['max_per_tx_micro'])),
      dailyCapMicro: microUsdc(BigInt(row['daily_cap_micro'])),
      recipientAllowlist: row['recipient_allowlist'],
      contractAllowlist: row['contract_allowlist'],
      expiresAt: row['expires_at'],
    })),
  }
}

/** What a payment is judged on, read after the lock was taken, so that it shows all that was committed before. */
export interface AdmissionFacts {
  readonly agentExists: boolean
  readonly walletExists: boolean
  readonly plan: Plan
  /** What the agent spent from the wallet in the window (D16). */
  readonly spent24hMicro: MicroUsdc
  /**
   * What the balance at the snapshot's block does not show yet (D26): confirmed in a later block, or pending, and not
   * older than `BALANCE_HOLD_MS`.
   */
  readonly unminedMicro: MicroUsdc
  readonly signing: SigningParties
}

export interface SigningParties {
  readonly enclaveWalletId: string
  readonly signerPrivateKeySealed: Buffer
}

/**
 * A pending payment reserves its amount of the wallet's balance for so long after it was created (D24a). One that is
 * still pending then counts in the daily cap's window of its `created_at`, and no longer here.
 */
const BALANCE_HOLD_MS = 24 * 60 * 60 * 1_000

/**
 * Sums by `payments_in_window`, `payments_holding_balance` and `payments_confirmed_by_block`. Pending payments are found
 * by `settled_at is null`, which is the same as `status = 'pending'` (a check of the table) to everybody but the planner:
 * so written, this sum cannot be read from `payments_due_for_look`, which holds the pending payments of every workspace.
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
    read: (rows) => {
      const row = rows[0]
      if (row === undefined) throw new Error('the facts of a payment are one row')
      return {
        agentExists: row['agent_exists'],
        walletExists: row['wallet_exists'],
        plan: toPlan(row['plan']),
        spent24hMicro: microUsdc(BigInt(row['spent'])),
        unminedMicro: microUsdc(BigInt(row['unmined'])),
        signing: {
          enclaveWalletId: row['enclave_wallet_id'],
          signerPrivateKeySealed: row['signer_private_key_sealed'],
        },
      }
    },
  }
}

/** Who signs for a payment that is driven on, while its grant is active and not suspended. By primary keys. */
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
    read: firstOrNull((row) => ({
      enclaveWalletId: row['enclave_wallet_id'],
      signerPrivateKeySealed: row['signer_private_key_sealed'],
      expiresAt: row['expires_at'],
    })),
  }
}

/**
 * The time of the payment with which enough of the window will have passed for `neededMicro` to fit (D18a), or null
 * when no wait would do. By `payments_in_window`.
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
    read: (rows) => rows[0]?.['created_at'] ?? null,
  }
}
