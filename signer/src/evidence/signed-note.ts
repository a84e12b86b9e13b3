import { fromBase64, toBase64, type Bytes } from '../bytes.ts'
import { sha256 } from '../verify-assertion.ts'
import { EvidenceError } from './evidence-error.ts'
import { equalHashes, HASH_BYTES } from './merkle.ts'

/** The byte that says that a signature is Ed25519 over the text of the note. */
const ED25519_TYPE = 0x01
const KEY_BYTES = 32
const KEY_ID_BYTES = 4
const SIGNATURE_BYTES = 64
/** More than any name of a host, a size, a root and some signatures need. */
const NOTE_CHARS_MAX = 4_096
const VERIFIER_KEY_PATTERN = /^([!-*,-~]{1,512})\+([0-9a-f]{8})\+(.+)$/
/** The origin, the size and the root. A checkpoint of the log has no extension lines, and its origin is in ASCII. */
const TEXT_PATTERN = /^([!-*,-~]{1,512})\n([1-9]\d{0,15})\n([A-Za-z0-9+/=]{44})\n$/
const SIGNATURE_PATTERN = /^— ([^\s+]{1,512}) ([A-Za-z0-9+/=]+)$/
const CHECKPOINT = 'checkpoint'
const LOG_KEY = 'log key'
const NOTE = 'note'

/** The public key of a log. `name` is the origin of its checkpoints. */
export interface VerifierKey {
  readonly name: string
  readonly id: Bytes
  readonly publicKey: Bytes
}

/** Which tree a log has. The signature of its key was verified. */
export interface Checkpoint {
  readonly origin: string
  /** At least 1. */
  readonly size: number
  readonly root: Bytes
}

/** Reads a verifier key (C2SP signed-note): the name, the id and the key. Throws an `EvidenceError` for any other text. */
export async function readVerifierKey(text: string): Promise<VerifierKey> {
  const [, name, id, encoded] = VERIFIER_KEY_PATTERN.exec(text) ?? []
  if (name === undefined || id === undefined || encoded === undefined) {
    throw new EvidenceError(LOG_KEY, 'it must have the form name+id+key')
  }
  const bytes = readBase64(encoded)
  if (bytes === null || bytes.length !== 1 + KEY_BYTES || bytes[0] !== ED25519_TYPE) {
    throw new EvidenceError(LOG_KEY, 'it is not an Ed25519 key')
  }
  const key = await nameKey(bytes.slice(1), name)
  if (toHex(key.id) !== id) throw new EvidenceError(LOG_KEY, 'its id does not belong to its name and its key')
  return key
}

/** Returns the key under another name: a log that was restored has a new origin, but the same key. */
export async function nameKey(publicKey: Bytes, name: string): Promise<VerifierKey> {
  const prefix = new TextEncoder().encode(`${name}\n`)
  const hash = await sha256(Uint8Array.from([...prefix, ED25519_TYPE, ...publicKey]))
  return { name, id: hash.slice(0, KEY_ID_BYTES), publicKey }
}

/**
 * Reads a checkpoint (C2SP tlog-checkpoint) and verifies the signature of the key. Signatures of other keys are ignored.
 * Throws an `EvidenceError` if the text is not a checkpoint of the log with the key's name, signed by the key.
 */
export async function readCheckpoint(note: string, key: VerifierKey): Promise<Checkpoint> {
  const { text, signatures } = parseNote(note)
  const checkpoint = parseCheckpoint(text)
  if (checkpoint.origin !== key.name) {
    throw new EvidenceError(CHECKPOINT, `it is of the log ${checkpoint.origin}, not of ${key.name}`)
  }
  const own = signatures.filter(({ name, bytes }) => {
    return name === key.name && equalHashes(bytes.slice(0, KEY_ID_BYTES), key.id)
  })
  const [signature] = own
  if (signature === undefined) throw new EvidenceError(CHECKPOINT, 'it has no signature of the key of the log')
  if (own.length > 1) throw new EvidenceError(CHECKPOINT, 'it has more than one signature of the key of the log')
  const signed = new TextEncoder().encode(text)
  if (!(await verifySignature(key.publicKey, signature.bytes.slice(KEY_ID_BYTES), signed))) {
    throw new EvidenceError(CHECKPOINT, 'its signature is wrong')
  }
  return checkpoint
}

/** Returns the origin that a checkpoint names. Verifies nothing. */
export function originOf(note: string): string {
  return parseCheckpoint(parseNote(note).text).origin
}

/**
 * Returns the text of a signed note that has one signature only, which the key has made. Throws an `EvidenceError` for any
 * other note.
 */
export async function readSoleNote(note: string, key: VerifierKey): Promise<string> {
  const { text, signatures } = parseNote(note)
  const [signature, ...others] = signatures
  if (signature === undefined || others.length > 0) throw new EvidenceError(NOTE, 'it must have one signature')
  if (signature.name !== key.name || !equalHashes(signature.bytes.slice(0, KEY_ID_BYTES), key.id)) {
    throw new EvidenceError(NOTE, 'it is signed with another key than that of the log')
  }
  const signed = new TextEncoder().encode(text)
  if (!(await verifySignature(key.publicKey, signature.bytes.slice(KEY_ID_BYTES), signed))) {
    throw new EvidenceError(NOTE, 'its signature is wrong')
  }
  return text
}

/** Reads the text of a checkpoint: the origin, the size and the root. */
export function parseCheckpoint(text: string): Checkpoint {
  const [, origin, digits, encoded] = TEXT_PATTERN.exec(text) ?? []
  const root = encoded === undefined ? null : readBase64(encoded)
  const size = Number(digits)
  if (origin === undefined || root?.length !== HASH_BYTES || !Number.isSafeInteger(size)) {
    throw new EvidenceError(CHECKPOINT, 'it must have the lines origin, size and root')
  }
  return { origin, size, root }
}

interface Note {
  /** What is signed. */
  readonly text: string
  /** Each with the id of its key in front. */
  readonly signatures: readonly { readonly name: string; readonly bytes: Bytes }[]
}

function parseNote(note: string): Note {
  if (note.length > NOTE_CHARS_MAX) throw new EvidenceError(CHECKPOINT, 'it is too long')
  const end = note.indexOf('\n\n') + 1
  if (end === 0) throw new EvidenceError(CHECKPOINT, 'it must have an empty line before its signatures')
  const text = note.slice(0, end)
  const lines = note.slice(end + 1).split('\n')
  if (lines.length < 2 || lines.pop() !== '') throw new EvidenceError(CHECKPOINT, 'it must end with signatures')
  return { text, signatures: lines.map(parseSignature) }
}

function parseSignature(line: string): Note['signatures'][number] {
  const [, name, encoded] = SIGNATURE_PATTERN.exec(line) ?? []
  const bytes = encoded === undefined ? null : readBase64(encoded)
  if (name === undefined || bytes === null || bytes.length <= KEY_ID_BYTES) {
    throw new EvidenceError(CHECKPOINT, 'a signature is malformed')
  }
  return { name, bytes }
}

async function verifySignature(publicKey: Bytes, signature: Bytes, signed: Bytes): Promise<boolean> {
  if (signature.length !== SIGNATURE_BYTES) return false
  const key = await crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify'])
  return await crypto.subtle.verify('Ed25519', key, signature, signed)
}

/** Decodes base64 in its only form: with padding, and with zeros in the bits that are left over. Null for other texts. */
function readBase64(text: string): Bytes | null {
  const bytes = fromBase64(text)
  return bytes !== null && toBase64(bytes) === text ? bytes : null
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
