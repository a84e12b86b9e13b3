import assert from 'node:assert/strict'
import { createHash, createPublicKey, verify } from 'node:crypto'
import { canonicalJson, type JsonValue } from '../../../server/src/lib/canonical-json.ts'
import { rootFromInclusion } from '../merkle-proofs.ts'
import { hashText } from './log-leaves.ts'

/** A file with evidence, parsed. */
export interface EvidenceFile {
  readonly format: string
  readonly logs: readonly EvidenceLog[]
  readonly signatures: readonly EvidenceSignature[]
  readonly does_not_prove: readonly string[]
  readonly seal: string
}

interface EvidenceLog {
  readonly checkpoint: string
  readonly key: string
  readonly leaves: readonly EvidenceLeaf[]
}

export interface EvidenceLeaf {
  readonly content: string
  readonly position: number
  readonly proof: readonly string[]
  readonly texts: Readonly<Record<string, string | null>>
}

export interface EvidenceSignature {
  readonly kind: string
  readonly subject: string
  readonly credential: string
  readonly statement: string | null
  readonly [member: string]: unknown
}

/**
 * Parses a file, and checks its seal, its checkpoints and its proofs as somebody would who has only the specification.
 */
export function openEvidence(text: string): EvidenceFile {
  const file = JSON.parse(text) as EvidenceFile
  assert.equal(canonicalJson(file as unknown as JsonValue), text)
  const { seal, ...rest } = file
  const hash = createHash('sha256')
    .update(canonicalJson(rest as unknown as JsonValue))
    .digest('base64')
  const last = file.logs.at(-1) ?? assert.fail('there is no log')
  assert.equal(readNote(seal, last.key), `${file.format}\n${hash}\n`)
  for (const log of file.logs) checkLog(log)
  return file
}

/** Members that are hashes of the chain, and not of texts. */
const OF_CHAIN: readonly string[] = ['tx_hash', 'block_hash']

/** Checks the leaves of a log against its checkpoint. */
export function checkLog({ checkpoint, key, leaves }: EvidenceLog): void {
  const [, size = '', root = ''] = readNote(checkpoint, key).split('\n')
  for (const { content, position, proof, texts } of leaves) {
    const leaf = createHash('sha256').update(`\0${content}`).digest()
    const path = proof.map((hash) => Buffer.from(hash, 'base64url'))
    const computed = rootFromInclusion(leaf, { position, size: Number(size), proof: path })
    assert.equal(computed?.toString('base64'), root, content)
    const members = JSON.parse(content) as Record<string, unknown>
    const hashed = Object.keys(members).filter((name) => name.endsWith('_hash') && !OF_CHAIN.includes(name))
    assert.deepEqual(Object.keys(texts), hashed.map((name) => name.slice(0, -'_hash'.length)).toSorted())
    for (const [name, text] of Object.entries(texts)) {
      const sum = text === null ? null : hashText(members['salt'], name, text)
      assert.equal(sum, members[`${name}_hash`])
    }
  }
}

/** Checks that a signed note has one signature, by this verifier key. Returns its text. */
export function readNote(note: string, verifierKey: string): string {
  const text = note.slice(0, note.indexOf('\n\n') + 1)
  // The key may contain a plus sign itself.
  const [, name = '', id = '', key = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(verifierKey) ?? []
  const line = note.slice(text.length + 1)
  assert.ok(line.startsWith(`— ${name} `), line)
  const signature = Buffer.from(line.slice(`— ${name} `.length), 'base64')
  assert.equal(signature.subarray(0, 4).toString('hex'), id)
  const x = Buffer.from(key, 'base64').subarray(1).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  assert.ok(verify(null, Buffer.from(text), publicKey, signature.subarray(4)))
  return text
}
