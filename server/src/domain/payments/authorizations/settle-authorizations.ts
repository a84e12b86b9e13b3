import type { Mode } from '../../../values/mode.ts'
import type { Payment } from '../payment.ts'
import { readEvidence } from './read-evidence.ts'
import { settleAuthorization, type SettleContext } from './settle-authorization.ts'

/** How many purchases are settled at the same time. More could use up the database connections for new payments. */
const CONCURRENCY = 4

/**
 * Settles the pending purchases among the given payments from one reading of the chain. Returns all given payments,
 * each with the last block that the next look need not search (`searchedBlock`). They must belong to one mode. If a purchase cannot be settled, the others are still settled, and the first error is
 * thrown at the end. Throws `ChainUnavailable`.
 */
export async function settleAuthorizations(
  ctx: SettleContext,
  { mode, payments }: { mode: Mode; payments: readonly Payment[] },
): Promise<Payment[]> {
  const settled = [...payments]
  const pending = payments.filter(({ status, authorization }) => status === 'pending' && authorization !== null)
  if (pending.length === 0) return settled
  const evidence = await readEvidence(ctx.chains[mode], pending)
  for (const { id } of pending) {
    const { endings = [], state } = evidence.get(id) ?? {}
    if (state === 'ended' && endings.length === 0)
      ctx.logger.warn({ payment: id }, 'an authorization was used or canceled, but no node returned the log of it')
  }
  const errors: unknown[] = []
  const queue = payments.entries()
  const settleNext = async (): Promise<void> => {
    for (const [index, payment] of queue) {
      const known = evidence.get(payment.id)
      if (known === undefined) continue
      try {
        const { searchedBlock } = known
        settled[index] = { ...(await settleAuthorization(ctx, { payment, evidence: known })), searchedBlock }
      } catch (error) {
        errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, settleNext))
  if (errors.length > 0) throw errors[0]
  return settled
}
