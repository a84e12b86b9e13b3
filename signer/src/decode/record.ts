import type { Json } from '../canonical-json.ts'
import { expect, readAddress, readId, readList, readMembers, readText, unknown } from './shape.ts'

/** What belongs to one wallet at the enclave, as its owner confirmed it when the wallet was new. */
export interface WalletRecord {
  /** The address of the enclave's API, without a slash at the end. */
  readonly enclaveUrl: string
  readonly appId: string
  readonly walletId: string
  /** In lower case. */
  readonly address: string
  readonly quorumId: string
  /** The policies of the wallet's slots, in the order of the slots. */
  readonly policies: readonly string[]
  /** The signers of the wallet's slots, in the same order. */
  readonly signers: readonly string[]
}

const VERSION = 1
const SLOTS_MAX = 100

/**
 * Returns whether a statement has the member `bursar`, which marks wallet records. The enclave accepts no request with
 * this member.
 */
export function isRecord(value: Json): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, 'bursar')
}

/** Decodes the statement that an owner signs for a new wallet. */
export function decodeRecord(value: Json): WalletRecord {
  const record = readMembers(value, 'the wallet record', {
    required: [
      'bursar',
      'version',
      'app_id',
      'enclave_url',
      'wallet_id',
      'address',
      'quorum_id',
      'policies',
      'signers',
    ],
  })
  expect(record['bursar'], 'wallet-record', 'the kind of statement')
  expect(record['version'], VERSION, 'the version of the wallet record')
  const policies = readIds(record['policies'], 'the policies of the wallet')
  const signers = readIds(record['signers'], 'the signers of the wallet')
  if (policies.length !== signers.length) throw unknown('the slots of the wallet')
  return {
    enclaveUrl: readText(record['enclave_url'], 'the address of the enclave'),
    appId: readText(record['app_id'], 'the id of the application'),
    walletId: readId(record['wallet_id'], 'the id of the wallet'),
    address: readAddress(record['address'], 'the address of the wallet'),
    quorumId: readId(record['quorum_id'], 'the id of the owners'),
    policies,
    signers,
  }
}

function readIds(value: Json | undefined, what: string): readonly string[] {
  const ids = readList(value, what).map((id) => readId(id, what))
  if (ids.length > SLOTS_MAX || new Set(ids).size !== ids.length) throw unknown(what)
  return ids
}
