import { describeEncryptionKey } from '../domain/encryption-keys/encryption-key.ts'
import { listEncryptionKeys, recordUnusedKeys } from '../domain/encryption-keys/encryption-keys-store.ts'
import { resealSecrets } from '../domain/encryption-keys/reseal-secrets.ts'
import type { Context } from '../domain/context.ts'
import { fingerprintOf, type SealingKey } from '../lib/sealing.ts'
import type { Loop } from '../lib/loop.ts'
import { startLeasedLoop } from './start-leased-loop.ts'

const INTERVAL_MS = 60_000
const LEASE_MS = 3 * INTERVAL_MS
/**
 * How long the next round waits if all that is left are secrets that cannot be encrypted again: responses of sellers,
 * which are deleted after 24 hours, or secrets that no key decrypts.
 */
const WAITING_MS = 60 * 60_000

/**
 * Encrypts the stored secrets again after the operator has added a new key to `ENCRYPTION_KEYS`, and records when no
 * secret needs the other keys any more (D74).
 */
export function renewSecrets(
  ctx: Context,
  { holder, keys }: { readonly holder: string; readonly keys: readonly SealingKey[] },
): Loop {
  let waitsUntil = 0
  const options = { name: 'renew-secrets', holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (signal, renewLease) => {
    if (ctx.clock.now().getTime() < waitsUntil) return
    const outcome = await renewSecretsOnce(ctx, keys, async () => !signal.aborted && (await renewLease()))
    if (outcome === 'waiting') waitsUntil = ctx.clock.now().getTime() + WAITING_MS
  })
}

/**
 * Encrypts again what the newest key did not encrypt. Returns `done` if no secret needs another key, `waiting` if
 * secrets are left that cannot be encrypted again now, and else `working`.
 */
export async function renewSecretsOnce(
  ctx: Context,
  keys: readonly SealingKey[],
  mayGoOn: () => Promise<boolean>,
): Promise<'done' | 'waiting' | 'working'> {
  const [newest] = keys
  if (newest === undefined || newest.id === null) return 'done'
  const stored = await ctx.db.read(listEncryptionKeys())
  const fingerprint = fingerprintOf(newest)
  // A process that was started with earlier settings must not encrypt everything again with the earlier key.
  if (stored.at(-1)?.fingerprint !== fingerprint) return 'done'
  const others = stored.filter((key) => key.fingerprint !== fingerprint && key.unusedSince === null)
  if (others.length === 0) return 'done'
  const resealing = await resealSecrets(ctx, mayGoOn)
  if (resealing === null) return 'working'
  const { resealed, left } = resealing
  if (resealed > 0 || left > 0) {
    ctx.logger.info({ resealed, left, key: newest.id }, 'encrypted stored secrets again with the newest key')
    return resealed > 0 ? 'working' : 'waiting'
  }
  await ctx.db.write(recordUnusedKeys(others, ctx.clock.now()))
  ctx.logger.info({ keys: others.map(describeEncryptionKey) }, 'no stored secret needs these encryption keys any more')
  return 'done'
}
