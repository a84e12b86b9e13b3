import { Problem, problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { listPasskeys } from '../passkeys/queries.ts'
import type { Passkey } from '../passkeys/passkey.ts'
import { isEs256 } from './owner-passkey.ts'

/**
 * Returns the passkey that is to own a wallet: the one with `credentialId`, or if that is null, the most recently used
 * one that can own a wallet.
 *
 * Errors: 404 `passkey_not_found`, also for another user's passkey; 400 `validation_failed` for a passkey that cannot
 * own a wallet.
 */
export async function chooseOwner(
  ctx: Pick<Context, 'db'>,
  { userId, credentialId }: { userId: string; credentialId: string | null },
): Promise<Passkey> {
  const passkeys = await listPasskeys(ctx, { userId })
  if (credentialId !== null) {
    const named = passkeys.find((passkey) => passkey.credentialId === credentialId)
    if (named === undefined) throw problem('passkey_not_found')
    if (!isEs256(named.publicKeyCose))
      throw cannotOwn('names a passkey that cannot own a wallet: only ES256 passkeys can')
    return named
  }
  const able = passkeys.filter(({ publicKeyCose }) => isEs256(publicKeyCose))
  const [latest] = able.toSorted((left, right) => usedAt(right) - usedAt(left))
  if (latest === undefined)
    throw cannotOwn('is missing, and none of your passkeys can own a wallet: only ES256 passkeys can')
  return latest
}

/** A passkey that was never used since it was registered counts as used at that time. */
function usedAt({ lastUsedAt, createdAt }: Passkey): number {
  return (lastUsedAt ?? createdAt).getTime()
}

function cannotOwn(message: string): Problem {
  const path = 'credential_id'
  return new Problem('validation_failed', `${path} ${message}.`, { details: [{ path, message }] })
}
