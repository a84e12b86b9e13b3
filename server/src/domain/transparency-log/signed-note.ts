import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto'

/** The byte that says that a signature is Ed25519 over the text of the note. */
const ED25519_TYPE = Buffer.from([0x01])
/** What precedes the seed of an Ed25519 private key in PKCS #8 (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_KEY_BYTES = 32
const KEY_ID_BYTES = 4
/** The origin, the size and the root of a checkpoint, and the empty line before its signature. */
const CHECKPOINT_PATTERN = /^([^\s+]+)\n([1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n\n/

/** Signs notes (C2SP signed-note) under a name, with an Ed25519 key. */
export class NoteSigner {
  readonly #name: string
  readonly #privateKey: KeyObject
  readonly #publicKey: Buffer

  /** `seed` has 32 bytes. `name` contains neither white space nor a plus sign. */
  constructor(name: string, seed: Buffer) {
    this.#name = name
    this.#privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' })
    const spki = createPublicKey(this.#privateKey).export({ format: 'der', type: 'spki' })
    this.#publicKey = spki.subarray(-PUBLIC_KEY_BYTES)
  }

  /** The verifier key: the name, the id and the public key, as a text that verifiers can be configured with. */
  get verifierKey(): string {
    const key = Buffer.concat([ED25519_TYPE, this.#publicKey]).toString('base64')
    return `${this.#name}+${this.#keyId().toString('hex')}+${key}`
  }

  /** Returns the note that consists of the text and its signature. The text ends with a newline. */
  sign(text: string): string {
    const signature = Buffer.concat([this.#keyId(), sign(null, Buffer.from(text), this.#privateKey)])
    return `${text}\n— ${this.#name} ${signature.toString('base64')}\n`
  }

  /** Returns whether the key has signed the note, with no other signature beside its own. */
  hasSigned(note: string): boolean {
    // Ed25519 signatures are deterministic.
    return note === this.sign(note.slice(0, note.indexOf('\n\n') + 1))
  }

  #keyId(): Buffer {
    const hash = createHash('sha256').update(`${this.#name}\n`).update(ED25519_TYPE).update(this.#publicKey)
    return hash.digest().subarray(0, KEY_ID_BYTES)
  }
}

/** Which tree a log has. */
export interface Checkpoint {
  readonly origin: string
  readonly size: number
  readonly root: Buffer
}

/** Returns the text of a checkpoint (C2SP tlog-checkpoint). */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`
}

/** Reads a signed checkpoint of at least one leaf. Verifies nothing. Returns null for any other text. */
export function parseCheckpoint(note: string): Checkpoint | null {
  const [, origin, size, root] = CHECKPOINT_PATTERN.exec(note) ?? []
  if (origin === undefined || size === undefined || root === undefined) return null
  return { origin, size: Number(size), root: Buffer.from(root, 'base64') }
}
