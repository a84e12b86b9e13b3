import type { EnclaveContext } from './context.ts'
import { ApiError, invalidData, notFound } from './errors.ts'
import { parsePublicKey } from './public-key.ts'
import type { QuorumRecord } from './records.ts'
import { createResourceId } from './resource-id.ts'
import type { CreateQuorumBody, UpdateQuorumBody } from './schemas.ts'
import type { Store } from './store.ts'

/** Registers a quorum of authorization keys. Without a threshold, all of them must sign. */
export function createQuorum({ store, readLag }: Quorums, body: CreateQuorumBody): QuorumRecord {
  const keys = body.public_keys.map(parsePublicKey)
  const quorum: QuorumRecord = {
    id: createResourceId(),
    display_name: body.display_name ?? null,
    ...formatMembers(keys, body.authorization_threshold ?? keys.length),
    user_ids: null,
  }
  store.putQuorum(quorum)
  readLag.remember(quorum.id, null)
  return quorum
}

type Quorums = Pick<EnclaveContext, 'store' | 'readLag'>

/**
 * Changes those fields of the record that the body contains. `public_keys` replaces all keys of the quorum. The
 * request is signed by the quorum's present keys: by as many as its present threshold requires.
 */
export function updateQuorum({ store, readLag }: Quorums, quorum: QuorumRecord, body: UpdateQuorumBody): QuorumRecord {
  const keys = body.public_keys?.map(parsePublicKey) ?? quorum.authorization_keys.map((member) => member.public_key)
  const updated: QuorumRecord = {
    ...quorum,
    display_name: body.display_name ?? quorum.display_name,
    ...formatMembers(keys, body.authorization_threshold ?? quorum.authorization_threshold),
  }
  store.putQuorum(updated)
  readLag.remember(quorum.id, quorum)
  return updated
}

/**
 * Deletes a quorum. Throws 400 if the quorum still owns a resource or signs for a wallet, because nobody could change
 * that resource any more.
 */
export function deleteQuorum(store: Store, { id }: QuorumRecord): void {
  if (store.isQuorumUsed(id)) {
    const code = 'authorization_key_has_associated_wallets'
    throw new ApiError(400, 'The key quorum is still an owner or a signer', { code })
  }
  store.deleteQuorum(id)
}

function formatMembers(
  keys: readonly string[],
  threshold: number,
): Pick<QuorumRecord, 'authorization_threshold' | 'authorization_keys'> {
  if (new Set(keys).size !== keys.length) throw invalidData('A public key may occur only once in a key quorum')
  if (threshold > keys.length) throw invalidData('Authorization threshold exceeds the number of members')
  return {
    authorization_threshold: threshold,
    authorization_keys: keys.map((key) => ({ public_key: key, display_name: null })),
  }
}

export function getQuorum(store: Store, id: string): QuorumRecord {
  const quorum = store.findQuorum(id)
  if (quorum === null) throw notFound('Key quorum')
  return quorum
}

/** Returns the quorum that owns a resource, or null if it has no owner. */
export function getOwner(store: Store, ownerId: string | null): QuorumRecord | null {
  return ownerId === null ? null : getQuorum(store, ownerId)
}

/**
 * Returns the id of the owner that a request names. The request contains either the owner's id or a public key. For a
 * public key, a quorum with only this key is created. Returns undefined if the request names no owner.
 */
export function resolveOwnerId(
  context: Quorums,
  { owner, owner_id }: { readonly owner?: { readonly public_key: string } | null; readonly owner_id?: string | null },
): string | null | undefined {
  if (owner !== undefined && owner_id !== undefined) {
    throw invalidData('Only one of owner or owner_id can be provided.')
  }
  if (owner === null || owner_id === null) return null
  if (owner !== undefined) return createQuorum(context, { public_keys: [owner.public_key] }).id
  if (owner_id !== undefined && context.store.findQuorum(owner_id) === null) throw invalidData('Owner not found')
  return owner_id
}
