import { violatesUnique } from '../../db/errors.ts'
import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import type { PasskeyRegistration } from '../passkeys/passkey.ts'
import { lockUser } from '../passkeys/passkeys-store.ts'
import { toSpki } from './owner-passkey.ts'
import { countWalletPasskeys, insertWalletPasskey, WALLET_PASSKEY_INDEX } from './wallet-passkeys-store.ts'
import { WALLET_PASSKEYS_MAX, type OwnerPasskey, type WalletPasskey } from './wallet.ts'

/**
 * Adds a wallet passkey to a person's account, with its registration, which is kept as evidence (D78). The caller has
 * verified the registration.
 *
 * Errors: 400 for a name that is not allowed, or a passkey that is not ES256; 409 `passkey_exists`,
 * `passkey_limit_reached` (exact even if passkeys are added concurrently).
 */
export async function addWalletPasskey(
  ctx: Pick<Context, 'db' | 'clock'>,
  {
    userId,
    registered,
    registration,
    name: text,
  }: {
    userId: string
    registered: OwnerPasskey & Pick<WalletPasskey, 'transports'>
    registration: PasskeyRegistration
    name: string
  },
): Promise<WalletPasskey> {
  const name = checkName(text)
  toSpki(registered.publicKeyCose)
  const createdAt = ctx.clock.now()
  const { credentialId, publicKeyCose, transports } = registered
  const passkey: WalletPasskey = { userId, credentialId, publicKeyCose, transports, name, createdAt }
  const entry = { createdAt, action: 'wallet_passkey.added', subject: credentialId, details: { name } } as const
  try {
    await ctx.db.transaction(async (transaction) => {
      const [, count] = await transaction.batch([lockUser(userId), countWalletPasskeys(userId)])
      if (count >= WALLET_PASSKEYS_MAX) throw problem('passkey_limit_reached')
      await transaction.commit([insertWalletPasskey(passkey, registration), insertPersonalEntry(userId, entry)])
    })
  } catch (error) {
    if (violatesUnique(error, WALLET_PASSKEY_INDEX)) throw problem('passkey_exists')
    throw error
  }
  return passkey
}
