import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { createSoftwarePasskey, type SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import { canonicalJson, type Json } from '../../signer/src/canonical-json.ts'
import { DOES_NOT_PROVE } from '../../signer/src/evidence/does-not-prove.ts'
import {
  ENCLAVE,
  NOW,
  purchaseRule,
  RECIPIENT,
  RECORD_STATEMENT,
  request,
  rule,
  transfer,
  USDC,
  WALLET,
} from './sample-requests.ts'

const GRANT = 'grt_01JD8K3Q5V7W9X2Y4Z6A8BCDEF'
const PAYMENT = 'pay_1'
const WORKSPACE = 'acc_1'
export const TX_HASH = `0x${'c1'.repeat(32)}`
export const BLOCK_HASH = `0x${'b2'.repeat(32)}`
export const NONCE = `0x${'ab'.repeat(32)}`
const STOP = 'stp_1'
const SITE = { rpId: 'signer.example', origin: 'https://signer.example' }
const MINUTE_MS = 60_000
/** Leaves of others, so that proofs have several hashes. */
const FILLER_LEAVES = 3

export type Members = Record<string, Json>

export function textOf(value: Json | undefined): string {
  if (typeof value !== 'string') throw new Error('this is no text')
  return value
}

/** What happened, in the order of the log. Tests change, move and remove events before a file is made of them. */
export interface LeafEvent {
  readonly name: string
  leaf: Members
  texts: Members
}

export interface SignatureEvent {
  readonly name: string
  readonly passkey: SoftwarePasskey
  kind: string
  subject: string
  /** The request or the statement. */
  signed: Json
  at: Date
  hasLeaf: boolean
  /** Changes the entry before its leaf is made. */
  changes: Members
}

export type Event = LeafEvent | SignatureEvent

export interface Log {
  readonly origin: string
  readonly privateKey: KeyObject
  readonly verifierKey: string
}

export interface Plan {
  readonly kind: SampleKind
  readonly log: Log
  /** Who owned the wallet first. */
  readonly owner: SoftwarePasskey
  /** Who owned it later. */
  readonly other: SoftwarePasskey
  events: Event[]
}

export const SAMPLE_KINDS = ['transfer', 'purchase', 'withdrawal', 'resumed', 'owners'] as const
export type SampleKind = (typeof SAMPLE_KINDS)[number]

/** Returns what happened until a payment of this kind was confirmed. */
export function createPlan(kind: SampleKind): Plan {
  const [owner, other] = [createSoftwarePasskey(SITE), createSoftwarePasskey(SITE)]
  const signer = kind === 'owners' ? other : owner
  const signature = (name: string, subject: string, signed: Json, passkey = signer): SignatureEvent => ({
    ...{ name, kind: name, subject, signed, passkey, at: NOW, hasLeaf: true, changes: {} },
  })
  const change = signature('owners', WALLET, ownersRequest([owner, other]), owner)
  const record = signature('record', WALLET, RECORD_STATEMENT)
  const recordOfFirst = { ...signature('record', WALLET, RECORD_STATEMENT, owner), name: 'record of first' }
  const isPurchase = kind === 'purchase'
  const rules = isPurchase ? [rule(), purchaseRule()] : [rule()]
  const decided = payment('decided', describeDecision(kind), { memo: 'For the invoice 17', idempotency_key: null })
  const ended = payment('ended', {
    ...{ type: 'payment.ended', status: 'confirmed', failure_code: null, tx_hash: TX_HASH, log_index: '7' },
    ...{ block: '123', block_hash: BLOCK_HASH },
  })
  const granted = [
    record,
    signature('grant', GRANT, request({ body: { rules } })),
    audit('activated', 'grant.activated', GRANT, {
      ...{ mode: 'live', agent_id: 'agt_1', wallet: WALLET },
      terms: {
        ...{ max_per_tx_usdc: '10', daily_cap_usdc: '50.5', recipient_allowlist: [RECIPIENT] },
        ...{ contract_allowlist: [USDC], expires_at: '2027-01-15T08:00:00.500Z', x402: isPurchase },
      },
    }),
  ]
  const suspended = [
    audit('suspended', 'agents.stopped', STOP, { mode: 'live', grants: 1 }),
    signature('resume', STOP, null),
  ]
  const events = [
    ...(kind === 'owners' ? [recordOfFirst, change] : []),
    ...(kind === 'withdrawal' ? [record, signature('withdrawal', PAYMENT, transfer())] : granted),
    ...(kind === 'resumed' ? suspended : []),
    ...[decided, ended],
    ...(isPurchase ? [answer()] : []),
  ]
  const plan = { kind, log: createLog('log.example/log'), owner, other, events: events.map(setTime) }
  const suspension = findLeaf(plan, 'suspended')
  if (suspension !== null) findSignature(plan, 'resume').signed = resumeStatement(textOf(suspension.leaf['at']))
  return plan
}

export function createLog(origin: string): Log {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const key = Buffer.concat([Buffer.of(1), raw])
  const id = keyId(origin, key)
  return { origin, privateKey, verifierKey: `${origin}+${id.toString('hex')}+${key.toString('base64')}` }
}

/** Returns the event with this name, which must be a leaf. */
export function getLeaf(plan: Plan, name: string): LeafEvent {
  const event = findLeaf(plan, name)
  if (event === null) throw new Error(`there is no leaf ${name}`)
  return event
}

export function findSignature(plan: Plan, name: string): SignatureEvent {
  const event = plan.events.find((one) => one.name === name)
  if (event === undefined || 'leaf' in event) throw new Error(`there is no signature ${name}`)
  return event
}

function findLeaf(plan: Plan, name: string): LeafEvent | null {
  const event = plan.events.find((one) => one.name === name)
  return event !== undefined && 'leaf' in event ? event : null
}

export function ownersRequest(owners: readonly SoftwarePasskey[], quorum = 'quorum1'): Json {
  return request({
    url: `${ENCLAVE}/v1/key_quorums/${quorum}`,
    body: { public_keys: owners.map(({ publicKeySpki }) => publicKeySpki), authorization_threshold: 1 },
  })
}

export function resumeStatement(suspendedAt: string, changes: Members = {}, grant: Members = {}): Json {
  return {
    ...{ bursar: 'resume-grants', version: 1, workspace: WORKSPACE, mode: 'live', stop: STOP },
    expires_at: '2026-11-22T13:00:00.000Z',
    grants: [
      {
        ...{ id: GRANT, agent_id: 'agt_1', wallet: WALLET, max_per_tx_micro: '10000000', daily_cap_micro: '50500000' },
        ...{ recipients: 1, expires_at: '2027-01-15T08:00:00.500Z', suspended_at: suspendedAt, x402: false },
        terms_sha256: '0'.repeat(64),
        ...grant,
      },
    ],
    ...changes,
  }
}

type LeafMember = { content: string; position: number; proof: readonly string[]; texts: Members }

/** The file as JSON. Tests may change it, and seal it again. */
export type SampleFile = {
  format: string
  logs: { checkpoint: string; key: string; leaves: LeafMember[] }[]
  signatures: Members[]
  does_not_prove: string[]
  seal: string
}

/** Makes the file of what happened. */
export function createFile(plan: Plan): SampleFile {
  const { leaves, signatures } = describeEvents(plan.events)
  const log = createLogEntry(plan.log, leaves)
  const file = {
    ...{ format: 'bursar-evidence/1', logs: [log], signatures },
    ...{ does_not_prove: [...DOES_NOT_PROVE], seal: '' },
  }
  return sealFile(file, plan.log)
}

function describeEvents(events: readonly Event[]): {
  leaves: { content: string; texts: Members }[]
  signatures: Members[]
} {
  const signed = events.flatMap((event) => ('leaf' in event ? [] : [{ event, entry: createEntry(event) }]))
  const leaves = events.flatMap((event) => {
    if ('leaf' in event) return [{ content: formatLeaf(event), texts: event.texts }]
    const entry = signed.find((one) => one.event === event)?.entry
    return event.hasLeaf && entry !== undefined ? [{ content: formatSignatureLeaf(entry), texts: {} }] : []
  })
  const ordered = signed.toSorted((a, b) => a.event.at.getTime() - b.event.at.getTime())
  return { leaves, signatures: ordered.map(({ entry }) => entry) }
}

/** Adds leaves of others between these leaves, and returns the member of `logs`. */
export function createLogEntry(
  log: Log,
  leaves: readonly { content: string; texts: Members }[],
): SampleFile['logs'][number] {
  const contents = leaves.flatMap(({ content }, index) => [
    content,
    ...Array.from({ length: FILLER_LEAVES }, (_, other) => `other ${index} ${other}`),
  ])
  const hashes = contents.map((content) => sha256(Buffer.of(0), Buffer.from(content)))
  const { root, prove } = createTree(hashes)
  return {
    checkpoint: signNote(`${log.origin}\n${hashes.length}\n${root.toString('base64')}\n`, log),
    key: log.verifierKey,
    leaves: leaves.map(({ content, texts }, index) => {
      const position = index * (FILLER_LEAVES + 1)
      return { content, texts, position, proof: prove(position).map(toBase64Url) }
    }),
  }
}

/** Seals the file anew, as somebody with the log's key can. */
export function sealFile(file: SampleFile, log: Log): SampleFile {
  const { seal: _, ...rest } = file
  const hash = sha256(Buffer.from(canonicalJson(rest))).toString('base64')
  return { ...rest, seal: signNote(`bursar-evidence/1\n${hash}\n`, log) }
}

export function encode(file: Json): Uint8Array {
  return new TextEncoder().encode(canonicalJson(file))
}

export interface ListSample {
  readonly plan: Plan
  /** The lines between the first and the last. */
  readonly lines: Members[]
  readonly logs: Members[]
}

/** Returns the evidence of several payments of one grant, and of a withdrawal, as the lines of an export. */
export function createListLines(payments: number): ListSample {
  const plan = createPlan('resumed')
  const withdrawal = { ...createPlan('withdrawal'), log: plan.log }
  const name = (index: number): string => `pay_${index + 2}`
  const [decided, ended] = [getLeaf(plan, 'decided'), getLeaf(plan, 'ended')]
  const authorities = [
    { id: GRANT, own: plan.events.filter((one) => one !== decided && one !== ended) },
    { id: PAYMENT, own: withdrawal.events.filter((one) => !('leaf' in one)) },
  ]
  const lines = [
    ...authorities.map(({ id, own }) => ({ id, ...describeEvents(own) })),
    { id: PAYMENT, ...describeEvents(withdrawal.events.filter((one) => 'leaf' in one)) },
    ...Array.from({ length: payments }, (_, index) => {
      const own = (one: LeafEvent, changes: Members = {}) => ({
        ...one,
        leaf: { ...one.leaf, subject: name(index), ...changes },
      })
      // Each has its own transfer.
      return { id: GRANT, ...describeEvents([own(decided), own(ended, { log_index: String(100 + index) })]) }
    }),
  ]
  const entry = createLogEntry(
    plan.log,
    lines.flatMap(({ leaves }) => leaves),
  )
  let next = 0
  const take = (count: number): Members[] => {
    next += count
    return entry.leaves.slice(next - count, next).map((leaf) => ({ ...leaf, log: 0 }))
  }
  return {
    plan: { ...plan, owner: plan.owner },
    logs: [{ checkpoint: entry.checkpoint, key: entry.key }],
    lines: lines.map(({ id, leaves, signatures }) => ({ authority: id, leaves: take(leaves.length), signatures })),
  }
}

/** Makes an export of these lines. */
export function createList({ plan, lines, logs }: ListSample): string {
  const first = { format: 'bursar-evidence-list/1', does_not_prove: [...DOES_NOT_PROVE], logs }
  const text = [first, ...lines].map((line) => `${canonicalJson(line)}\n`).join('')
  const hash = sha256(Buffer.from(`${text}{"left_out":3`)).toString('base64')
  const seal = signNote(`bursar-evidence-list/1\n${hash}\n`, plan.log)
  return `${text}${canonicalJson({ left_out: 3, seal })}\n`
}

export function signNote(text: string, { origin, privateKey, verifierKey }: Log): string {
  const id = Buffer.from(verifierKey.split('+')[1] ?? '', 'hex')
  const signature = Buffer.concat([id, sign(null, Buffer.from(text), privateKey)]).toString('base64')
  return `${text}\n— ${origin} ${signature}\n`
}

function setTime(event: Event, index: number): Event {
  const at = new Date(NOW.getTime() + index * MINUTE_MS)
  return 'leaf' in event ? { ...event, leaf: { ...event.leaf, at: at.toISOString() } } : { ...event, at }
}

function audit(name: string, action: string, object: string, details: Json): LeafEvent {
  const leaf = { type: 'audit', actor_kind: 'user', actor: 'usr_1', action, object, subject: `aud_${name}` }
  return { name, leaf: { ...common(), ...leaf }, texts: { details: canonicalJson(details) } }
}

function payment(name: string, leaf: Members, texts: Members = {}): LeafEvent {
  return { name, leaf: { ...common(), ...leaf, subject: PAYMENT }, texts }
}

function describeDecision(kind: SampleKind): Members {
  const isWithdrawal = kind === 'withdrawal'
  const isPurchase = kind === 'purchase'
  const limit = (amount: string): string | null => (isWithdrawal ? null : amount)
  return {
    ...{ type: 'payment.decided', kind: isWithdrawal ? kind : isPurchase ? 'x402' : 'transfer' },
    ...{ wallet: WALLET, to: RECIPIENT, amount: '1250000' },
    ...{ agent: isWithdrawal ? null : 'agt_1', grant: isWithdrawal ? null : GRANT },
    ...{ max_per_payment: limit('10000000'), cap_24h: limit('50500000'), spent_24h: limit('1000000') },
    ...{ credential: isWithdrawal ? null : 'key_1', request: 'req_1', recovered_at: null },
    ...{ nonce: isPurchase ? NONCE : null, valid_before: isPurchase ? '2026-11-22T13:00:00.000Z' : null },
  }
}

/** What the seller of a purchase responded. */
function answer(): LeafEvent {
  const leaf = { type: 'purchase.answered', status: 200, delivery: 'delivered', protocol: 'x402_v2', method: 'GET' }
  const texts = { resource_url: 'https://seller.example/report', offer: null, receipt: '{"payer":"x"}' }
  return payment('answered', { ...leaf, response_sha256: toBase64Url(sha256(Buffer.of())) }, texts)
}

function common(): Members {
  return { v: 1, workspace: WORKSPACE, mode: 'live', salt: randomBytes(16).toString('base64url') }
}

function formatLeaf({ leaf, texts }: LeafEvent): string {
  const hashes = Object.entries(texts).map(([name, text]) => {
    const salt = Buffer.from(textOf(leaf['salt']), 'base64url')
    return [`${name}_hash`, text === null ? null : toBase64Url(sha256(salt, Buffer.from(`${name}\0${textOf(text)}`)))]
  })
  return canonicalJson({ ...(Object.fromEntries(hashes) as Members), ...leaf })
}

function createEntry({ passkey, kind, subject, signed, at, changes }: SignatureEvent): Members {
  const bytes = Buffer.from(canonicalJson(signed))
  const isStatement = kind === 'resume'
  const challenge = isStatement ? sha256(bytes) : bytes
  const { response } = passkey.assert(challenge)
  const registered = passkey.register(challenge).response
  return {
    ...{ workspace: WORKSPACE, mode: 'live', kind, subject },
    assertion: {
      authenticator_data: response.authenticatorData,
      client_data_json: response.clientDataJSON,
      signature: response.signature,
    },
    statement: isStatement ? toBase64Url(bytes) : null,
    credential: passkey.credentialId,
    public_key: Buffer.from(passkey.publicKeySpki, 'base64').toString('base64url'),
    ...{ relying_party: SITE.rpId, origin: SITE.origin, user: 'usr_1' },
    registered_at: '2026-01-01T00:00:00.000Z',
    registration: {
      attestation_object: registered.attestationObject,
      client_data_json: registered.clientDataJSON,
    },
    ...{ received_at: at.toISOString(), actor: { kind: 'user', id: 'usr_1' } },
    ...changes,
  }
}

function formatSignatureLeaf(entry: Members): string {
  const { client_data_json: clientData = '' } = entry['assertion'] as Record<string, string>
  const { challenge } = JSON.parse(Buffer.from(clientData, 'base64url').toString()) as { challenge: string }
  const hashed = toBase64Url(sha256(Buffer.from(challenge, 'base64url')))
  return canonicalJson({
    ...{ ...common(), type: 'signature', at: entry['received_at'] ?? null, kind: entry['kind'] ?? null },
    ...{ object: entry['subject'] ?? null, credential: entry['credential'] ?? null },
    ...{ workspace: entry['workspace'] ?? null, mode: entry['mode'] ?? null },
    ...{ subject: `${textOf(entry['credential'])} ${hashed}` },
    signature_sha256: toBase64Url(sha256(Buffer.from(canonicalJson(entry)))),
  })
}

/** The tree over these hashes (RFC 6962, section 2.1). Remembers its nodes, so that it can prove many leaves. */
function createTree(hashes: readonly Buffer[]) {
  const nodes = new Map<string, Buffer>()
  const middleOf = (start: number, end: number): number => start + 2 ** Math.floor(Math.log2(end - start - 1))
  const hash = (start: number, end: number): Buffer => {
    const known = end - start === 1 ? hashes[start] : nodes.get(`${start} ${end}`)
    if (known !== undefined) return known
    const middle = middleOf(start, end)
    const made = sha256(Buffer.of(1), hash(start, middle), hash(middle, end))
    nodes.set(`${start} ${end}`, made)
    return made
  }
  const prove = (position: number, start: number, end: number): readonly Buffer[] => {
    if (end - start === 1) return []
    const middle = middleOf(start, end)
    return position < middle
      ? [...prove(position, start, middle), hash(middle, end)]
      : [...prove(position, middle, end), hash(start, middle)]
  }
  return { root: hash(0, hashes.length), prove: (position: number) => prove(position, 0, hashes.length) }
}

function keyId(origin: string, key: Buffer): Buffer {
  return sha256(Buffer.from(`${origin}\n`), key).subarray(0, 4)
}

function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

function toBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
