import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import type { Json } from '../../signer/src/canonical-json.ts'
import { createSoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import type { ValidResult, Trust } from '../../signer/src/evidence/judge-payment.ts'
import type { Answer } from '../../signer/src/evidence/verdict.ts'
import { parseOwnerKey } from '../../signer/src/evidence/owner-keys.ts'
import { verifyEvidence } from '../../signer/src/evidence/verify-evidence.ts'
import { keccak256 } from '../../signer/src/keccak.ts'
import {
  BLOCK_HASH,
  createFile,
  createPlan,
  encode,
  findSignature,
  getLeaf,
  NONCE,
  ownersRequest,
  resumeStatement,
  textOf,
  TX_HASH,
  type Members,
  type Plan,
  type SampleKind,
} from './evidence-sample.ts'
import {
  CONDITIONS,
  ENCLAVE,
  RECIPIENT,
  RECORD_STATEMENT,
  request,
  rule,
  transfer,
  USDC,
  WALLET,
} from './sample-requests.ts'

const OTHER = '0x4444444444444444444444444444444444444444'
const SITE = { rpId: 'signer.example', origin: 'https://signer.example' }

type Change = (plan: Plan) => void
type Case = readonly [kind: SampleKind, answer: Answer, reason: RegExp, change: Change]

/** Each breaks one rule, although the file is signed and sealed as it must be. */
const OWNER: Record<string, Case> = {
  'no signature of the grant': ['transfer', 'not checked', /no signature of an owner/, remove('grant', 'record')],
  'a signature without a leaf': ['transfer', 'not checked', /no leaf of the owner/, set('grant', { hasLeaf: false })],
  'no record': ['transfer', 'not checked', /what belongs to the wallet/, remove('record')],
  'a suspension that nobody resumed': ['resumed', 'not checked', /suspended/, remove('resume')],
  'a resumption without a leaf': ['resumed', 'not checked', /suspended/, set('resume', { hasLeaf: false })],
  'terms that are not given': ['transfer', 'not checked', /terms/, (plan) => hideText(plan, 'activated', 'details')],
  'a signature after the payment': ['transfer', 'no', /only after/, move('grant', 'ended')],
  'an activation after the payment': ['transfer', 'no', /activated only after/, move('activated', 'ended')],
  'no activation': ['transfer', 'no', /activated/, remove('activated')],
  'bytes that the page refuses': ['transfer', 'no', /refused/, sign('grant', { version: 1 })],
  'a revocation in place of the grant': ['transfer', 'no', /something else/, sign('grant', policy([]))],
  'a change of owners in place of the grant': [
    'transfer',
    'no',
    /something else/,
    (plan) => {
      findSignature(plan, 'grant').signed = ownersRequest([plan.owner])
    },
  ],
  'the rules of another grant': [
    'transfer',
    'no',
    /another grant/,
    sign('grant', policy([rule(undefined, { name: 'grt_01JD8K3Q5V7W9X2Y4Z6A8BCDEG 50.5' })])),
  ],
  'the policy of another wallet': [
    'transfer',
    'no',
    /another wallet/,
    sign('grant', request({ url: `${ENCLAVE}/v1/policies/policy9` })),
  ],
  'another enclave': [
    'transfer',
    'no',
    /another wallet/,
    sign('grant', request({ url: 'https://other.example/v1/policies/policy1' })),
  ],
  'another application': ['transfer', 'no', /another wallet/, sign('record', { ...RECORD_STATEMENT, app_id: 'other' })],
  'the record of another wallet': [
    'transfer',
    'no',
    /another wallet/,
    sign('record', { ...RECORD_STATEMENT, address: OTHER }),
  ],
  'a record that is a request': ['transfer', 'no', /not such a record/, sign('record', transfer())],
  'a raised maximum': ['transfer', 'no', /other terms/, setTerms({ max_per_tx_usdc: '10.000001' })],
  'a raised 24-hour limit': ['transfer', 'no', /other terms/, setTerms({ daily_cap_usdc: '500' })],
  'another recipient': ['transfer', 'no', /other terms/, setTerms({ recipient_allowlist: [OTHER] })],
  'any recipient': ['transfer', 'no', /other terms/, setTerms({ recipient_allowlist: [] })],
  'a recipient more': ['transfer', 'no', /other terms/, setTerms({ recipient_allowlist: [RECIPIENT, OTHER] })],
  'another token': ['transfer', 'no', /other terms/, setTerms({ contract_allowlist: [OTHER] })],
  'a later end': ['transfer', 'no', /other terms/, setTerms({ expires_at: '2027-01-15T08:00:01.000Z' })],
  'no end': ['transfer', 'no', /other terms/, setTerms({ expires_at: null })],
  'an end that is no time': ['transfer', 'no', /other terms/, setTerms({ expires_at: 'later' })],
  purchases: ['transfer', 'no', /other terms/, setTerms({ x402: true })],
  'a revocation before the payment': [
    'transfer',
    'no',
    /revoked/,
    (plan) => {
      const activated = getLeaf(plan, 'activated')
      const leaf = { ...activated.leaf, action: 'grant.revoked' }
      plan.events.splice(
        plan.events.findIndex(({ name }) => name === 'decided'),
        0,
        { ...activated, name: 'revoked', leaf },
      )
    },
  ],
  'a resumption before the suspension': ['resumed', 'no', /not resumed/, move('resume', 'activated')],
  'a resumption after the payment': ['resumed', 'no', /not resumed/, move('resume', 'ended')],
  'a resumption with a higher limit': ['resumed', 'no', /other limits/, resume({}, { daily_cap_micro: '50500001' })],
  'a resumption with a higher maximum': ['resumed', 'no', /other limits/, resume({}, { max_per_tx_micro: '10000001' })],
  'a resumption with more recipients': ['resumed', 'no', /other limits/, resume({}, { recipients: 2 })],
  'a resumption for any recipient': ['resumed', 'no', /other limits/, resume({}, { recipients: null })],
  'a resumption with a later end': ['resumed', 'no', /other limits/, resume({}, { expires_at: null })],
  'a resumption with purchases': ['resumed', 'no', /other limits/, resume({}, { x402: true })],
  'a resumption of another wallet': ['resumed', 'no', /other limits/, resume({}, { wallet: OTHER })],
  'a resumption of another grant': ['resumed', 'no', /other grants/, resume({}, { id: 'grt_2' })],
  'a resumption in another workspace': ['resumed', 'no', /other grants/, resume({ workspace: 'acc_2' })],
  'a resumption in the other mode': ['resumed', 'no', /other grants/, resume({ mode: 'test' })],
  'a resumption after an earlier suspension': [
    'resumed',
    'no',
    /another suspension/,
    resume({}, { suspended_at: '2026-11-22T11:00:00.000Z' }),
  ],
  'no statement that resumes': ['resumed', 'no', /not such a statement/, sign('resume', RECORD_STATEMENT)],
  'a resumption by a stranger': [
    'resumed',
    'no',
    /resumed the suspended grant/,
    (plan) => setPasskey(plan, 'resume', plan.other),
  ],
  'a grant by a stranger': [
    'transfer',
    'no',
    /not among/,
    (plan) => {
      setPasskey(plan, 'grant', plan.other)
      setPasskey(plan, 'record', plan.other)
    },
  ],
  'a stranger who added himself': [
    'owners',
    'no',
    /not among/,
    (plan) => {
      remove('record of first')(plan)
      setPasskey(plan, 'owners', plan.other)
    },
  ],
  'a passkey that was added to another wallet, as its own record says': [
    'owners',
    'no',
    /not among/,
    (plan) => {
      findSignature(plan, 'owners').signed = ownersRequest([plan.owner, plan.other], 'quorum9')
      findSignature(plan, 'record').signed = { ...RECORD_STATEMENT, quorum_id: 'quorum9' }
    },
  ],
  'a grant before its passkey was added': [
    'owners',
    'no',
    /not among/,
    (plan) => {
      const change = findSignature(plan, 'owners')
      plan.events = plan.events.filter((one) => one !== change)
      plan.events.splice(plan.events.indexOf(findSignature(plan, 'grant')) + 1, 0, change)
    },
  ],
  'a grant after its passkey was removed': [
    'owners',
    'no',
    /not among/,
    (plan) => {
      const change = findSignature(plan, 'owners')
      const removal = { ...change, name: 'removal', signed: ownersRequest([plan.owner]) }
      plan.events.splice(2, 0, { ...removal, at: new Date(change.at.getTime() + 1) })
    },
  ],
  'a passkey that was added to another wallet': [
    'owners',
    'no',
    /not among/,
    (plan) => {
      findSignature(plan, 'owners').signed = ownersRequest([plan.owner, plan.other], 'quorum9')
    },
  ],
  'a passkey that was added by the one that was removed': [
    'owners',
    'no',
    /not among/,
    (plan) => {
      findSignature(plan, 'owners').signed = ownersRequest([plan.other])
    },
  ],
  'another withdrawal': [
    'withdrawal',
    'no',
    /another withdrawal/,
    sign('withdrawal', transfer({}, { reference_id: 'pay_2' })),
  ],
  'a withdrawal from another wallet': [
    'withdrawal',
    'no',
    /another wallet/,
    sign('withdrawal', transfer({ from: OTHER })),
  ],
  'a grant in place of a withdrawal': ['withdrawal', 'no', /something else/, sign('withdrawal', request())],
}

const LIMITS: Record<string, Case> = {
  'a raised maximum': ['transfer', 'no', /applied a maximum/, setLeaf({ max_per_payment: '20000000' })],
  'a raised 24-hour limit': ['transfer', 'no', /applied a 24-hour limit/, setLeaf({ cap_24h: '500500000' })],
  'too much in 24 hours': ['transfer', 'no', /was exceeded/, setLeaf({ spent_24h: '49250001' })],
  'limits that are not known': ['transfer', 'no', /does not say/, setLeaf({ spent_24h: null })],
  'another recipient': ['transfer', 'no', /recipient/, setLeaf({ to: OTHER })],
  'too much at once': ['transfer', 'no', /above the signed maximum/, setLeaf({ amount: '10000001' })],
  'a payment after the end': ['transfer', 'no', /after the signed end/, setLeaf({ at: '2027-01-15T08:00:00.000Z' })],
  'a purchase that is not allowed': ['purchase', 'no', /allow none/, sign('grant', policy([rule()]))],
  'an authorization after the end': [
    'purchase',
    'no',
    /authorization/,
    setLeaf({ valid_before: '2027-01-15T08:00:00.001Z' }),
  ],
  'an authorization without an end': ['purchase', 'no', /authorization/, setLeaf({ valid_before: null })],
  'another amount of a withdrawal': ['withdrawal', 'no', /another amount/, setLeaf({ amount: '1250001' })],
  'another recipient of a withdrawal': ['withdrawal', 'no', /another recipient/, setLeaf({ to: OTHER })],
  'another wallet of a withdrawal': [
    'withdrawal',
    'no',
    /another wallet/,
    sign('withdrawal', transfer({ from: OTHER })),
  ],
  'another withdrawal': [
    'withdrawal',
    'no',
    /Another withdrawal/,
    sign('withdrawal', transfer({}, { reference_id: 'pay_2' })),
  ],
  'no grant': ['transfer', 'no', /No limits/, sign('grant', policy([]))],
  'no signature': ['transfer', 'not checked', /no signature/, remove('grant', 'record')],
  'a stranger': [
    'transfer',
    'not checked',
    /not signed with a key/,
    (plan) => {
      setPasskey(plan, 'grant', plan.other)
      setPasskey(plan, 'record', plan.other)
    },
  ],
  'the exact limits': ['transfer', 'yes', /24-hour limit/, setLeaf({ amount: '10000000', spent_24h: '40500000' })],
  'any recipient': [
    'transfer',
    'yes',
    /as signed/,
    (plan) => {
      const { chain, token, native, amount } = CONDITIONS
      findSignature(plan, 'grant').signed = policy([rule([chain, token, native, amount])])
      setLeaf({ to: OTHER })(plan)
    },
  ],
  'a recovered payment': [
    'transfer',
    'not checked',
    /does not say under which limits/,
    setLeaf({
      ...{ recovered_at: '2026-11-22T13:00:00.000Z', max_per_payment: null, cap_24h: null, spent_24h: null },
    }),
  ],
  'no signed 24-hour limit': [
    'transfer',
    'yes',
    /as signed/,
    (plan) => {
      const [name] = rule().name.split(' ')
      findSignature(plan, 'grant').signed = policy([rule(undefined, { name: name ?? '' })])
      setLeaf({ cap_24h: '1' })(plan)
    },
  ],
}

describe('who allowed a payment', () => {
  for (const [name, [kind, answer, reason, change]] of Object.entries(OWNER)) {
    test(`is not the owner with ${name}`, async () => {
      const { ownerSigned } = await judge(kind, change)
      assert.equal(ownerSigned.answer, answer, ownerSigned.reason)
      assert.match(ownerSigned.reason, reason)
    })
  }

  test('is not known without a key of an owner, but the result names the passkey', async () => {
    const plan = createPlan('transfer')
    const { ownerSigned, withinLimits, unknown } = await verify(plan, { ownerKeys: [] })
    const spki = Buffer.from(plan.owner.publicKeySpki, 'base64')
    assert.equal(ownerSigned.answer, 'not checked')
    assert.ok(ownerSigned.reason.includes(createHash('sha256').update(spki).digest('hex')))
    assert.ok(unknown.includes(ownerSigned.reason))
    assert.equal(withinLimits.answer, 'yes')
  })

  test('is the owner with one of several keys, whose change of owners has no leaf, or who revoked the grant later', async () => {
    const plan = createPlan('owners')
    findSignature(plan, 'owners').hasLeaf = false
    const revoked = getLeaf(plan, 'activated')
    plan.events.push({ ...revoked, name: 'revoked', leaf: { ...revoked.leaf, action: 'grant.revoked' } })
    const stranger = createSoftwarePasskey(SITE)
    const keys = [stranger.publicKeySpki, plan.owner.publicKeySpki]
    assert.equal((await verify(plan, { ownerKeys: keys })).ownerSigned.answer, 'yes')
  })

  test('is not known if the payment was found later, and the grant was revoked or suspended before that', async () => {
    for (const name of ['a revocation before the payment', 'a resumption after the payment'] as const) {
      const [kind = 'transfer', , , change = () => undefined] = OWNER[name] ?? []
      const { ownerSigned } = await judge(kind, (plan) => {
        change(plan)
        setLeaf({ recovered_at: '2026-11-22T13:00:00.000Z' })(plan)
      })
      assert.equal(ownerSigned.answer, 'not checked', name)
      assert.match(ownerSigned.reason, /found on the chain later/)
    }
  })

  test('is named with the chain that was signed, which the leaf of the payment does not name', async () => {
    for (const kind of ['transfer', 'withdrawal'] as const) {
      assert.match((await verify(createPlan(kind))).ownerSigned.reason, / (?:on|for) Base before/)
    }
  })

  test('cannot be shown with a record of a stranger that has the credential id of the owner', async () => {
    const plan = createPlan('transfer')
    const record = findSignature(plan, 'record')
    record.changes = { credential: plan.owner.credentialId }
    setPasskey(plan, 'record', plan.other)
    const result = await verifyEvidence(encode(createFile(plan)), trustOf(plan))
    assert.ok(result.kind === 'invalid')
    assert.deepEqual([result.part, result.reason.includes('passkey')], ['signatures[0]', true])
  })
})

describe('a payment within the signed limits', () => {
  for (const [name, [kind, answer, reason, change]] of Object.entries(LIMITS)) {
    test(`is answered with ${answer}: ${name}`, async () => {
      const { withinLimits } = await judge(kind, change)
      assert.equal(withinLimits.answer, answer, withinLimits.reason)
      assert.match(withinLimits.reason, reason)
    })
  }

  test('names the limit that could not be checked', async () => {
    const [kind = 'transfer', , , change = () => undefined] = LIMITS['no signed 24-hour limit'] ?? []
    const { unknown } = await judge(kind, change)
    assert.ok(
      unknown.some((sentence) => /limit/.test(sentence)),
      inspect(unknown),
    )
  })
})

const ZEROS = '0'.repeat(24)
const TRANSFER_LOG = {
  address: USDC,
  topics: [
    topic('Transfer(address,address,uint256)'),
    `0x${ZEROS}${WALLET.slice(2)}`,
    `0x${ZEROS}${RECIPIENT.slice(2)}`,
  ],
  data: `0x${(1_250_000).toString(16).padStart(64, '0')}`,
  logIndex: '0x7',
  removed: false,
}
const AUTHORIZATION_LOG = {
  ...TRANSFER_LOG,
  topics: [topic('AuthorizationUsed(address,bytes32)'), `0x${ZEROS}${WALLET.slice(2)}`, NONCE],
  data: '0x',
  logIndex: '0x6',
}
const RECEIPT = {
  ...{ transactionHash: TX_HASH, status: '0x1', blockNumber: '0x7b', blockHash: BLOCK_HASH },
  logs: [AUTHORIZATION_LOG, TRANSFER_LOG] as Json[],
}

const CHAIN: Record<string, readonly [answer: Answer, reason: RegExp, changes: object | null]> = {
  'the transfer': ['yes', /Block 123/, {}],
  'no receipt': ['no', /does not know/, null],
  'another transaction': ['no', /another transaction/, { transactionHash: BLOCK_HASH }],
  'another block': ['no', /another block/, { blockNumber: '0x7c' }],
  'another block of this number': ['no', /another block/, { blockHash: TX_HASH }],
  'a reverted transaction': ['no', /reverted/, { status: '0x0' }],
  'no status': ['no', /reverted/, { status: undefined }],
  'no logs': ['no', /position/, { logs: undefined }],
  'another position': ['no', /position/, logs({ logIndex: '0x8' })],
  'a log that was removed': ['no', /position/, logs({ removed: true })],
  'another event': ['no', /position/, logs({ topics: [AUTHORIZATION_LOG.topics[0], ...TRANSFER_LOG.topics.slice(1)] })],
  'another sender': ['no', /position/, logs({ topics: TRANSFER_LOG.topics.with(1, `0x${ZEROS}${OTHER.slice(2)}`) })],
  'another recipient': ['no', /position/, logs({ topics: TRANSFER_LOG.topics.with(2, `0x${ZEROS}${OTHER.slice(2)}`) })],
  'another amount': ['no', /position/, logs({ data: `0x${(1_250_001).toString(16).padStart(64, '0')}` })],
  'another token': ['no', /token/, logs({ address: OTHER })],
  'no authorization': ['no', /authorization/, { logs: [TRANSFER_LOG] }],
  'another authorization': [
    'no',
    /authorization/,
    {
      logs: [{ ...AUTHORIZATION_LOG, topics: AUTHORIZATION_LOG.topics.with(2, TX_HASH) }, TRANSFER_LOG],
    },
  ],
  'an authorization of another token': [
    'no',
    /authorization/,
    { logs: [{ ...AUTHORIZATION_LOG, address: OTHER }, TRANSFER_LOG] },
  ],
}

describe('a payment on the chain', () => {
  for (const [name, [answer, reason, changes]] of Object.entries(CHAIN)) {
    test(`is answered with ${answer}: ${name}`, async () => {
      const node = nodeOf(changes === null ? null : { ...RECEIPT, ...changes })
      const { onChain } = await verify(createPlan('purchase'), { node })
      assert.equal(onChain.answer, answer, onChain.reason)
      assert.match(onChain.reason, reason)
    })
  }

  test('is not there if the payment failed, whatever the node says', async () => {
    const plan = createPlan('transfer')
    setLeaf({ status: 'failed' }, 'ended')(plan)
    assert.equal((await verify(plan, { node: nodeOf(RECEIPT) })).onChain.answer, 'no')
  })

  test('of a withdrawal needs no authorization', async () => {
    const node = nodeOf({ ...RECEIPT, logs: [TRANSFER_LOG] })
    assert.equal((await verify(createPlan('withdrawal'), { node })).onChain.answer, 'yes')
  })

  test('is not checked with a node of another chain or one that does not respond', async () => {
    for (const node of [nodeOf(RECEIPT, '0x1'), () => Promise.reject(new Error('refused\u001b[2J'))]) {
      const { onChain } = await verify(createPlan('transfer'), { node })
      assert.equal(onChain.answer, 'not checked', onChain.reason)
      assert.ok(!onChain.reason.includes('\u001b'))
    }
  })

  test('is not checked if nothing says on which chain the owner allowed it, or nothing says where it is', async () => {
    const changes: readonly Change[] = [remove('grant', 'record'), setLeaf({ tx_hash: null }, 'ended')]
    for (const change of changes) {
      const plan = createPlan('transfer')
      change(plan)
      assert.equal((await verify(plan, { node: nodeOf(RECEIPT) })).onChain.answer, 'not checked')
    }
    const forged = createPlan('transfer')
    const stranger = createSoftwarePasskey(SITE)
    const { onChain } = await verify(forged, { node: nodeOf(RECEIPT), ownerKeys: [stranger.publicKeySpki] })
    assert.equal(onChain.answer, 'not checked')
  })
})

test('a public key of an owner is read from PEM, base64 and base64url', () => {
  const { publicKeySpki: key } = createSoftwarePasskey(SITE)
  const pem = `-----BEGIN PUBLIC KEY-----\n${key.slice(0, 64)}\n${key.slice(64)}\n-----END PUBLIC KEY-----\n`
  const forms = [key, `${key}\n`, Buffer.from(key, 'base64').toString('base64url'), pem]
  for (const form of forms) assert.equal(parseOwnerKey(form), key)
  const others = ['', 'x', key.slice(4), `${key}A`, `MFkw${'A'.repeat(120)}`, pem.replace('PUBLIC', 'PRIVATE')]
  for (const other of others) assert.equal(parseOwnerKey(other), null)
})

function policy(rules: Json): Json {
  return request({ body: { rules } })
}

function set(name: string, changes: { hasLeaf: boolean }): Change {
  return (plan) => Object.assign(findSignature(plan, name), changes)
}

function sign(name: string, signed: Json): Change {
  return (plan) => {
    findSignature(plan, name).signed = signed
  }
}

function resume(changes: Members, grant: Members = {}): Change {
  return (plan) => {
    const at = textOf(getLeaf(plan, 'suspended').leaf['at'])
    findSignature(plan, 'resume').signed = resumeStatement(at, changes, grant)
  }
}

function setPasskey(plan: Plan, name: string, passkey: Plan['owner']): void {
  plan.events = plan.events.map((event) => (event.name === name ? { ...event, passkey } : event))
}

function setLeaf(changes: Members, name = 'decided'): Change {
  return (plan) => {
    const event = getLeaf(plan, name)
    event.leaf = { ...event.leaf, ...changes }
  }
}

function setTerms(changes: Members): Change {
  return (plan) => {
    const event = getLeaf(plan, 'activated')
    const details = JSON.parse(textOf(event.texts['details'])) as { terms: Members }
    const sorted = Object.entries({ ...details.terms, ...changes }).toSorted(([a], [b]) => (a < b ? -1 : 1))
    event.texts = { details: JSON.stringify({ ...details, terms: Object.fromEntries(sorted) }) }
  }
}

/** Leaves out a text, although the leaf has its hash. */
function hideText(plan: Plan, name: string, text: string): void {
  const event = getLeaf(plan, name)
  event.leaf = { ...event.leaf, [`${text}_hash`]: 'A'.repeat(43) }
  event.texts = { ...event.texts, [text]: null }
}

function remove(...names: readonly string[]): Change {
  return (plan) => {
    plan.events = plan.events.filter(({ name }) => !names.includes(name))
  }
}

/** Moves an event behind another one, without another time. */
function move(name: string, behind: string): Change {
  return (plan) => {
    const moved = plan.events.filter((event) => event.name === name)
    const rest = plan.events.filter((event) => event.name !== name)
    rest.splice(rest.findIndex((event) => event.name === behind) + 1, 0, ...moved)
    plan.events = rest
  }
}

function logs(changes: object): object {
  return { logs: [AUTHORIZATION_LOG, { ...TRANSFER_LOG, ...changes }] }
}

function topic(event: string): string {
  return `0x${Buffer.from(keccak256(Buffer.from(event))).toString('hex')}`
}

function nodeOf(receipt: unknown, chainId = '0x2105'): NonNullable<Trust['node']> {
  return async (method, params) => {
    if (method === 'eth_chainId') return chainId
    assert.deepEqual([method, params], ['eth_getTransactionReceipt', [TX_HASH]])
    return receipt
  }
}

async function judge(kind: SampleKind, change: Change): Promise<ValidResult> {
  const plan = createPlan(kind)
  const { ownerSigned, withinLimits } = await verify(plan)
  assert.deepEqual([ownerSigned.answer, withinLimits.answer], ['yes', 'yes'])
  change(plan)
  return await verify(plan)
}

async function verify(plan: Plan, trust: Partial<Trust> = {}): Promise<ValidResult> {
  const result = await verifyEvidence(encode(createFile(plan)), { ...trustOf(plan), ...trust })
  assert.ok(result.kind === 'valid', inspect(result))
  return result
}

function trustOf(plan: Plan): Trust {
  return { ownerKeys: [plan.owner.publicKeySpki], logKeys: [plan.log.verifierKey], node: null }
}
