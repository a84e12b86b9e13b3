import type { Query } from '../../db/query.ts'
import type { Context } from '../context.ts'
import { signatureSealContext } from './owner-signature.ts'
import {
  FIRST_SIGNATURE,
  openSealedSignature,
  pageSealedSignatures,
  type SealedSignature,
} from './owner-signatures-store.ts'

/** A signature has at most 45 KiB (`OwnerAuthentication`). */
const SIGNATURES_MAX = 200
/** At most this many pages are read in a round, to find signatures that can be decrypted behind some that cannot. */
const PAGES_MAX = 50

/**
 * Decrypts signatures that nobody can use any more, so that they can be given out as evidence (D78). Returns how many. A
 * signature that no key of the settings decrypts is left as it is: another process may have the key.
 */
export async function openSignatures(
  ctx: Pick<Context, 'db' | 'clock' | 'enclave' | 'sealer' | 'logger'>,
): Promise<number> {
  const now = ctx.clock.now()
  // The enclave rejects an expired request by its own clock, which may be behind ours.
  const passed = Math.min(now.getTime(), ctx.enclave.toEnclaveTime(now).getTime())
  let after: Omit<SealedSignature, 'sealed'> = FIRST_SIGNATURE
  let [failed, opened] = [0, 0]
  for (let page = 0; page < PAGES_MAX && opened === 0; page += 1) {
    const sealed = await ctx.db.readSlow(pageSealedSignatures(after, SIGNATURES_MAX))
    const useless = sealed.filter(({ usableUntil }) => usableUntil.getTime() <= passed)
    const updates = useless.flatMap((place) => openOne(ctx, place))
    failed += useless.length - updates.length
    if (updates.length > 0) {
      const changed = await ctx.db.transaction((transaction) => transaction.commit(updates))
      opened = changed.filter(Boolean).length
    }
    const last = useless[SIGNATURES_MAX - 1]
    if (last === undefined) break
    after = last
  }
  if (failed > 0) ctx.logger.error({ signatures: failed }, 'no encryption key decrypts these signatures of owners')
  return opened
}

/** Returns the statement that decrypts a signature, or none if no key decrypts it. */
function openOne({ sealer }: Pick<Context, 'sealer'>, place: SealedSignature): Query<boolean>[] {
  try {
    return [openSealedSignature(place, sealer.open(place.sealed, signatureSealContext(place)))]
  } catch {
    return []
  }
}
