import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto'

/** The byte that says that a signature is Ed25519 over the text of the note. */
const ED25519_TYPE = Buffer.from([0x01])
/** What precedes the seed of an Ed25519 private key in PKCS #8 (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_KEY_BYTES = 32
const KEY_ID_BYTES = 4

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

  #keyId(): Buffer {
    const hash = createHash('sha256').update(`${this.#name}\n`).update(ED25519_TYPE).update(this.#publicKey)
    return hash.digest().subarray(0, KEY_ID_BYTES)
  }
}

/** Returns the text of a checkpoint (C2SP tlog-checkpoint): which tree a log has. */
export function formatCheckpoint({ origin, size, root }: { origin: string; size: number; root: Buffer }): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`
}
