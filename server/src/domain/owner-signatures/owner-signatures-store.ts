import { computed, listOf, narrow, nullable, pick, required, type RowOf } from '../../db/column.ts'
import { all, changed, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { OwnerAssertion } from '../../enclave/enclave.ts'
import type { Mode } from '../../values/mode.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { PasskeyRegistration } from '../passkeys/passkey.ts'
import { queueText } from '../transparency-log/transparency-log-store.ts'
import type { DescribedSignature } from './evidence-entry.ts'
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
    readonly entrySha256: Buffer
    /** What names the signature in the transparency log. */
    readonly leafSubject: string
    /** The signature as JSON: encrypted, or open. */
    readonly sealed: Buffer | null
    readonly open: string | null
  }

/** Inserts a signature and queues its leaf in the transparency log, unless the signature is stored already. */
export function insertOwnerSignature(signature: NewSignature): Query<boolean> {
  const { actor, site, registration } = signature
  return {
    name: 'insert_owner_signature',
    text: `with added as (
        insert into owner_signatures (workspace_id, mode, kind, subject, credential_id, user_id, public_key,
          registration, registered_at, relying_party_id, origin, received_at, received_from, challenge_sha256, statement,
          usable_until, assertion_sealed, assertion, entry_sha256, took_effect)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $21)
        on conflict (workspace_id, credential_id, challenge_sha256) do nothing
        returning workspace_id as log_id, $20::text as subject, received_at as at
      ) ${queueText('signature', 'added')}`,
    values: [
      ...[signature.workspaceId, signature.mode, signature.kind, signature.subject],
      ...[signature.credentialId, signature.userId, signature.publicKey],
      ...[registration === null ? null : JSON.stringify(registration), signature.registeredAt, site.id, site.origin],
      ...[signature.receivedAt, JSON.stringify({ kind: actor.kind, id: actor.id }), signature.challengeSha256],
      ...[signature.statement, signature.usableUntil, signature.sealed, signature.open, signature.entrySha256],
      signature.leafSubject,
      signature.kind === 'owners' ? false : null,
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

/**
 * Records that the enclave has made the change of a wallet's owners whose signature was usable until this time. Uses the
 * index `owner_signatures_by_subject`.
 */
export function markOwnerChangeInEffect(
  { workspaceId, mode, address }: { readonly workspaceId: string; readonly mode: Mode; readonly address: string },
  usableUntil: Date,
): Query<boolean> {
  return {
    name: 'mark_owner_change_in_effect',
    text: `update owner_signatures set took_effect = true
      where workspace_id = $1 and mode = $2 and subject = $3 and kind = 'owners' and usable_until = $4`,
    values: [workspaceId, mode, address, usableUntil],
    read: changed,
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

/** A signature as it is stored. */
export type StoredSignature = SignaturePlace &
  Omit<DescribedSignature, 'assertion'> & {
    /** Null while it is encrypted, and if it is lost. */
    readonly assertion: OwnerAssertion | null
    /** Whether the key that encrypted it was lost. */
    readonly isLost: boolean
    /** Until when somebody might use it again. Null if it allows nothing. */
    readonly usableUntil: Date | null
    /** The hash in the transparency log (`hashSignatureEntry`). Null if the signature was stored before the log had it. */
    readonly entrySha256: Buffer | null
    /** Whether the signed change of owners has had an effect. Null if that is not known, and for other kinds. */
    readonly tookEffect: boolean | null
  }

const STORED_ROW = {
  ...pick(signatures, 'workspace_id', 'mode', 'kind', 'subject', 'credential_id', 'user_id', 'public_key'),
  registration: narrow<PasskeyRegistration>(signatures.registration),
  ...pick(signatures, 'registered_at', 'relying_party_id', 'origin', 'received_at'),
  received_from: narrow<Actor>(signatures.received_from),
  ...pick(signatures, 'challenge_sha256', 'statement', 'usable_until'),
  assertion: narrow<OwnerAssertion>(signatures.assertion),
  ...pick(signatures, 'entry_sha256', 'took_effect'),
}
const FOUND_ROW = { ...STORED_ROW, is_lost: nullable(computed.bool) }
/** The columns of `FOUND_ROW`, as they are selected from the table. */
const FOUND_COLUMNS = `${listOf(STORED_ROW)}, assertion_sealed = '' as is_lost`

/**
 * Lists the signatures that were given for these grants, stops, payments and wallets, the oldest first. Of each subject,
 * at most `rowsMax` are returned, the oldest. Uses the index `owner_signatures_by_subject`.
 */
export function listSignaturesOf(
  { workspaceId, mode }: { readonly workspaceId: string; readonly mode: Mode },
  subjects: readonly string[],
  rowsMax: number,
): Query<StoredSignature[]> {
  return {
    name: 'list_signatures_of',
    text: `select ${listOf(FOUND_ROW)}
      from unnest($3::text[]) as r (of_subject)
      cross join lateral (select ${FOUND_COLUMNS} from owner_signatures
        where workspace_id = $1 and mode = $2 and subject = of_subject
        order by received_at, credential_id, challenge_sha256 limit $4) s
      order by received_at, credential_id, challenge_sha256`,
    values: [workspaceId, mode, subjects, rowsMax],
    read: all(FOUND_ROW, toStored),
  }
}

/** A grant that somebody may have resumed with a statement about `subject`: the grant itself, or a stop. */
export interface ResumptionLookup {
  readonly grantId: string
  readonly subject: string
}

/**
 * Lists the signatures that resumed grants, for each look-up the newest ones. A statement can name thousands of grants,
 * so only those statements are read that contain the id of the grant, and each once: a hundred grants can be in the same.
 * Uses the index `owner_signatures_by_subject`.
 */
export function listResumptions(
  { workspaceId, mode }: { readonly workspaceId: string; readonly mode: Mode },
  lookups: readonly ResumptionLookup[],
  rowsMax: number,
): Query<StoredSignature[]> {
  return {
    name: 'list_resumptions',
    text: `select distinct on (credential_id, challenge_sha256) ${listOf(FOUND_ROW)}
      from unnest($3::text[], $4::text[]) as r (of_subject, of_grant)
      cross join lateral (select ${FOUND_COLUMNS} from owner_signatures
        where workspace_id = $1 and mode = $2 and subject = of_subject and kind = 'resume'
          and position(convert_to(of_grant, 'UTF8') in statement) > 0
        order by received_at desc, credential_id desc, challenge_sha256 desc limit $5) s`,
    values: [workspaceId, mode, lookups.map(({ subject }) => subject), lookups.map(({ grantId }) => grantId), rowsMax],
    read: all(FOUND_ROW, toStored),
  }
}

function toStored(row: RowOf<typeof FOUND_ROW>): StoredSignature {
  return {
    workspaceId: row.workspace_id,
    mode: row.mode,
    kind: row.kind,
    subject: row.subject,
    credentialId: row.credential_id,
    userId: row.user_id,
    publicKey: row.public_key,
    registration: row.registration,
    registeredAt: row.registered_at,
    site: { id: row.relying_party_id, origin: row.origin },
    receivedAt: row.received_at,
    actor: row.received_from,
    challengeSha256: row.challenge_sha256,
    statement: row.statement,
    usableUntil: row.usable_until,
    assertion: row.assertion,
    isLost: row.is_lost === true,
    entrySha256: row.entry_sha256,
    tookEffect: row.took_effect,
  }
}
