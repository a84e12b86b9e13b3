import { serverKeySealContext } from '../../db/server-key.ts'
import { deleteServerKey } from '../../db/server-keys-store.ts'
import type { SealingKey } from '../../lib/sealing.ts'
import type { Mode } from '../../values/mode.ts'
import { createSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Operator } from '../audit/audit-entry.ts'
import { insertAuditEntries } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { listGrantsInSlots, markGrantRevoked } from '../grants/grants-store.ts'
import { recordStatusChange } from '../grants/record-status-change.ts'
import { signatureSealContext } from '../owner-signatures/owner-signature.ts'
import { retireSignature } from '../owner-signatures/owner-signatures-store.ts'
import { findPurchase, type PurchasePlace } from '../purchases/purchases-store.ts'
import { openAnswer, purchaseSealContext } from '../purchases/seal-purchase.ts'
import { retirePurchase } from '../purchases/sealed-purchases-store.ts'
import { retireSlots, type SlotKey } from '../wallets/sealed-slots-store.ts'
import { slotSealContext } from '../wallets/slot-seal-context.ts'
import { secretSealContext } from '../webhooks/endpoint.ts'
import { retireWebhookSecrets, type EndpointPlace } from '../webhooks/sealed-secrets-store.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { findMissingKeys, type EncryptionKey } from './encryption-key.ts'
import { listEncryptionKeys, recordUnusedKeys } from './encryption-keys-store.ts'
import { walkSecrets, type SecretVisitors } from './walk-secrets.ts'

/** No secret begins with this, because the id of a key has at least one character. So every secret is read. */
const NO_MARK = Buffer.from('key::')
const BECAUSE = 'encryption_key_lost'

export interface LostWallet {
  readonly workspaceId: string
  readonly mode: Mode
  readonly address: string
  /** How many of its signing keys are lost, and how many grants that are not revoked use them. */
  keys: number
  grants: number
}

/** What no encryption key of the settings decrypts. */
export interface LostSecrets {
  /** The keys that the database needs and the settings do not contain. */
  readonly encryptionKeys: readonly EncryptionKey[]
  readonly wallets: readonly LostWallet[]
  readonly endpoints: readonly (EndpointPlace & { readonly mode: Mode })[]
  /** Purchases whose order or payment header is lost. */
  readonly purchases: number
  /** Stored responses of sellers. */
  readonly responses: number
  /** Signatures of owners that could still be used when the key was lost. */
  readonly signatures: number
  readonly serverKeys: number
}

interface Findings {
  readonly wallets: Map<string, LostWallet>
  readonly endpoints: (EndpointPlace & { readonly mode: Mode })[]
  purchases: number
  responses: number
  signatures: number
  serverKeys: number
}

type RetireContext = Pick<Context, 'db' | 'clock' | 'sealer'>

/**
 * Finds the secrets that no key of the settings decrypts, for an operator who has lost an encryption key (D74a). With
 * `isConfirmed`, retires them, so that the service can start without the key. What belongs to the owners stays: wallets,
 * payments, sessions and API keys do not depend on the key.
 *
 * - A slot whose signing key is lost is never used again, and its grants are revoked. Nothing is sent to the enclave.
 * - A webhook endpoint whose secret is lost gets a new one, which nobody knows until an owner rotates it.
 * - A purchase whose order is lost is not signed or sent any more. The chain decides what happened to its payment.
 * - An owner's signature that is lost is never evidence (D78). What the owner allowed stays as it is.
 *
 * Reads and changes bounded pages. Can be called again after a failure.
 */
export async function retireLostSecrets(
  ctx: RetireContext,
  { keys, actor, isConfirmed }: { keys: readonly SealingKey[]; actor: Operator; isConfirmed: boolean },
): Promise<LostSecrets> {
  const encryptionKeys = findMissingKeys(await ctx.db.read(listEncryptionKeys()), keys)
  const found: Findings = {
    wallets: new Map(),
    endpoints: [],
    purchases: 0,
    responses: 0,
    signatures: 0,
    serverKeys: 0,
  }
  await walkSecrets(ctx, { mark: NO_MARK, mayGoOn: async () => true }, makeVisitors(ctx, { found, actor, isConfirmed }))
  if (isConfirmed) await ctx.db.write(recordUnusedKeys(encryptionKeys, ctx.clock.now()))
  return { ...found, encryptionKeys, wallets: [...found.wallets.values()] }
}

function makeVisitors(
  ctx: RetireContext,
  { found, actor, isConfirmed }: { found: Findings; actor: Operator; isConfirmed: boolean },
): SecretVisitors {
  const isLost = (sealed: Buffer | null, context: string): boolean => {
    if (sealed === null) return false
    try {
      ctx.sealer.open(sealed, context)
      return false
    } catch {
      return true
    }
  }
  return {
    async slots(rows) {
      const lost = rows.filter((row) => isLost(row.signerKey, slotSealContext(row, row.slot)))
      if (lost.length > 0) await handleSlots(ctx, lost, { found, actor, isConfirmed })
    },
    async endpoints(rows) {
      for (const row of rows) {
        const context = secretSealContext(row.workspaceId, row.id)
        const isCurrentLost = isLost(row.secret, context)
        if (isCurrentLost) found.endpoints.push(row)
        if (!isConfirmed || !(isCurrentLost || isLost(row.previousSecret, context))) continue
        const secret = isCurrentLost ? ctx.sealer.seal(createSecret(SECRET_PREFIXES.webhook), context) : null
        const entry = { logId: row.workspaceId, createdAt: ctx.clock.now(), actor, subject: row.id } as const
        const details = { mode: row.mode, because: BECAUSE }
        await ctx.db.transaction((transaction) =>
          transaction.commit([
            retireWebhookSecrets(row, secret),
            insertAuditEntries([{ ...entry, action: 'webhook.secret_rotated', details }]),
          ]),
        )
      }
    },
    async purchases(rows) {
      for (const row of rows) {
        const isOrderLost =
          isLost(row.order, purchaseSealContext('order', row)) || isLost(row.header, purchaseSealContext('header', row))
        const isResponseLost = row.isResponseStale && (await isAnswerLost(ctx, row))
        if (isOrderLost) found.purchases += 1
        if (isResponseLost) found.responses += 1
        if (isConfirmed && (isOrderLost || isResponseLost)) await ctx.db.write(retirePurchase(row, isOrderLost))
      }
    },
    async signatures(rows) {
      const lost = rows.filter((row) => isLost(row.sealed, signatureSealContext(row)))
      found.signatures += lost.length
      if (!isConfirmed || lost.length === 0) return
      await ctx.db.transaction((transaction) => transaction.commit(lost.map(retireSignature)))
    },
    async serverKeys(rows) {
      for (const { name, key } of rows) {
        if (!isLost(key, serverKeySealContext(name))) continue
        found.serverKeys += 1
        if (isConfirmed) await ctx.db.write(deleteServerKey(name))
      }
    },
  }
}

async function isAnswerLost({ db, sealer }: RetireContext, place: PurchasePlace): Promise<boolean> {
  const purchase = await db.readSlow(findPurchase(place))
  if (purchase === null) return false
  try {
    openAnswer(sealer, purchase)
    return false
  } catch {
    return true
  }
}

/** Counts the slots of a page, and retires them with their grants in one transaction. */
async function handleSlots(
  { db, clock }: RetireContext,
  slots: readonly SlotKey[],
  { found, actor, isConfirmed }: { found: Findings; actor: Operator; isConfirmed: boolean },
): Promise<void> {
  const now = clock.now()
  const workspaceIds = [...new Set(slots.map(({ workspaceId }) => workspaceId))]
  const grants = await db.transaction(async (transaction) => {
    // With the lock of their workspaces, no grant is opened or activated in these slots meanwhile.
    await transaction.batch(workspaceIds.map(lockWorkspace))
    const affected = await transaction.run(listGrantsInSlots(slots))
    if (!isConfirmed) {
      await transaction.rollback()
      return affected
    }
    const walletEntries = [...Map.groupBy(slots, toWalletKey).values()].flatMap((ofWallet) => {
      const [first] = ofWallet
      if (first === undefined) return []
      const entry = { logId: first.workspaceId, createdAt: now, actor, subject: first.walletAddress } as const
      const details = { mode: first.mode, keys: ofWallet.length, because: BECAUSE }
      return [{ ...entry, action: 'wallet.keys_retired', details } as const]
    })
    await transaction.commit([
      retireSlots(slots),
      insertAuditEntries(walletEntries),
      ...affected.flatMap((grant) => [
        markGrantRevoked(grant.workspaceId, grant.id, now),
        ...recordStatusChange(
          { ...grant, status: 'revoked', revokedAt: now, signingRequest: null },
          { now, actor, because: BECAUSE },
        ),
      ]),
    ])
    return affected
  })
  for (const slot of slots) findWallet(found, slot).keys += 1
  for (const grant of grants) findWallet(found, grant).grants += 1
}

function findWallet({ wallets }: Findings, place: Omit<SlotKey, 'slot'>): LostWallet {
  const { workspaceId, mode, walletAddress: address } = place
  const key = toWalletKey(place)
  const known = wallets.get(key) ?? { workspaceId, mode, address, keys: 0, grants: 0 }
  wallets.set(key, known)
  return known
}

function toWalletKey({ workspaceId, mode, walletAddress }: Omit<SlotKey, 'slot'>): string {
  return JSON.stringify([workspaceId, mode, walletAddress])
}
