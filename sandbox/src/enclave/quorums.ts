import { invalidData, notFound } from './errors.ts'
import { parsePublicKey } from './public-key.ts'
import type { QuorumRecord } from './records.ts'
import { createResourceId } from './resource-id.ts'
import type { CreateQuorumBody } from './schemas.ts'
import type { Store } from './store.ts'

/** Registers a quorum of authorization keys. Without a threshold, all of them must sign. */
export function createQuorum(store: Store, body: CreateQuorumBody): QuorumRecord {
  const keys = body.public_keys.map(parsePublicKey)
  if (new Set(keys).size !== keys.length) throw invalidData('A public key may occur only once in a key quorum')
  const threshold = body.authorization_threshold ?? keys.length
  if (threshold > keys.length) throw invalidData('Authorization threshold exceeds the number of members')
  const quorum: QuorumRecord = {
    id: createResourceId(),
    display_name: body.display_name ?? null,
    authorization_threshold: threshold,
    authorization_keys: keys.map((key) => ({ public_key: key, display_name: null })),
    user_ids: null,
  }
  store.addQuorum(quorum)
  return quorum
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
 * Returns the owner that a request names, either by id or as a public key, which becomes a quorum of one. Undefined if
 * it names none.
 */
export function resolveOwnerId(
  store: Store,
  { owner, owner_id }: { readonly owner?: { readonly public_key: string } | null; readonly owner_id?: string | null },
): string | null | undefined {
  if (owner !== undefined && owner_id !== undefined) {
    throw invalidData('Only one of owner or owner_id can be provided.')
  }
  if (owner === null || owner_id === null) return null
  if (owner !== undefined) return createQuorum(store, { public_keys: [owner.public_key] }).id
  if (owner_id !== undefined && store.findQuorum(owner_id) === null) throw invalidData('Owner not found')
  return owner_id
}
