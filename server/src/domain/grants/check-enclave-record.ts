import type { SlotRules } from '../../enclave/enclave.ts'
import type { Context } from '../context.ts'
import { readBack, type Pause } from '../wallets/read-back.ts'
import { listSlots } from '../wallets/slots-store.ts'
import type { Grant } from './grant.ts'
import type { GrantPlace } from './get-wallet-and-slot.ts'

interface Signed extends GrantPlace {
  readonly grant: Grant
  /** All rules of the slot after the change. */
  readonly rules: SlotRules
}

/**
 * Reads the enclave's record and compares it with what was signed (`Enclave.compareRecord`). The enclave's response
 * alone is not proof that the change was made (D15). The log names the differences, and the fields of the record that
 * this version of the service does not know.
 *
 * Errors: 500 `enclave_record_differs` if the record still differs after several reads.
 */
export async function checkEnclaveRecord(
  ctx: Pick<Context, 'db' | 'enclave' | 'logger'>,
  { pause, ...signed }: Signed & { pause?: Pause | undefined },
): Promise<void> {
  const { id: grant } = signed.grant
  const slots = await ctx.db.read(listSlots(signed.wallet))
  const compare = async () => {
    const { differences, ignored } = await ctx.enclave.compareRecord({ ...signed, slots })
    if (differences.length > 0) return { grant, differences, ignored }
    if (ignored.length > 0)
      ctx.logger.info({ grant, ignored }, "the enclave's record has fields that this version does not know")
    return null
  }
  await readBack(ctx, compare, pause)
}
