import assert from 'node:assert/strict'
import { createHash, createPublicKey, verify } from 'node:crypto'
import { canonicalJson, type JsonValue } from '../../../server/src/lib/canonical-json.ts'

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
    const path = proof.map((hash) => Buffer.from(hash, 'base64url'))
    const computed = rootOfProof({ leaf: Buffer.from(content), position, size: Number(size), path })
    assert.equal(computed.toString('base64'), root, content)
    const members = JSON.parse(content) as Record<string, unknown>
    const hashed = Object.keys(members).filter((name) => name.endsWith('_hash') && !OF_CHAIN.includes(name))
    assert.deepEqual(Object.keys(texts), hashed.map((name) => name.slice(0, -'_hash'.length)).toSorted())
    for (const [name, text] of Object.entries(texts)) {
      const salt = Buffer.from(String(members['salt']), 'base64url')
      const sum = text === null ? null : createHash('sha256').update(salt).update(`${name}\0`).update(text)
      assert.equal(sum?.digest('base64url') ?? null, members[`${name}_hash`])
    }
  }
}

/** Returns the text of a signed note, whose signature is by this verifier key. */
function readNote(note: string, verifierKey: string): string {
  const text = note.slice(0, note.indexOf('\n\n') + 1)
  const [, name = '', key = ''] = /^(.+)\+[0-9a-f]{8}\+(.+)$/.exec(verifierKey) ?? []
  const line = note.slice(text.length + 1)
  assert.ok(line.startsWith(`— ${name} `), line)
  const signature = Buffer.from(line.slice(`— ${name} `.length), 'base64').subarray(4)
  const prefix = Buffer.from('302a300506032b6570032100', 'hex')
  const spki = Buffer.concat([prefix, Buffer.from(key, 'base64').subarray(1)])
  const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  assert.ok(verify(null, Buffer.from(text), publicKey, signature))
  return text
}

/** Computes the root to which a proof leads (RFC 9162, section 2.1.3.2). */
function rootOfProof({ leaf, position, size, path }: { leaf: Buffer; position: number; size: number; path: Buffer[] }) {
  const node = (left: Buffer, right: Buffer) => sha256(Buffer.from([1]), left, right)
  let [first, last, hash] = [position, size - 1, sha256(Buffer.from([0]), leaf)]
  for (const sibling of path) {
    if (first % 2 === 1 || first === last) {
      hash = node(sibling, hash)
      while (first % 2 === 0 && first !== 0) [first, last] = [first / 2, Math.floor(last / 2)]
    } else {
      hash = node(hash, sibling)
    }
    ;[first, last] = [Math.floor(first / 2), Math.floor(last / 2)]
  }
  assert.equal(last, 0, 'the proof has the right length')
  return hash
}

function sha256(...parts: Buffer[]): Buffer {
  return createHash('sha256').update(Buffer.concat(parts)).digest()
}
