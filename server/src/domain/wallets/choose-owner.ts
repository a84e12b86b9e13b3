import { Problem, problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { listPasskeys } from '../passkeys/list-passkeys.ts'
import type { Passkey } from '../passkeys/passkey.ts'
import { isEs256 } from './owner-passkey.ts'

/**
 * The passkey of the person that is to own a wallet: the named one, or, where none is named, of those that can own one
 * the one that was used last. Errors: 404 `passkey_not_found`, also for somebody else's; 400 `validation_failed` for one
 * that can own none.
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
      throw cannotOwn('is a passkey of another kind than ES256, which can own no wallet')
    return named
  }
  const able = passkeys.filter(({ publicKeyCose }) => isEs256(publicKeyCose))
  const [latest] = able.toSorted((left, right) => usedAt(right) - usedAt(left))
  if (latest === undefined)
    throw cannotOwn('is missing: none of your passkeys is of the kind ES256, which owns wallets')
  return latest
}

/** One that was never used since is as recent as its registration. */
function usedAt({ lastUsedAt, createdAt }: Passkey): number {
  return (lastUsedAt ?? createdAt).getTime()
}

function cannotOwn(message: string): Problem {
  const path = 'credential_id'
  return new Problem('validation_failed', `${path} ${message}.`, { details: [{ path, message }] })
}
