import type { ProblemCode } from '../../values/problem.ts'
import { problem } from '../../values/problem.ts'
import type { AuditAction } from '../audit/audit-entry.ts'
import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import type { CounterOutcome, Passkey } from './passkey.ts'

type CounterProblem = Extract<ProblemCode, 'passkey_counter_went_back' | 'wallet_passkey_counter_went_back'>

/** How each kind of passkey is called in the audit log. */
const ACTIONS = {
  passkey_counter_went_back: 'passkey.counter_went_back',
  wallet_passkey_counter_went_back: 'wallet_passkey.counter_went_back',
} as const satisfies Readonly<Record<CounterProblem, AuditAction>>

/**
 * Throws `code` if the signature counter of a passkey went back, and records it in the audit log and in the operator's
 * log. The passkey's signature must have been verified before: without it, anybody could cause these records. The
 * transaction that would have used the signature must have ended.
 */
export async function checkCounter(
  ctx: Pick<Context, 'db' | 'clock' | 'logger'>,
  {
    outcome,
    passkey: { userId, credentialId },
    counter,
    code,
  }: {
    outcome: CounterOutcome
    passkey: Pick<Passkey, 'userId' | 'credentialId'>
    counter: number
    code: CounterProblem
  },
): Promise<void> {
  if (outcome !== 'went_back') return
  const entry = { createdAt: ctx.clock.now(), action: ACTIONS[code], subject: credentialId, details: { counter } }
  ctx.logger.warn(
    { user: userId, passkey: credentialId, counter },
    'the signature counter of a passkey went back: the passkey may have been copied',
  )
  await ctx.db.write(insertPersonalEntry(userId, entry))
  throw problem(code)
}
