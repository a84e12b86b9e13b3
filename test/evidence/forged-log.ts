import { createHash, randomBytes } from 'node:crypto'
import type { JsonValue } from '../../server/src/lib/canonical-json.ts'
import { canonicalJson } from '../../server/src/lib/canonical-json.ts'
import { hashLeaf, proveInclusion, rootOf } from '../../server/src/domain/transparency-log/merkle-tree.ts'
import { formatCheckpoint, NoteSigner } from '../../server/src/domain/transparency-log/signed-note.ts'

type Members = { readonly [name: string]: JsonValue }

/** A leaf, and the texts whose hashes it contains. */
export interface ForgedLeaf {
  readonly content: string
  readonly texts: { readonly [name: string]: string | null }
}

/**
 * A log whose key somebody has: a service that has been taken over. It makes leaves and files as the specification
 * says, and no code of the service decides what is in them.
 */
export class ForgedLog {
  readonly leaves: ForgedLeaf[] = []
  readonly signer: NoteSigner
  readonly origin: string

  constructor(origin = 'api.example/log', seed = randomBytes(32)) {
    this.origin = origin
    this.signer = new NoteSigner(origin, seed)
  }

  /** Adds leaves, with others before and between them. */
  add(...leaves: readonly ForgedLeaf[]): void {
    for (const leaf of leaves) this.leaves.push(makeLeaf({ type: 'unavailable', of: 'audit', subject: 'x' }), leaf)
  }

  /** Returns the log's member of `logs`, with these leaves. */
  export(leaves: readonly ForgedLeaf[]) {
    return {
      checkpoint: this.checkpoint(),
      key: this.signer.verifierKey,
      leaves: leaves.map((leaf) => this.prove(leaf)),
    }
  }

  checkpoint(): string {
    const root = rootOf((start, size) => this.#read(start, size), this.leaves.length)
    return this.signer.sign(formatCheckpoint({ origin: this.origin, size: this.leaves.length, root }))
  }

  prove({ content, texts }: ForgedLeaf) {
    const position = this.leaves.findIndex((leaf) => leaf.content === content)
    const hashes = proveInclusion((start, size) => this.#read(start, size), position, this.leaves.length)
    return { content, position, proof: hashes.map((one) => one.toString('base64url')), texts }
  }

  #read(start: number, size: number): Buffer | null {
    return size === 1 ? hashLeaf(Buffer.from(this.leaves[start]?.content ?? '')) : null
  }
}

/** Makes a leaf. Texts, by the names of their hashes without `_hash`, become hashes. */
export function makeLeaf(members: Members, texts: ForgedLeaf['texts'] = {}): ForgedLeaf {
  const salt = randomBytes(16)
  const hashes = Object.entries(texts).map(([name, text]) => [`${name}_hash`, hashText(salt, name, text)] as const)
  const common = { v: 1, at: '2026-11-22T12:00:00.000Z', workspace: 'acc_1', mode: 'test' }
  const content = { ...common, salt: salt.toString('base64url'), ...Object.fromEntries(hashes), ...members }
  return { content: canonicalJson(content), texts }
}

function hashText(salt: Buffer, name: string, text: string | null): string | null {
  if (text === null) return null
  return createHash('sha256').update(salt).update(`${name}\0`).update(text).digest('base64url')
}

/** Adds the seal to a file. */
export function seal(file: Members, { signer }: Pick<ForgedLog, 'signer'>): string {
  const { seal: _, ...rest } = file
  const digest = createHash('sha256').update(canonicalJson(rest)).digest('base64')
  return canonicalJson({ ...rest, seal: signer.sign(`bursar-evidence/1\n${digest}\n`) })
}
