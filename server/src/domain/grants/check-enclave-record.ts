import { setTimeout as delay } from 'node:timers/promises'
import type { SlotRules } from '../../enclave/enclave.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { listSlots } from '../wallets/slots-store.ts'
import type { Grant } from './grant.ts'
import type { GrantPlace } from './get-wallet-and-slot.ts'

/** For a moment after a change, the enclave may return an older record, so it is read at most this many times. */
const READS_MAX = 5
/** The pause before the second read; each later pause is `PAUSE_GROWTH` times as long. Together they take 3 seconds. */
const FIRST_PAUSE_MS = 200
const PAUSE_GROWTH = 2

export type Pause = (milliseconds: number) => Promise<unknown>

interface Signed extends GrantPlace {
  readonly grant: Grant
  /** All rules of the slot after the change. */
  readonly rules: SlotRules
}

/**
 * Reads the enclave's record and compares it with what was signed (`Enclave.compareRecord`). The enclave's response alone is not proof that the change was made (D15). The log names the differences, and the fields
 * of the record that this version of the service does not know.
 *
 * Errors: 500 `enclave_record_differs` if the record still differs after `READS_MAX` reads.
 */
export async function checkEnclaveRecord(
  ctx: Pick<Context, 'db' | 'enclave' | 'logger'>,
  { pause = delay, ...signed }: Signed & { pause?: Pause | undefined },
): Promise<void> {
  const { id: grant } = signed.grant
  const slots = await ctx.db.read(listSlots(signed.wallet))
  let pauseMs = FIRST_PAUSE_MS
  for (let reads = 1; ; reads += 1) {
    const { differences, ignored } = await ctx.enclave.compareRecord({ ...signed, slots })
    if (differences.length === 0) {
      if (ignored.length > 0)
        ctx.logger.info({ grant, ignored }, "the enclave's record has fields that this version does not know")
      return
    }
    if (reads === READS_MAX) {
      ctx.logger.error({ grant, differences, ignored }, "the enclave's record does not match what was signed")
      throw problem('enclave_record_differs')
    }
    await pause(pauseMs)
    pauseMs *= PAUSE_GROWTH
  }
}
