import { createHash } from 'node:crypto'
import { createSoftwarePasskey, type SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import { canonicalJson, type JsonValue } from '../../server/src/lib/canonical-json.ts'
import { DOES_NOT_PROVE } from '../../signer/src/evidence/does-not-prove.ts'
import {
  RECIPIENT,
  RECORD_STATEMENT,
  request,
  rule,
  RULE_NAME,
  transfer,
  USDC,
  WALLET,
} from '../signer/sample-requests.ts'
import { ForgedLog, makeLeaf, seal, type ForgedLeaf } from './forged-log.ts'

type Members = { readonly [name: string]: JsonValue }

/** What a service writes into a log and into a file: a leaf, and of a signature its entry. */
export interface Part {
  /** Null for a signature that was kept before signatures had leaves. */
  readonly leaf: ForgedLeaf | null
  readonly entry?: Members
}

/** A signature of an owner. */
export type SignedPart = { readonly leaf: ForgedLeaf; readonly entry: Members }

/** A leaf that belongs to no signature. */
export type LeafPart = { readonly leaf: ForgedLeaf }

export function leavesOf(parts: readonly Part[]): ForgedLeaf[] {
  return parts.flatMap(({ leaf }) => (leaf === null ? [] : [leaf]))
}

export const GRANT_ID = RULE_NAME.split(' ', 1)[0] ?? ''
const PAYMENT_ID = 'pay_1'
const HASH = `0x${'ab'.repeat(32)}`
export const TERMS = {
  max_per_tx_usdc: '10',
  daily_cap_usdc: '50.5',
  recipient_allowlist: [RECIPIENT],
  contract_allowlist: [USDC],
  expires_at: new Date(1_800_000_000_000).toISOString(),
  x402: false,
}
const RESUMED = {
  agent_id: 'buyer',
  daily_cap_micro: '50500000',
  expires_at: TERMS.expires_at,
  id: GRANT_ID,
  max_per_tx_micro: '10000000',
  recipients: 1,
  suspended_at: '2026-11-22T12:00:00.000Z',
  terms_sha256: 'ab'.repeat(32),
  wallet: WALLET,
  x402: false,
}

export function createOwner(): SoftwarePasskey {
  return createSoftwarePasskey({ rpId: 'signer.localhost', origin: 'http://signer.localhost' })
}

/** Signs as an owner does. `statement` means that only its hash is the challenge. */
function signed(
  owner: SoftwarePasskey,
  { kind, subject, content, isHashed = false, entry: change = {}, at = '2026-11-22T12:00:00.000Z' }: SignedContent,
): SignedPart {
  const bytes = Buffer.from(canonicalJson(content))
  const challenge = isHashed ? sha256(bytes) : bytes
  const { authenticatorData, clientDataJSON, signature } = owner.assert(challenge).response
  const entry: Members = {
    actor: { id: 'usr_1', kind: 'user' },
    assertion: { authenticator_data: authenticatorData, client_data_json: clientDataJSON, signature },
    credential: owner.credentialId,
    kind,
    mode: 'test',
    origin: 'http://signer.localhost',
    public_key: Buffer.from(owner.publicKeySpki, 'base64').toString('base64url'),
    received_at: at,
    registered_at: '2026-11-01T12:00:00.000Z',
    registration: null,
    relying_party: 'signer.localhost',
    statement: isHashed ? bytes.toString('base64url') : null,
    subject,
    user: 'usr_1',
    workspace: 'acc_1',
    ...change,
  }
  const leaf = makeLeaf({
    type: 'signature',
    subject: `${owner.credentialId} ${sha256(challenge).toString('base64url')}`,
    kind,
    object: subject,
    credential: owner.credentialId,
    signature_sha256: sha256(Buffer.from(canonicalJson(entry))).toString('base64url'),
  })
  return { leaf, entry }
}

interface SignedContent {
  readonly kind: string
  readonly subject: string
  readonly content: JsonValue
  readonly isHashed?: boolean
  readonly entry?: Members
  readonly at?: string
}

export const signRecord = (owner: SoftwarePasskey, content: Members = {}): SignedPart =>
  signed(owner, { kind: 'record', subject: WALLET, content: { ...RECORD_STATEMENT, ...content } })

export const signGrant = (
  owner: SoftwarePasskey,
  body: Members = { rules: [rule()] },
  entry: Members = {},
): SignedPart => signed(owner, { kind: 'grant', subject: GRANT_ID, content: request({ body }), entry })

export const signOwners = (
  owner: SoftwarePasskey,
  keys: readonly string[],
  url = 'https://enclave.example/api/v1/key_quorums/quorum1',
  entry: Members = {},
): SignedPart =>
  signed(owner, {
    kind: 'owners',
    subject: WALLET,
    content: request({ url, body: { public_keys: keys, authorization_threshold: 1 } }),
    entry,
  })

export const signResume = (owner: SoftwarePasskey, grant: Members = {}, statement: Members = {}): SignedPart =>
  signed(owner, {
    kind: 'resume',
    subject: typeof statement['stop'] === 'string' ? statement['stop'] : GRANT_ID,
    content: {
      ...{ bursar: 'resume-grants', expires_at: '2026-11-22T12:05:00.000Z', grants: [{ ...RESUMED, ...grant }] },
      ...{ mode: 'test', stop: null, version: 1, workspace: 'acc_1', ...statement },
    },
    isHashed: true,
  })

export const signWithdrawal = (owner: SoftwarePasskey, transaction: Members = {}, body: Members = {}): SignedPart =>
  signed(owner, { kind: 'withdrawal', subject: PAYMENT_ID, content: transfer(transaction, body) })

export const audit = (action: string, details: Members = {}, members: Members = {}): LeafPart => {
  const entry = { actor_kind: 'user', actor: 'usr_1', action, object: GRANT_ID }
  const text = canonicalJson({ mode: 'test', agent_id: 'buyer', wallet: WALLET, ...details })
  return { leaf: makeLeaf({ type: 'audit', subject: `aud_${action}`, ...entry, ...members }, { details: text }) }
}

export const activated = (terms: Members = TERMS): LeafPart => audit('grant.activated', { terms })

export const decided = (change: Members = {}): LeafPart => ({
  leaf: makeLeaf(
    {
      type: 'payment.decided',
      subject: PAYMENT_ID,
      ...{ kind: 'transfer', wallet: WALLET, agent: 'buyer', grant: GRANT_ID, to: RECIPIENT, amount: '1250000' },
      ...{ max_per_payment: '10000000', cap_24h: '50500000', spent_24h: '0', credential: 'key_1', request: 'req_1' },
      ...{ nonce: null, valid_before: null, recovered_at: null, ...change },
    },
    { memo: 'For “Zoë” 🎁', idempotency_key: null },
  ),
})

export const ended = (change: Members = {}): LeafPart => ({
  leaf: makeLeaf({
    type: 'payment.ended',
    subject: PAYMENT_ID,
    ...{ status: 'confirmed', failure_code: null, tx_hash: HASH, log_index: '3', block: '77', block_hash: HASH },
    ...change,
  }),
})

export const WITHDRAWN: Members = {
  ...{ kind: 'withdrawal', agent: null, grant: null, credential: null },
  ...{ max_per_payment: null, cap_24h: null, spent_24h: null },
}

/** Returns the parts of a payment of which everything is in order. */
export function wholePayment(owner: SoftwarePasskey): Part[] {
  return [signRecord(owner), signGrant(owner), activated(), decided(), ended()]
}

/** Writes the parts into a log, in this order, and returns the file with all of them, not sealed yet. */
export function toFile(parts: readonly Part[], log: ForgedLog): { readonly [name: string]: JsonValue } {
  log.add(...leavesOf(parts))
  return {
    format: 'bursar-evidence/1',
    logs: [log.export(leavesOf(parts))],
    signatures: parts
      .flatMap(({ entry }) => (entry === undefined ? [] : [entry]))
      .toSorted((a, b) => Number(receivedAt(a) > receivedAt(b)) - Number(receivedAt(a) < receivedAt(b))),
    does_not_prove: [...DOES_NOT_PROVE],
  }
}

function receivedAt({ received_at: at }: Members): string {
  return typeof at === 'string' ? at : ''
}

export function sealFile(parts: readonly Part[], log = new ForgedLog()): string {
  return seal(toFile(parts, log), log)
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
