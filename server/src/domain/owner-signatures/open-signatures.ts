import type { Context } from '../context.ts'
import { signatureSealContext } from './owner-signature.ts'
import { FIRST_SIGNATURE, openSealedSignature, pageSealedSignatures } from './owner-signatures-store.ts'

/** A signature has at most 45 KiB (`OwnerAuthentication`). */
const SIGNATURES_MAX = 200

/**
 * Decrypts the signatures that nobody can use any more, so that they can be given out as evidence (D78). Returns how
 * many. A signature that no key of the settings decrypts is left as it is: another process may have the key.
 */
export async function openSignatures({
  db,
  clock,
  enclave,
  sealer,
  logger,
}: Pick<Context, 'db' | 'clock' | 'enclave' | 'sealer' | 'logger'>): Promise<number> {
  const now = clock.now()
  // The enclave rejects an expired request by its own clock, which may be behind ours.
  const passed = Math.min(now.getTime(), enclave.toEnclaveTime(now).getTime())
  const sealed = await db.readSlow(pageSealedSignatures(FIRST_SIGNATURE, SIGNATURES_MAX))
  const useless = sealed.filter(({ usableUntil }) => usableUntil.getTime() <= passed)
  let failed = 0
  const updates = useless.flatMap((place) => {
    try {
      return [openSealedSignature(place, sealer.open(place.sealed, signatureSealContext(place)))]
    } catch {
      failed += 1
      return []
    }
  })
  if (failed > 0) logger.error({ signatures: failed }, 'no encryption key decrypts these signatures of owners')
  if (updates.length === 0) return 0
  const opened = await db.transaction((transaction) => transaction.commit(updates))
  return opened.filter(Boolean).length
}
