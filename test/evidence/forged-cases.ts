import type { JsonValue } from '../../server/src/lib/canonical-json.ts'
import { CONDITIONS, onCall, purchaseRule, rule } from '../signer/sample-requests.ts'
import {
  activated,
  audit,
  createOwner,
  decided,
  ended,
  GRANT_ID,
  signGrant,
  signOwners,
  signRecord,
  signResume,
  signWithdrawal,
  TERMS,
  wholePayment,
  WITHDRAWN,
  type Part,
} from './forged-file.ts'
import { signHashed, signWithClientData, signWithFlags } from './forged-assertion.ts'
import { makeLeaf } from './forged-log.ts'
import type { Answer } from './python-verifier.ts'

export const owner = createOwner()
const second = createOwner()
export const stranger = createOwner()
const keyOf = ({ publicKeySpki }: { publicKeySpki: string }): string => publicKeySpki
const OTHER_GRANT = 'grt_01JD8K3Q5V7W9X2Y4Z6A8BCDEG'
const STRANGER_ADDRESS = '0x3333333333333333333333333333333333333333'

/** The parts of a grant and its payment, between which a test puts others. */
const record = signRecord(owner)
const grant = signGrant(owner)
const active = activated()
const payment = decided()
const end = ended()
const without = (part: Part): Part[] => [record, grant, active, payment, end].filter((one) => one !== part)
const paid = (change: Parameters<typeof decided>[0]): Part[] => [record, grant, active, decided(change), end]
const withdrawn = (signature: Part, change: Parameters<typeof decided>[0] = {}): Part[] => [
  record,
  signature,
  decided({ ...WITHDRAWN, ...change }),
  end,
]
/** What the owner signed for the grant, with other rules. */
const allowing = (rules: readonly JsonValue[], terms: { readonly [name: string]: JsonValue } = {}): Part[] => [
  record,
  signGrant(owner, { rules }),
  activated({ ...TERMS, ...terms }),
]
const suspended = audit('grant.suspended')
const stopped = audit('agents.stopped', { agent_id: 'buyer' }, { object: 'stp_1' })
const later = { ...rule(), name: `${OTHER_GRANT} 50.5` }

/** A payment that was found on the chain after a restore. */
const RECOVERED = {
  recovered_at: '2026-11-23T12:00:00.000Z',
  max_per_payment: null,
  cap_24h: null,
  spent_24h: null,
}

interface Case {
  readonly parts: readonly Part[]
  /** Whether the owner signed, and whether the payment is within the limits. */
  readonly answers?: readonly [Answer, Answer]
  /** The part that is wrong. */
  readonly part?: string
}

const yes = ['yes', 'yes'] as const
const notOwner = ['no', 'yes'] as const
const unknownOwner = ['not checked', 'yes'] as const

/** What the verifiers notice. */
export const SEEN: Readonly<Record<string, Case>> = {
  // Limits.
  'a cap that was raised in the database': { parts: paid({ cap_24h: '500000000' }), answers: ['yes', 'no'] },
  'a payment above the cap': { parts: paid({ spent_24h: '50000000' }), answers: ['yes', 'no'] },
  'a payment above the maximum': { parts: paid({ amount: '10000001' }), answers: ['yes', 'no'] },
  'another maximum in the database': { parts: paid({ max_per_payment: '20000000' }), answers: ['yes', 'no'] },
  'a payment to somebody else': { parts: paid({ to: STRANGER_ADDRESS }), answers: ['yes', 'no'] },
  'a payment after the end': { parts: paid({ at: '2027-01-15T08:00:00.000Z' }), answers: ['yes', 'no'] },
  'limits that are not told': { parts: paid({ spent_24h: null }), answers: ['yes', 'no'] },
  'a purchase that the owner did not allow': {
    parts: paid({ kind: 'x402', valid_before: '2026-11-22T12:02:00.000Z' }),
    answers: ['yes', 'no'],
  },
  'a purchase that can be settled after the end': {
    parts: [
      ...allowing([rule(), purchaseRule()], { x402: true }),
      decided({ kind: 'x402', valid_before: '2027-01-15T08:00:01.000Z' }),
      end,
    ],
    answers: ['yes', 'no'],
  },
  'a grant that was activated with other terms': {
    parts: [record, grant, activated({ ...TERMS, daily_cap_usdc: '500' }), payment, end],
    answers: notOwner,
  },
  'a grant that was activated with another recipient': {
    parts: [record, grant, activated({ ...TERMS, recipient_allowlist: [STRANGER_ADDRESS] }), payment, end],
    answers: notOwner,
  },

  // Order.
  'a payment that was logged before the signature': {
    parts: [record, payment, grant, active, end],
    answers: notOwner,
  },
  'a payment that was logged before the grant began': {
    parts: [record, grant, payment, active, end],
    answers: notOwner,
  },
  'a payment after the revocation': {
    parts: [record, grant, active, audit('grant.revoked'), payment, end],
    answers: notOwner,
  },
  'a payment of a suspended grant': {
    parts: [record, grant, active, suspended, payment, end],
    answers: unknownOwner,
  },
  'a signature that was given before the grant was suspended': {
    parts: [record, grant, active, signResume(owner), suspended, payment, end],
    answers: notOwner,
  },
  'a signature that resumed the grant after an earlier suspension': {
    parts: [
      record,
      grant,
      active,
      suspended,
      signResume(owner, { suspended_at: '2026-11-22T11:00:00.000Z' }),
      payment,
      end,
    ],
    answers: notOwner,
  },
  'a signature that resumed the grant after the payment': {
    parts: [record, grant, active, suspended, payment, signResume(owner), end],
    answers: notOwner,
  },
  'a signature that resumed another grant': {
    parts: [record, grant, active, suspended, signResume(owner, { id: OTHER_GRANT }), payment, end],
    answers: notOwner,
  },
  'a signature that resumed the grant with another limit': {
    parts: [record, grant, active, suspended, signResume(owner, { daily_cap_micro: '900000000' }), payment, end],
    answers: notOwner,
  },
  'a signature that resumed a grant in another workspace': {
    parts: [record, grant, active, suspended, signResume(owner, {}, { workspace: 'acc_2' }), payment, end],
    answers: notOwner,
  },
  'a stranger’s signature that resumed the grant': {
    parts: [record, grant, active, suspended, signResume(stranger), payment, end],
    answers: notOwner,
  },
  'a suspension after the payment': {
    parts: [record, grant, active, payment, suspended, end],
    part: 'logs[0].leaves[4]',
  },

  // Owners.
  'a payment that was found on the chain, under the grant of a stranger': {
    parts: [signRecord(stranger), signGrant(stranger), active, audit('grant.revoked'), decided(RECOVERED), end],
    answers: ['no', 'not checked'],
  },
  'a payment that was made without a grant, and is shown as found on the chain': {
    parts: [record, grant, active, decided({ ...RECOVERED, amount: '10000001' }), end],
    answers: ['not checked', 'not checked'],
  },
  'a grant that a stranger signed': {
    parts: [signRecord(stranger), signGrant(stranger), active, payment, end],
    answers: ['no', 'not checked'],
  },
  'a stranger who made themselves an owner': {
    parts: [
      signOwners(stranger, [keyOf(owner), keyOf(stranger)]),
      signRecord(stranger),
      signGrant(stranger),
      ...[active, payment, end],
    ],
    answers: ['no', 'not checked'],
  },
  'a new owner of another wallet': {
    parts: [
      signOwners(owner, [keyOf(owner), keyOf(second)], 'https://enclave.example/api/v1/key_quorums/quorum2'),
      signRecord(second),
      signGrant(second),
      ...[active, payment, end],
    ],
    answers: ['no', 'not checked'],
  },
  'a new owner of another wallet, who says that this one has its list of owners': {
    parts: [
      record,
      signOwners(owner, [keyOf(owner), keyOf(second)], 'https://enclave.example/api/v1/key_quorums/quorum2'),
      signRecord(second, { quorum_id: 'quorum2' }),
      signGrant(second),
      ...[active, payment, end],
    ],
    answers: ['no', 'not checked'],
  },
  'a new owner of another wallet, of which the old one signed a record': {
    parts: [
      signRecord(owner, { quorum_id: 'quorum2', address: STRANGER_ADDRESS }),
      signOwners(owner, [keyOf(owner), keyOf(second)], 'https://enclave.example/api/v1/key_quorums/quorum2'),
      signRecord(second, { quorum_id: 'quorum2' }),
      signGrant(second),
      ...[active, payment, end],
    ],
    answers: ['no', 'not checked'],
  },
  'a new owner without the record of the one who added them': {
    parts: [
      signOwners(owner, [keyOf(owner), keyOf(second)]),
      signRecord(second),
      signGrant(second),
      ...[active, payment, end],
    ],
    answers: ['no', 'not checked'],
  },
  'two records by one passkey': {
    parts: [record, signRecord(owner, { policies: ['policy1', 'policy3'] }), grant, active, payment, end],
    part: 'signatures[1]',
  },
  'an owner who had been removed': {
    parts: [
      record,
      signOwners(owner, [keyOf(owner), keyOf(second)]),
      signOwners(owner, [keyOf(owner)]),
      signRecord(second),
      signGrant(second),
      ...[active, payment, end],
    ],
    answers: ['no', 'not checked'],
  },
  'an owner who had been removed, and a time before that': {
    parts: [
      record,
      signOwners(owner, [keyOf(owner), keyOf(second)], undefined, { received_at: '2026-11-22T11:58:00.000Z' }),
      signOwners(owner, [keyOf(owner)]),
      signRecord(second),
      signGrant(second, undefined, { received_at: '2026-11-22T11:59:00.000Z' }),
      ...[active, payment, end],
    ],
    answers: ['no', 'not checked'],
  },
  'a change of owners that removes the passkey that signed it': {
    parts: [
      record,
      signOwners(owner, [keyOf(second)]),
      signRecord(second),
      signGrant(second),
      ...[active, payment, end],
    ],
    answers: ['no', 'not checked'],
  },

  // What was signed.
  'a signature for another grant': {
    parts: [record, signGrant(owner, { rules: [later] }), active, payment, end],
    answers: ['no', 'no'],
  },
  'a revocation that is shown as a grant': {
    parts: [record, signGrant(owner, { rules: [] }), active, payment, end],
    answers: ['no', 'no'],
  },
  'rules that the signer page would refuse': {
    parts: [
      record,
      signGrant(owner, { rules: [rule([...Object.values(CONDITIONS), onCall('transfer.memo', 'eq', '1')])] }),
      ...[active, payment, end],
    ],
    answers: ['no', 'no'],
  },
  'a condition whose source and field only read like a known one together': {
    parts: [
      record,
      signGrant(owner, {
        rules: [
          rule([
            ...[CONDITIONS.chain, CONDITIONS.token, CONDITIONS.native, CONDITIONS.recipient, CONDITIONS.time],
            { field_source: 'ethereum_calldata.transfer', field: 'amount', operator: 'lte', value: '10000000' },
          ]),
        ],
      }),
      ...[active, payment, end],
    ],
    answers: ['no', 'no'],
  },
  'a policy of another wallet': {
    parts: [signRecord(owner, { policies: ['policy2', 'policy3'] }), grant, active, payment, end],
    answers: notOwner,
  },
  'another address': {
    parts: [signRecord(owner, { address: STRANGER_ADDRESS }), grant, active, payment, end],
    answers: notOwner,
  },
  'another enclave': {
    parts: [signRecord(owner, { enclave_url: 'https://other.example' }), grant, active, payment, end],
    answers: notOwner,
  },
  'a withdrawal of another amount': {
    parts: withdrawn(signWithdrawal(owner), { amount: '2' }),
    answers: ['yes', 'no'],
  },
  'a withdrawal to somebody else': {
    parts: withdrawn(signWithdrawal(owner), { to: STRANGER_ADDRESS }),
    answers: ['yes', 'no'],
  },
  'a withdrawal that was signed for another payment': {
    parts: withdrawn(signWithdrawal(owner, {}, { reference_id: 'pay_2' })),
    answers: ['no', 'no'],
  },
  'a withdrawal that was logged before it was signed': {
    parts: [record, decided(WITHDRAWN), signWithdrawal(owner), end],
    answers: notOwner,
  },

  // What is missing or too much.
  'no signature': { parts: [active, payment, end], answers: ['not checked', 'not checked'] },
  'no record': { parts: without(record), answers: unknownOwner },
  'no activation': { parts: without(active), answers: notOwner },
  'no end': { parts: without(end), part: 'logs' },
  'no decision': { parts: without(payment), part: 'logs' },
  'a record by another passkey': { parts: [signRecord(second), grant, active, payment, end], part: 'signatures[0]' },
  'a record under the credential of another passkey': {
    parts: [signRecord({ ...second, credentialId: owner.credentialId }), grant, active, payment, end],
    part: 'signatures[0]',
  },
  'a record whose statement is hashed': {
    parts: [signHashed(owner, signRecord(owner)), grant, active, payment, end],
    part: 'signatures[0]',
  },
  'a signature without verification of the user': {
    parts: [signWithFlags(owner, signRecord(owner), 0x01), grant, active, payment, end],
    part: 'signatures[0].assertion.authenticator_data',
  },
  'a signature that was given on a page within another page': {
    parts: [signWithClientData(owner, signRecord(owner), { crossOrigin: true }), grant, active, payment, end],
    part: 'signatures[0].assertion.client_data_json',
  },
  'a registration that is shown as a signature': {
    parts: [signWithClientData(owner, signRecord(owner), { type: 'webauthn.create' }), grant, active, payment, end],
    part: 'signatures[0].assertion.client_data_json',
  },
  'a signature that was given on another page': {
    parts: [
      signWithClientData(owner, signRecord(owner), { origin: 'http://evil.example' }),
      grant,
      active,
      payment,
      end,
    ],
    part: 'signatures[0].assertion.client_data_json',
  },
  'two decisions': {
    parts: [record, grant, active, payment, decided({ amount: '1' }), end],
    part: 'logs[0].leaves[4]',
  },
  'two activations': { parts: [record, grant, active, activated(), payment, end], part: 'logs[0].leaves[3]' },
  'a signature that has another leaf': {
    parts: [record, { leaf: grant.leaf, entry: { ...grant.entry, user: 'usr_2' } }, active, payment, end],
    part: 'signatures[1]',
  },
  'the leaf of a signature that is not in the file': {
    parts: [record, grant, { leaf: signResume(owner).leaf }, active, payment, end],
    part: 'logs[0].leaves[2]',
  },
  'the leaf of another workspace': {
    parts: [record, grant, audit('grant.activated', { terms: TERMS }, { workspace: 'acc_2' }), payment, end],
    part: 'logs[0].leaves[2]',
  },
  'the end of another payment': {
    parts: [record, grant, active, payment, ended({ subject: 'pay_2' })],
    part: 'logs[0].leaves[4]',
  },
  'a stop of another agent': {
    parts: [record, grant, active, audit('agents.stopped', { agent_id: 'other' }, { object: 'stp_1' }), payment, end],
    part: 'logs[0].leaves[3]',
  },
  'an answer to a transfer': {
    parts: [
      ...[record, grant, active, payment, end],
      {
        leaf: makeLeaf(
          {
            type: 'purchase.answered',
            subject: 'pay_1',
            status: 200,
            delivery: 'delivered',
            protocol: 'x402_v2',
            method: 'GET',
            response_sha256: null,
          },
          { resource_url: 'https://seller.example/', offer: null, receipt: null },
        ),
      },
    ],
    part: 'logs[0].leaves[5]',
  },
}

/** What is in order. */
export const RIGHT: Readonly<Record<string, Case>> = {
  'a transfer': { parts: wholePayment(owner), answers: yes },
  'a purchase': {
    parts: [
      ...allowing([rule(), purchaseRule()], { x402: true }),
      decided({ kind: 'x402', valid_before: '2027-01-15T08:00:00.000Z', nonce: `0x${'ab'.repeat(32)}` }),
      end,
    ],
    answers: yes,
  },
  'a withdrawal': { parts: withdrawn(signWithdrawal(owner)), answers: yes },
  'a grant that was revoked later': {
    parts: [record, grant, active, payment, audit('grant.revoked'), end],
    answers: yes,
  },
  'a grant that was resumed': {
    parts: [record, grant, active, suspended, signResume(owner), payment, end],
    answers: yes,
  },
  'a grant that was resumed after a stop': {
    parts: [record, grant, active, stopped, signResume(owner, {}, { stop: 'stp_1' }), payment, end],
    answers: yes,
  },
  'a grant by an owner who was added': {
    parts: [
      record,
      signOwners(owner, [keyOf(owner), keyOf(second)]),
      signRecord(second),
      signGrant(second),
      ...[active, payment, end],
    ],
    answers: yes,
  },
  'a grant by an owner who was added by a process with a faster clock': {
    parts: [
      record,
      signOwners(owner, [keyOf(owner), keyOf(second)], undefined, { received_at: '2026-11-22T12:00:02.000Z' }),
      signRecord(second),
      signGrant(second),
      ...[active, payment, end],
    ],
    answers: yes,
  },
  'an owner who was added before signatures had leaves': {
    parts: [
      record,
      { ...signOwners(owner, [keyOf(owner), keyOf(second)]), leaf: null },
      signRecord(second),
      signGrant(second),
      ...[active, payment, end],
    ],
    answers: yes,
  },
  'a grant for any recipient without an end': {
    parts: [
      ...allowing([rule([CONDITIONS.chain, CONDITIONS.token, CONDITIONS.native, CONDITIONS.amount])], {
        recipient_allowlist: [],
        expires_at: null,
      }),
      decided({ to: STRANGER_ADDRESS, at: '2030-01-01T00:00:00.000Z' }),
      end,
    ],
    answers: yes,
  },
  'a grant that was signed before the limit was part of the signature': {
    parts: [
      ...allowing([{ ...rule(), name: GRANT_ID }], { daily_cap_usdc: '70' }),
      decided({ cap_24h: '70000000' }),
      end,
    ],
    answers: yes,
  },
  'a payment that was found on the chain': {
    parts: paid(RECOVERED),
    answers: ['not checked', 'not checked'],
  },
  // The service records it under the grant of that time.
  'a payment that was found on the chain, and that another grant had allowed': {
    parts: paid({ ...RECOVERED, amount: '10000001', to: STRANGER_ADDRESS, at: '2027-02-01T08:00:00.000Z' }),
    answers: ['not checked', 'not checked'],
  },
  'a payment that was found on the chain after its grant was revoked': {
    parts: [...[record, grant, active, audit('grant.revoked')], decided(RECOVERED), end],
    answers: ['not checked', 'not checked'],
  },
  'a payment that just fits': { parts: paid({ spent_24h: '49250000' }), answers: yes },
}

/**
 * What nobody can see in the file. Each is one of the sentences of `does_not_prove`: the answers are `yes`, although the
 * service did what is described.
 */
export const UNSEEN: Readonly<Record<string, Case>> = {
  // "That the amount spent in the 24 hours before is complete."
  'an amount spent that the service made smaller': { parts: paid({ spent_24h: '0' }), answers: yes },
  // "That the grant was not suspended, stopped or revoked before the payment."
  'a suspension and a revocation that the service left out': { parts: wholePayment(owner), answers: yes },
  // "That all changes of the owners are in this file, in the order in which they were made."
  'the removal of an owner that the service left out': {
    parts: [
      record,
      signOwners(owner, [keyOf(owner), keyOf(second)]),
      signRecord(second),
      signGrant(second),
      ...[active, payment, end],
    ],
    answers: yes,
  },
  // "That the times are right."
  'a time before the end of the grant that the service made up': {
    parts: paid({ at: '2027-01-15T07:59:59.999Z' }),
    answers: yes,
  },
  // "That the agent asked for the payment."
  'a payment that no agent asked for': { parts: wholePayment(owner), answers: yes },
}
