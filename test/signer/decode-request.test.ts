import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { canonicalJson, type Json } from '../../signer/src/canonical-json.ts'
import { checkRequest } from '../../signer/src/check-request.ts'
import { Refusal, type RefusalCode } from '../../signer/src/refusal.ts'
import { decodeRequest } from '../../signer/src/decode/request.ts'
import {
  authorization,
  AUTHORIZATION_TYPE,
  CONDITIONS,
  type Condition,
  DOMAIN_TYPE,
  ENCLAVE,
  EXPIRY,
  KEY,
  NOW,
  onCall,
  onTransaction,
  OTHER_KEY,
  PURCHASE_CONDITIONS,
  purchaseRule,
  RECIPIENT,
  RECORD,
  request,
  rule,
  RULE_NAME,
  transfer,
  TRANSFER_ABI,
  USDC,
  WALLET,
} from './sample-requests.ts'

const encode = (value: Json): Uint8Array => new TextEncoder().encode(canonicalJson(value))

function read(value: Json) {
  const decoded = decodeRequest(encode(value))
  if (decoded.kind !== 'record') checkRequest(decoded, RECORD, NOW)
  return decoded
}

function assertRefused(bytes: Uint8Array | Json, code: RefusalCode): void {
  assert.throws(
    () => (bytes instanceof Uint8Array ? decodeRequest(bytes) : read(bytes)),
    (error: unknown) => error instanceof Refusal && error.code === code,
  )
}

describe('decodeRequest', () => {
  test('reads the complete terms of a grant', () => {
    assert.deepEqual(read(request()), {
      kind: 'policy',
      policyId: 'policy1',
      enclaveUrl: ENCLAVE,
      appId: 'app',
      expiresAt: new Date(Number(EXPIRY)),
      terms: {
        chainId: 8453n,
        tokens: [USDC.toLowerCase()],
        amountMax: 10_000_000n,
        recipients: [RECIPIENT],
        endsAt: new Date(1_800_000_000_000),
        grantId: RULE_NAME.split(' ')[0],
        dailyMax: 50_500_000n,
        purchaseToken: null,
      },
    })
  })

  test('reads any recipient and no end date as such', () => {
    const { chain, token, native, amount } = CONDITIONS
    const decoded = read(request({ body: { rules: [rule([chain, token, native, amount])] } }))
    assert.ok(decoded.kind === 'policy' && decoded.terms !== null)
    assert.deepEqual([decoded.terms.recipients, decoded.terms.endsAt], [null, null])
  })

  test('reads the rule for purchases', () => {
    const decoded = read(request({ body: { rules: [rule(), purchaseRule()] } }))
    assert.ok(decoded.kind === 'policy')
    assert.equal(decoded.terms?.purchaseToken, USDC.toLowerCase())
    const { chain, token, native, amount } = CONDITIONS
    const { chain: ofDomain, token: contract, amount: value } = PURCHASE_CONDITIONS
    const rules = [rule([chain, token, native, amount]), purchaseRule([ofDomain, contract, value])]
    const endless = read(request({ body: { rules } }))
    assert.ok(endless.kind === 'policy')
    assert.deepEqual([endless.terms?.purchaseToken, endless.terms?.recipients], [USDC.toLowerCase(), null])
  })

  test('reads empty rules as the end of a grant', () => {
    const decoded = read(request({ body: { rules: [] } }))
    assert.ok(decoded.kind === 'policy')
    assert.equal(decoded.terms, null)
  })

  test('reads a withdrawal', () => {
    const decoded = read(transfer())
    assert.ok(decoded.kind === 'transfer')
    const { chainId, token, from, to, amount } = decoded.transfer
    assert.deepEqual([chainId, token, from, to, amount], [8453n, USDC.toLowerCase(), WALLET, RECIPIENT, 1_250_000n])
  })

  test('reads an authorization of one transfer', () => {
    const decoded = read(authorization({}))
    assert.ok(decoded.kind === 'authorization')
    const { chainId, token, from, to, amount, validAfter, validBefore } = decoded.authorization
    assert.deepEqual(
      [chainId, token, from, to, amount, validAfter, validBefore],
      [8453n, USDC.toLowerCase(), WALLET, RECIPIENT, 1_250_000n, 0n, 1_800_000_000n],
    )
  })

  test('reads a list of owners, and a list of signers', () => {
    const url = `${ENCLAVE}/v1/key_quorums/quorum1`
    const owners = read(request({ url, body: { public_keys: [KEY, OTHER_KEY], authorization_threshold: 1 } }))
    assert.ok(owners.kind === 'owners')
    assert.deepEqual(owners.publicKeys, [KEY, OTHER_KEY])
    const signers = read(
      request({
        url: `${ENCLAVE}/v1/wallets/wallet1`,
        body: { additional_signers: [{ signer_id: 'signer2', override_policy_ids: ['policy2'] }] },
      }),
    )
    assert.ok(signers.kind === 'signers')
    assert.deepEqual(signers.slots, [{ signerId: 'signer2', policyId: 'policy2' }])
  })
})

describe('a service that has been taken over', () => {
  const { chain, token, native, amount, recipient, time } = CONDITIONS
  const withRules = (...rules: Json[]): Json => request({ body: { rules } })
  const withConditions = (...conditions: Condition[]): Json => withRules(rule(conditions))
  const changeOwners = (publicKeys: string[]): Json =>
    request({
      url: `${ENCLAVE}/v1/key_quorums/quorum1`,
      body: { public_keys: publicKeys, authorization_threshold: 1 },
    })
  const patchWallet = (body: Json): Json => request({ url: `${ENCLAVE}/v1/wallets/wallet1`, body })

  const buying = PURCHASE_CONDITIONS
  const withPurchases = (changes: Partial<Record<keyof typeof buying, Condition | null>>): Json =>
    withRules(rule(), purchaseRule(Object.values({ ...buying, ...changes }).filter((one) => one !== null)))
  const otherShape = (shape: Json): Json => withPurchases({ amount: { ...buying.amount, typed_data: shape } })
  const [first, ...others] = AUTHORIZATION_TYPE

  const unreadable: Record<string, Json> = {
    'a rule for purchases alone': withRules(purchaseRule()),
    'a rule for purchases twice': withRules(rule(), purchaseRule(), purchaseRule()),
    'a rule for purchases before the other': withRules(purchaseRule(), rule()),
    'a rule that denies purchases': withRules(rule(), purchaseRule(undefined, { action: 'DENY' })),
    'a rule for all typed data': withRules(rule(), purchaseRule([])),
    'a rule for purchases of another method': withRules(rule(), purchaseRule(undefined, { method: '*' })),
    'purchases of a higher amount': withPurchases({ amount: { ...buying.amount, value: '10000001' } }),
    'purchases of any amount': withPurchases({ amount: null }),
    'purchases on another chain': withPurchases({ chain: { ...buying.chain, value: '1' } }),
    'purchases on any chain': withPurchases({ chain: null }),
    'purchases with another token': withPurchases({ token: { ...buying.token, value: WALLET } }),
    'purchases with any token': withPurchases({ token: null }),
    'purchases from other recipients': withPurchases({ recipient: { ...buying.recipient, value: [WALLET] } }),
    'purchases from any recipient': withPurchases({ recipient: null }),
    'purchases that end later': withPurchases({ time: { ...buying.time, value: '1800000001' } }),
    'purchases without an end': withPurchases({ time: null }),
    'purchases with longer authorizations': withPurchases({ until: { ...buying.until, value: '1800000001' } }),
    'purchases with endless authorizations': withPurchases({ until: null }),
    'a condition on purchases more': withPurchases({ chain: buying.chain, until: { ...buying.until, field: 'nonce' } }),
    'purchases with another message': otherShape({ primary_type: 'Permit', types: { Permit: AUTHORIZATION_TYPE } }),
    'purchases with other types': otherShape({
      primary_type: 'TransferWithAuthorization',
      types: { TransferWithAuthorization: AUTHORIZATION_TYPE, EIP712Domain: DOMAIN_TYPE },
    }),
    'purchases with members in another order': otherShape({
      primary_type: 'TransferWithAuthorization',
      types: { TransferWithAuthorization: [...others, first ?? null] },
    }),
    'a second rule that allows everything': withRules(rule(), rule([chain])),
    'rules with different names': withRules(rule(), purchaseRule(undefined, { name: `${RULE_NAME.slice(0, -1)}6` })),
    'a rule whose name says more than a 24-hour limit': withRules(rule(undefined, { name: `${RULE_NAME}/5/10` })),
    'a rule with an id of another rule': withRules(rule(undefined, { id: 'rule1' })),
    'a member named __proto__': JSON.parse(
      canonicalJson(request()).replace('"rules"', '"__proto__":{"rules":[]},"rules"'),
    ) as Json,
    'a limit that is not in decimal digits': withConditions(chain, token, native, {
      ...amount,
      value: '0xffffffff',
    }),
    'a limit with a sign': withConditions(chain, token, native, { ...amount, value: '+1' }),
    'a limit with digits of another script': withConditions(chain, token, native, { ...amount, value: '١٢' }),
    'a list of limits': withConditions(chain, token, native, { ...amount, value: ['1', '2'] }),
    'a recipient that is not an address': withConditions(
      chain,
      token,
      native,
      amount,
      onCall('transfer.to', 'in', [RECIPIENT, 'anybody']),
    ),
    'a recipient that is excluded': withConditions(
      chain,
      token,
      native,
      amount,
      onCall('transfer.to', 'neq', RECIPIENT),
    ),
    'a rule for another method': withRules(rule(undefined, { method: '*' })),
    'a rule for exporting the key': withRules(rule([], { method: 'exportPrivateKey' })),
    'a rule without a limit for the amount': withConditions(chain, token, native, recipient),
    'a rule without a token': withConditions(chain, native, amount),
    'a rule without a chain': withConditions(token, native, amount),
    'a rule that allows native value': withConditions(chain, token, amount),
    'another native value': withConditions(chain, token, onTransaction('value', 'eq', '1'), amount),
    'a limit that is a minimum': withConditions(chain, token, native, onCall('transfer.amount', 'gte', '1')),
    'two limits for the amount': withConditions(chain, token, native, amount, onCall('transfer.amount', 'lte', '1')),
    'a condition whose source and field together read like those of the amount': withConditions(chain, token, native, {
      field_source: 'ethereum_calldata.transfer',
      field: 'amount',
      operator: 'lte',
      value: '1',
    }),
    'a condition on another field': withConditions(chain, token, native, amount, onCall('approve.amount', 'lte', '1')),
    'an ABI that decodes another function': withConditions(chain, token, native, {
      ...amount,
      abi: [{ ...TRANSFER_ABI[0], name: 'transferFrom' }],
    }),
    'an ABI with its inputs exchanged': withConditions(chain, token, native, {
      ...amount,
      abi: [{ ...TRANSFER_ABI[0], inputs: TRANSFER_ABI[0]?.inputs.toReversed() ?? [] }],
    }),
    'a condition with an unknown member': withConditions(chain, token, native, {
      ...amount,
      negate: true,
    } as Condition),
    'a rule with an unknown member': withRules(rule(undefined, { any_of: true })),
    'an empty list of recipients': withConditions(chain, token, native, amount, onCall('transfer.to', 'in', [])),
    'a time that is a minimum': withConditions(chain, token, native, amount, { ...time, operator: 'gt' }),
    'another owner of the policy': request({ body: { rules: [rule()], owner_id: 'attacker' } }),
    'another owner of the wallet': patchWallet({ owner_id: 'attacker' }),
    'an owner beside the signers': patchWallet({ additional_signers: [], owner: { public_key: KEY } }),
    'a signer without a policy': patchWallet({
      additional_signers: [{ signer_id: 'signer1', override_policy_ids: [] }],
    }),
    'a signer that occurs twice': patchWallet({
      additional_signers: ['policy1', 'policy2'].map((policy) => ({
        signer_id: 'signer1',
        override_policy_ids: [policy],
      })),
    }),
    'policies of the wallet itself': patchWallet({ policy_ids: ['policy1'] }),
    'owners who must sign together': request({
      url: `${ENCLAVE}/v1/key_quorums/quorum1`,
      body: { public_keys: [KEY], authorization_threshold: 2 },
    }),
    'owners that are other quorums': request({
      url: `${ENCLAVE}/v1/key_quorums/quorum1`,
      body: { public_keys: [KEY], authorization_threshold: 1, key_quorum_ids: ['attacker'] },
    }),
    'an owner that occurs twice': changeOwners([KEY, KEY]),
    'no owner': changeOwners([]),
    'an owner whose key is written in two ways': changeOwners([KEY, KEY.replace('A==', 'B==')]),
    'an owner whose key is in PEM': changeOwners([`-----BEGIN PUBLIC KEY-----\n${KEY}\n-----END PUBLIC KEY-----`]),
    'an owner whose key is of another kind': changeOwners(['A'.repeat(124)]),
    'an unknown method of the enclave': request({ method: 'DELETE' }),
    'an unknown address': request({ url: `${ENCLAVE}/v1/wallets/wallet1/export` }),
    'a query in the address': request({ url: `${ENCLAVE}/v1/policies/policy1?dry_run=1` }),
    'a path that climbs': request({ url: `${ENCLAVE}/v1/policies/../wallets/wallet1` }),
    'a header that this page does not know': request({
      headers: { 'privy-app-id': 'app', 'privy-request-expiry': EXPIRY, 'privy-other': '1' },
    }),
    'a request that never expires': request({ headers: { 'privy-app-id': 'app' } }),
    'a request that expires in a day': request({
      headers: { 'privy-app-id': 'app', 'privy-request-expiry': String(NOW.getTime() + 86_400_000) },
    }),
    'a call of another function': transfer({ data: `0x095ea7b3${'0'.repeat(128)}` }),
    'a call with more data than a transfer has': transfer({ data: `0xa9059cbb${'0'.repeat(130)}` }),
    'a withdrawal of native value': transfer({ value: '0x1' }),
    'a withdrawal on a chain other than it says': transfer({}, { caip2: 'eip155:1' }),
    'a transaction with an authorization list': transfer({ authorization_list: [] }),
    'a withdrawal that could be repeated': {
      ...(transfer() as Record<string, Json>),
      headers: { 'privy-app-id': 'app', 'privy-request-expiry': EXPIRY },
    },
    'a withdrawal with an empty idempotency key': {
      ...(transfer() as Record<string, Json>),
      headers: { 'privy-app-id': 'app', 'privy-request-expiry': EXPIRY, 'privy-idempotency-key': '' },
    },
    'typed data of another kind': authorization({ primaryType: 'Permit' }),
    'typed data that is read with other types': authorization({ messageType: AUTHORIZATION_TYPE.toReversed() }),
    'typed data that names no contract in its domain type': authorization({ domainType: DOMAIN_TYPE.slice(0, 3) }),
    'typed data with another field in its domain type': authorization({
      domainType: [...DOMAIN_TYPE.slice(0, 3), { name: 'salt', type: '' }],
    }),
    'typed data with a field in its domain type twice': authorization({
      domainType: [...DOMAIN_TYPE, ...DOMAIN_TYPE.slice(0, 1)],
    }),
    'typed data with an unknown field in its domain': authorization({ domain: { salt: '0x00' } }),
    'typed data with an unknown field in its message': authorization({ message: { data: '0x' } }),
    'typed data for a chain other than that of the request': authorization({ body: { caip2: 'eip155:1' } }),
    'typed data with options': authorization({ body: { signature_options: {} } }),
    'another method of the wallet': transfer({}, { method: 'personal_sign' }),
  }
  for (const [name, value] of Object.entries(unreadable)) {
    test(`is refused: ${name}`, () => assertRefused(value, 'request_unknown'))
  }

  const ofAnother: Record<string, Json> = {
    'a policy that is not in the record': request({ url: `${ENCLAVE}/v1/policies/attacker` }),
    'a policy of another enclave': request({ url: 'https://other.example/v1/policies/policy1' }),
    'a policy of another application': request({
      headers: { 'privy-app-id': 'other', 'privy-request-expiry': EXPIRY },
    }),
    'owners of another wallet': request({
      url: `${ENCLAVE}/v1/key_quorums/attacker`,
      body: { public_keys: [KEY], authorization_threshold: 1 },
    }),
    'a withdrawal from another wallet': transfer({ from: RECIPIENT }),
    'an authorization for another wallet': authorization({ message: { from: RECIPIENT } }),
    'a signer under a policy that is not in the record': patchWallet({
      additional_signers: [{ signer_id: 'signer1', override_policy_ids: ['attacker'] }],
    }),
    'a signer under the policy of another slot': patchWallet({
      additional_signers: [{ signer_id: 'signer1', override_policy_ids: ['policy2'] }],
    }),
    'a signer that is not in the record': patchWallet({
      additional_signers: [
        { signer_id: 'signer1', override_policy_ids: ['policy1'] },
        { signer_id: 'attacker', override_policy_ids: ['policy2'] },
      ],
    }),
  }
  for (const [name, value] of Object.entries(ofAnother)) {
    test(`is refused: ${name}`, () => assertRefused(value, 'request_not_of_wallet'))
  }

  test('is refused: a request that has expired', () => {
    const headers = { 'privy-app-id': 'app', 'privy-request-expiry': String(NOW.getTime()) }
    assertRefused(request({ headers }), 'request_expired')
  })

  test('is refused: bytes that can be read in two ways', () => {
    const canonical = canonicalJson(request())
    const texts = [
      ` ${canonical}`,
      `${canonical}\n`,
      `\uFEFF${canonical}`,
      canonical.replace('"version":1', '"version":1.0'),
      canonical.replace('{"body":', '{"body":{"rules":[]},"body":'),
      '{}x',
      '',
    ]
    for (const text of texts) assertRefused(new TextEncoder().encode(text), 'request_unreadable')
    assertRefused(Uint8Array.of(0xff, 0xfe), 'request_unreadable')
  })
})
