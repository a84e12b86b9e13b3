import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { listPasskeyRows } from './credentials/store.ts'
import type { Passkey } from './passkey.ts'

/**
 * A passkey of the person: the named one, or the one that was used last where none is named. 404 `passkey_not_found`, also
 * for somebody else's.
 */
export async function getPasskey(
  ctx: Pick<Context, 'db'>,
  { userId, credentialId }: { userId: string; credentialId: string | null },
): Promise<Passkey> {
  const passkeys = await ctx.db.read(listPasskeyRows(userId))
  const passkey =
    credentialId === null
      ? passkeys.toSorted((left, right) => usedAt(right) - usedAt(left))[0]
      : passkeys.find((other) => other.credentialId === credentialId)
  if (passkey === undefined) throw problem('passkey_not_found')
  return passkey
}

/** One that was never used since is as recent as its registration. */
function usedAt({ lastUsedAt, createdAt }: Passkey): number {
  return (lastUsedAt ?? createdAt).getTime()
}
