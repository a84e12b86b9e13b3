import { parseCanonicalJson, type Json } from '../canonical-json.ts'
import { parseTime } from '../parse-time.ts'
import { expect, readAddress, readInteger, readList, readMembers, readText, unknown } from './shape.ts'

/** A suspended grant that is to allow payments again, with the limits that its owner signed before. */
export interface ResumedGrant {
  readonly id: string
  readonly suspendedAt: Date
  readonly agentId: string
  /** In lower case. */
  readonly wallet: string
  /** The most that one payment may move, in millionths of USDC. */
  readonly amountMax: bigint
  /** The most that the agent may spend in 24 hours, in millionths of USDC. */
  readonly dailyMax: bigint
  /** How many recipients the grant allows. Null allows any recipient. */
  readonly recipients: number | null
  readonly endsAt: Date | null
  readonly hasPurchases: boolean
}

/** A statement to the service, not a request to the enclave: these grants are no longer suspended. */
export interface Resumption {
  readonly workspace: string
  readonly mode: string
  /** The stop that suspended the grants. Null if one grant was suspended alone. */
  readonly stop: string | null
  readonly expiresAt: Date
  readonly grants: readonly ResumedGrant[]
}

const KIND = 'resume-grants'
const VERSION = 1
const GRANTS_MAX = 5_000
const HASH_PATTERN = /^[0-9a-f]{64}$/
const NAME = 'the statement'

/**
 * Decodes a statement that resumes grants. Returns null for anything else that could be signed. The enclave accepts no
 * request with the member `bursar`.
 */
export function decodeResumption(payload: Uint8Array): Resumption | null {
  const value = parseCanonicalJson(payload) ?? null
  if (typeof value !== 'object' || value === null || !('bursar' in value) || value['bursar'] !== KIND) return null
  const statement = readMembers(value, NAME, {
    required: ['bursar', 'expires_at', 'grants', 'mode', 'stop', 'version', 'workspace'],
  })
  expect(statement['version'], VERSION, 'the version of the statement')
  const grants = readList(statement['grants'], 'the grants')
  if (grants.length === 0 || grants.length > GRANTS_MAX) throw unknown('the grants')
  return {
    workspace: readText(statement['workspace'], 'the workspace'),
    mode: readText(statement['mode'], 'the mode'),
    stop: statement['stop'] === null ? null : readText(statement['stop'], 'the stop'),
    expiresAt: readTime(statement['expires_at'], 'the expiry'),
    grants: grants.map(decodeGrant),
  }
}

function decodeGrant(value: Json): ResumedGrant {
  const grant = readMembers(value, 'a grant', {
    required: [
      'agent_id',
      'daily_cap_micro',
      'expires_at',
      'id',
      'max_per_tx_micro',
      'recipients',
      'suspended_at',
      'terms_sha256',
      'wallet',
      'x402',
    ],
  })
  const { recipients, x402: hasPurchases } = grant
  if (recipients !== null && !isCount(recipients)) throw unknown('the recipients of a grant')
  if (typeof hasPurchases !== 'boolean') throw unknown('the purchases of a grant')
  if (!HASH_PATTERN.test(readText(grant['terms_sha256'], 'the terms of a grant'))) throw unknown('the terms of a grant')
  return {
    id: readText(grant['id'], 'the id of a grant'),
    suspendedAt: readTime(grant['suspended_at'], 'the time of a suspension'),
    agentId: readText(grant['agent_id'], 'an agent'),
    wallet: readAddress(grant['wallet'], 'the wallet of a grant'),
    amountMax: readInteger(grant['max_per_tx_micro'], 'the amount of a grant'),
    dailyMax: readInteger(grant['daily_cap_micro'], 'the 24-hour limit of a grant'),
    recipients,
    endsAt: grant['expires_at'] === null ? null : readTime(grant['expires_at'], 'the end date of a grant'),
    hasPurchases,
  }
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}

function readTime(value: Json | undefined, what: string): Date {
  const time = parseTime(readText(value, what))
  if (time === null) throw unknown(what)
  return time
}
