import { pick, required } from '../../db/column.ts'
import { all, changed, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { OwnerSignature, SignaturePlace, SignaturePurpose } from './owner-signature.ts'

const { owner_signatures: signatures } = tables

/** A signature that is still encrypted. */
export interface SealedSignature extends SignaturePlace {
  readonly usableUntil: Date
  readonly sealed: Buffer
}

/** The place before all signatures, in the order of `pageSealedSignatures`. */
export const FIRST_SIGNATURE: Omit<SealedSignature, 'sealed'> = {
  usableUntil: new Date(0),
  workspaceId: '',
  credentialId: '',
  challengeSha256: Buffer.alloc(0),
}

type NewSignature = Omit<OwnerSignature, 'challenge' | 'assertion'> &
  SignaturePurpose & {
    readonly challengeSha256: Buffer
    /** The signature as JSON: encrypted, or open. */
    readonly sealed: Buffer | null
    readonly open: string | null
  }

export function insertOwnerSignature(signature: NewSignature): Query<boolean> {
  const { actor, site, registration } = signature
  return {
    name: 'insert_owner_signature',
    text: `insert into owner_signatures (workspace_id, mode, kind, subject, credential_id, user_id, public_key,
        registration, registered_at, relying_party_id, origin, received_at, received_from, challenge_sha256, statement,
        usable_until, assertion_sealed, assertion)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
      on conflict (workspace_id, credential_id, challenge_sha256) do nothing`,
    values: [
      ...[signature.workspaceId, signature.mode, signature.kind, signature.subject],
      ...[signature.credentialId, signature.userId, signature.publicKey],
      ...[registration === null ? null : JSON.stringify(registration), signature.registeredAt, site.id, site.origin],
      ...[signature.receivedAt, JSON.stringify({ kind: actor.kind, id: actor.id }), signature.challengeSha256],
      ...[signature.statement, signature.usableUntil, signature.sealed, signature.open],
    ],
    read: changed,
  }
}

/**
 * Lists the signatures that are still encrypted, those first that become useless first. Lost ones are left out. Uses
 * the index `owner_signatures_sealed`.
 */
export function pageSealedSignatures(
  after: Omit<SealedSignature, 'sealed'>,
  rowsMax: number,
): Query<SealedSignature[]> {
  return {
    name: 'page_sealed_signatures',
    text: `select usable_until, workspace_id, credential_id, challenge_sha256, assertion_sealed from owner_signatures
      where assertion_sealed <> '' and (usable_until, workspace_id, credential_id, challenge_sha256) > ($1, $2, $3, $4)
      order by usable_until, workspace_id, credential_id, challenge_sha256 limit $5`,
    values: [after.usableUntil, after.workspaceId, after.credentialId, after.challengeSha256, rowsMax],
    read: all(
      {
        ...pick(signatures, 'workspace_id', 'credential_id', 'challenge_sha256'),
        usable_until: required(signatures.usable_until),
        assertion_sealed: required(signatures.assertion_sealed),
      },
      (row) => ({
        workspaceId: row.workspace_id,
        credentialId: row.credential_id,
        challengeSha256: row.challenge_sha256,
        usableUntil: row.usable_until,
        sealed: row.assertion_sealed,
      }),
    ),
  }
}

/** Replaces an encrypted signature with the signature itself, as JSON. Uses the primary key. */
export function openSealedSignature(place: SealedSignature, assertion: string): Query<boolean> {
  return {
    name: 'open_sealed_signature',
    text: `update owner_signatures set assertion_sealed = null, assertion = $4
      where workspace_id = $1 and credential_id = $2 and challenge_sha256 = $3 and assertion_sealed = $5`,
    values: [place.workspaceId, place.credentialId, place.challengeSha256, assertion, place.sealed],
    read: changed,
  }
}

/** Records that a signature is lost, because the key that encrypted it is lost. Uses the primary key. */
export function retireSignature(place: SealedSignature): Query<boolean> {
  return {
    name: 'retire_owner_signature',
    text: `update owner_signatures set assertion_sealed = ''
      where workspace_id = $1 and credential_id = $2 and challenge_sha256 = $3 and assertion_sealed = $4`,
    values: [place.workspaceId, place.credentialId, place.challengeSha256, place.sealed],
    read: changed,
  }
}
