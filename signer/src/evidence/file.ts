import { parseCanonicalJson, type Json } from '../canonical-json.ts'
import { ACTOR_KINDS, MODES, SIGNATURE_KINDS } from './leaf.ts'
import {
  anything,
  bytes,
  count,
  hash,
  list,
  matching,
  members,
  nullable,
  oneOf,
  text,
  time,
  WHOLE,
  wrong,
  type Reader,
  type ShapeOf,
} from './read.ts'

/** More than 200 signatures with the longest statements need. */
export const FILE_BYTES_MAX = 64 * 1024 * 1024
export const FILE_FORMAT = 'bursar-evidence/1'
export const NOT_CANONICAL =
  'it is not canonical JSON (RFC 8785), so it is no evidence, is incomplete, or was saved again by another program'
/** One more than a workspace was moved. */
const LOGS_MAX = 100
const LEAVES_MAX = 200
const SIGNATURES_MAX = 200
/** A tree with this height has more leaves than any log. */
const PROOF_MAX = 64
const SENTENCES_MAX = 100
/** The base64url of the only form that a P-256 key has in SPKI DER with an uncompressed point: 91 bytes. */
const PUBLIC_KEY_PATTERN = /^MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE[A-Za-z0-9_-]{85}[AQgw]$/

const LEAF = {
  content: text,
  position: count,
  proof: list(hash, { min: 0, max: PROOF_MAX }),
  texts: anything,
} as const
const LOG = { checkpoint: text, key: text } as const
const SIGNATURE = {
  workspace: text,
  mode: oneOf(...MODES),
  kind: oneOf(...SIGNATURE_KINDS),
  subject: text,
  assertion: members({ authenticator_data: bytes, client_data_json: bytes, signature: bytes }),
  statement: nullable(bytes),
  credential: base64url,
  public_key: matching(PUBLIC_KEY_PATTERN, 'a public key on the curve P-256 (SPKI in DER, in base64url)'),
  relying_party: text,
  origin: text,
  user: text,
  registered_at: time,
  registration: nullable(members({ attestation_object: bytes, client_data_json: bytes })),
  received_at: time,
  actor: members({ kind: oneOf(...ACTOR_KINDS), id: nullable(text) }),
} as const

export type LogEntry = ShapeOf<typeof LOG>
export type LeafEntry = ShapeOf<typeof LEAF>
export type SignatureEntry = ShapeOf<typeof SIGNATURE> & {
  /** The whole member, as the log hashes it. */
  readonly value: Json
}

export const readSignatures: Reader<readonly SignatureEntry[]> = (value, part) => {
  const signatures = list(readSignature, { min: 0, max: SIGNATURES_MAX })(value, part)
  const early = signatures.findIndex(({ received_at: at }, index) => at < (signatures[index - 1]?.received_at ?? at))
  if (early >= 0) throw wrong(`${part}[${early}].received_at`, 'it is earlier than that of the signature before')
  return signatures
}

export const readSentences = list(text, { min: 0, max: SENTENCES_MAX })

/** The logs of an export, which has their leaves in other lines. */
export const readLogs = list(members(LOG), { min: 1, max: LOGS_MAX })

const readListedLeaf = members({ ...LEAF, log: count })

/** The leaves of a line of an export that has so many logs. Each also says in which log it is. */
export const listedLeaves =
  (logs: number): Reader<readonly ReturnType<typeof readListedLeaf>[]> =>
  (value, part) => {
    const leaves = list(readListedLeaf, { min: 0, max: LEAVES_MAX })(value, part)
    const outside = leaves.findIndex(({ log }) => log >= logs)
    if (outside >= 0) throw wrong(`${part}[${outside}].log`, 'there is no such log')
    const early = leaves.findIndex(({ log, position }, index) => {
      const before = leaves[index - 1]
      return before !== undefined && (log < before.log || (log === before.log && position <= before.position))
    })
    if (early >= 0) throw wrong(`${part}[${early}].position`, 'it is not after the position of the leaf before')
    return leaves
  }

const readFileMembers = members({
  format: oneOf(FILE_FORMAT),
  logs: readFileLogs,
  signatures: readSignatures,
  does_not_prove: readSentences,
  seal: text,
})

export type EvidenceFile = ReturnType<typeof readFileMembers>

/** Parses a file, and reads its members. Also returns the file as JSON. */
export function parseFile(content: Uint8Array): { file: EvidenceFile; value: Json } {
  if (content.length > FILE_BYTES_MAX) throw wrong(WHOLE, 'it is larger than 64 MiB')
  const value = parseCanonicalJson(content)
  if (value === undefined) throw wrong(WHOLE, NOT_CANONICAL)
  return { file: readFileMembers(value, WHOLE), value }
}

/** The last log is that of the service that made the file. All leaves may be in earlier logs, if the workspace was moved. */
function readFileLogs(value: Json, part: string): readonly (LogEntry & { readonly leaves: readonly LeafEntry[] })[] {
  const logs = list(members({ ...LOG, leaves: readLeaves }), { min: 1, max: LOGS_MAX })(value, part)
  const empty = logs.slice(0, -1).findIndex(({ leaves }) => leaves.length === 0)
  if (empty >= 0) throw wrong(`${part}[${empty}].leaves`, 'only the last log may have no leaves')
  return logs
}

function readLeaves(value: Json, part: string): readonly LeafEntry[] {
  const leaves = list(members(LEAF), { min: 0, max: LEAVES_MAX })(value, part)
  const early = leaves.findIndex(({ position }, index) => position <= (leaves[index - 1]?.position ?? -1))
  if (early >= 0) throw wrong(`${part}[${early}].position`, 'it is not after the position of the leaf before')
  return leaves
}

function readSignature(value: Json, part: string): SignatureEntry {
  return { ...members(SIGNATURE)(value, part), value }
}

function base64url(value: Json, part: string): string {
  bytes(value, part)
  return text(value, part)
}
