import { toBase64Url } from '../bytes.ts'
import { parseCanonicalJson, type Json } from '../canonical-json.ts'
import { sha256 } from '../verify-assertion.ts'
import { EvidenceError } from './evidence-error.ts'
import {
  address,
  bytesOf,
  chainHash,
  count,
  digits,
  hash,
  members,
  nullable,
  oneOf,
  text,
  time,
  WHOLE,
  wrong,
  type ShapeOf,
} from './read.ts'

const SALT_BYTES = 16
/** The members that are the hash of a text. Hashes of the chain are none of them. */
const HASHES_OF_TEXTS: ReadonlySet<string> = new Set([
  ...['details_hash', 'memo_hash', 'idempotency_key_hash'],
  ...['resource_url_hash', 'offer_hash', 'receipt_hash'],
])
const HASH_SUFFIX = '_hash'
const DETAILS = 'details'
const STATUS_MIN = 100
const STATUS_MAX = 999

export const MODES = ['test', 'live'] as const
export const SIGNATURE_KINDS = ['grant', 'revocation', 'resume', 'owners', 'withdrawal', 'record'] as const
export type SignatureKind = (typeof SIGNATURE_KINDS)[number]
export const ACTOR_KINDS = ['user', 'key', 'client', 'operator'] as const

/** The members of every leaf. */
const COMMON = {
  v: oneOf(1),
  at: time,
  workspace: text,
  mode: nullable(oneOf(...MODES)),
  subject: text,
  salt: bytesOf(SALT_BYTES),
} as const

/** The members of each type of leaf that a file may contain. */
const TYPES = {
  audit: {
    ...COMMON,
    type: oneOf('audit'),
    actor_kind: oneOf(...ACTOR_KINDS),
    actor: nullable(text),
    action: text,
    object: nullable(text),
    details_hash: hash,
  },
  'payment.decided': {
    ...COMMON,
    type: oneOf('payment.decided'),
    kind: oneOf('transfer', 'x402', 'withdrawal'),
    wallet: address,
    agent: nullable(text),
    grant: nullable(text),
    to: address,
    amount: digits,
    max_per_payment: nullable(digits),
    cap_24h: nullable(digits),
    spent_24h: nullable(digits),
    credential: nullable(text),
    request: nullable(text),
    nonce: nullable(chainHash),
    valid_before: nullable(time),
    recovered_at: nullable(time),
    memo_hash: nullable(hash),
    idempotency_key_hash: nullable(hash),
  },
  'payment.ended': {
    ...COMMON,
    type: oneOf('payment.ended'),
    status: oneOf('confirmed', 'failed'),
    failure_code: nullable(text),
    tx_hash: nullable(chainHash),
    log_index: nullable(digits),
    block: nullable(digits),
    block_hash: nullable(chainHash),
  },
  signature: {
    ...COMMON,
    type: oneOf('signature'),
    kind: oneOf(...SIGNATURE_KINDS),
    object: text,
    credential: text,
    signature_sha256: hash,
  },
  'purchase.answered': {
    ...COMMON,
    type: oneOf('purchase.answered'),
    status: httpStatus,
    delivery: oneOf('delivered', 'failed'),
    protocol: oneOf('x402_v2', 'x402_v1', 'mpp'),
    method: text,
    resource_url_hash: hash,
    response_sha256: nullable(hash),
    offer_hash: nullable(hash),
    receipt_hash: nullable(hash),
  },
  unavailable: {
    ...COMMON,
    type: oneOf('unavailable'),
    of: text,
  },
} as const

type Types = typeof TYPES
type LeafOf<Type extends keyof Types> = ShapeOf<Types[Type]>
export type AuditLeaf = LeafOf<'audit'>
export type DecidedLeaf = LeafOf<'payment.decided'>
export type EndedLeaf = LeafOf<'payment.ended'>
export type SignatureLeaf = LeafOf<'signature'>
export type Leaf = { readonly [Type in keyof Types]: LeafOf<Type> }[keyof Types]

/**
 * Reads the content of a leaf, and checks that the texts have the hashes that it contains. Throws an `EvidenceError` that
 * names the content or the text.
 */
export async function readLeaf(
  content: string,
  { texts, part }: { texts: Json; part: string },
): Promise<{ leaf: Leaf; texts: Readonly<Record<string, string | null>> }> {
  const leaf = parseLeaf(content, `${part}.content`)
  return { leaf, texts: await readTexts(leaf, texts, `${part}.texts`) }
}

function parseLeaf(content: string, part: string): Leaf {
  const value = parseCanonicalJson(new TextEncoder().encode(content))
  if (typeof value !== 'object' || value === null || !('type' in value)) {
    throw wrong(part, 'it is not a leaf in canonical JSON')
  }
  const type = Object.keys(TYPES).find((one) => one === value['type']) as keyof Types | undefined
  if (type === undefined) throw wrong(part, 'it is a leaf of an unknown type')
  try {
    return READERS[type](value, WHOLE)
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error
    throw wrong(part, error.part === WHOLE ? error.reason : `its member ${error.part} is wrong: ${error.reason}`)
  }
}

const READERS: { readonly [Type in keyof Types]: (value: Json, part: string) => Leaf } = {
  audit: members(TYPES.audit),
  'payment.decided': members(TYPES['payment.decided']),
  'payment.ended': members(TYPES['payment.ended']),
  signature: members(TYPES.signature),
  'purchase.answered': members(TYPES['purchase.answered']),
  unavailable: members(TYPES.unavailable),
}

function httpStatus(value: Json, part: string): number {
  const status = count(value, part)
  if (status < STATUS_MIN || status > STATUS_MAX) throw wrong(part, 'it must be a status of HTTP')
  return status
}

async function readTexts(leaf: Leaf, value: Json, part: string): Promise<Readonly<Record<string, string | null>>> {
  const hashed = Object.entries(leaf).filter(([name]) => HASHES_OF_TEXTS.has(name))
  const names = hashed.map(([name]) => name.slice(0, -HASH_SUFFIX.length))
  const texts = value as { readonly [name: string]: Json }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(part, 'it must be an object')
  if (Object.keys(texts).length !== names.length || !names.every((name) => Object.hasOwn(texts, name))) {
    throw wrong(part, 'its members must be those of the leaf')
  }
  const read = await Promise.all(
    hashed.map(async ([member, expected], index) => {
      const name = names[index] ?? ''
      const path = `${part}.${name}`
      const given = texts[name] ?? null
      if (given === null) return [name, null] as const
      if (typeof given !== 'string') throw wrong(path, 'it must be a text or null')
      if (expected === null) throw wrong(path, `it must be null, because the leaf has no ${member}`)
      const found = await hashText(leaf.salt, name, given)
      if (!(expected instanceof Uint8Array) || found !== toBase64Url(expected)) {
        throw wrong(path, 'it is not the text whose hash the leaf contains')
      }
      if (name === DETAILS && parseDetails(given) === null) throw wrong(path, 'it is not an object in canonical JSON')
      return [name, given] as const
    }),
  )
  return Object.fromEntries(read)
}

/** Reads the details of an entry of the audit log. Null if they are not an object in canonical JSON. */
export function parseDetails(text: string): { readonly [member: string]: Json } | null {
  const value = parseCanonicalJson(new TextEncoder().encode(text))
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !hasWholeNumbers(value)) return null
  return value as { readonly [member: string]: Json }
}

/** Programs differ in how they write other numbers, so not every program could tell whether the JSON is canonical. */
function hasWholeNumbers(value: Json): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0
  return typeof value !== 'object' || value === null || Object.values(value).every(hasWholeNumbers)
}

/** Hashes a text as leaves do: the salt, the name, a zero byte, and the text. */
async function hashText(salt: Uint8Array, name: string, text: string): Promise<string> {
  const hashed = new TextEncoder().encode(`${name}\0${text}`)
  return toBase64Url(await sha256(new Uint8Array([...salt, ...hashed])))
}
