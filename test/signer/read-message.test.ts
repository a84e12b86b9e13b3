import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cleanText } from '../../signer/src/clean-text.ts'
import { readMessage } from '../../signer/src/read-message.ts'
import { Refusal } from '../../signer/src/refusal.ts'

const SIGN = { bursar: 'sign', payload: 'e30', credentials: [{ id: 'AQ', publicKey: 'key', name: 'Phone' }] }
const CREATE = {
  bursar: 'create',
  options: {
    rp: { id: 'signer.localhost', name: 'Bursar' },
    user: { id: 'AQ', name: 'Ada', displayName: 'Ada' },
    challenge: 'AQ',
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
  },
}

function readClaims(claims: unknown) {
  const message = readMessage({ ...SIGN, claims })
  assert.ok(message.kind === 'sign')
  return message.claims
}

describe('readMessage', () => {
  test('reads a request to sign, with and without a record and claims', () => {
    const message = readMessage(SIGN)
    assert.ok(message.kind === 'sign')
    assert.deepEqual([...message.payload], [...Buffer.from('{}')])
    assert.equal(message.record, null)
    assert.equal(message.claims.workspace, null)
    const record = {
      statement: 'e30',
      assertions: [{ credentialId: 'AQ', authenticatorData: '', clientDataJSON: '', signature: '' }],
    }
    const full = readMessage({ ...SIGN, record, claims: { workspace: 'Acme', addressNames: { '0xAB': 'Shop' } } })
    assert.ok(full.kind === 'sign')
    assert.deepEqual(full.record, record)
    assert.equal(full.claims.addressNames.get('0xab'), 'Shop')
  })

  test('reads a request to create a passkey, without the user id that the service wants', () => {
    const message = readMessage(CREATE)
    assert.ok(message.kind === 'create')
    assert.deepEqual(message.options.user, { name: 'Ada', displayName: 'Ada' })
  })

  const options = (changes: object): object => ({ ...CREATE, options: { ...CREATE.options, ...changes } })
  const credential = SIGN.credentials[0]
  const malformed: Record<string, unknown> = {
    nothing: undefined,
    null: null,
    'a text': 'sign',
    'a list': [SIGN],
    'a map': new Map(Object.entries(SIGN)),
    'another kind': { ...SIGN, bursar: 'export' },
    'the name of a member of every object': { ...SIGN, bursar: 'constructor' },
    'no payload': { ...SIGN, payload: undefined },
    'an empty payload': { ...SIGN, payload: '' },
    'a payload that is not base64url': { ...SIGN, payload: 'e30=' },
    'a payload of more than 2 MiB': { ...SIGN, payload: 'A'.repeat(2_900_000) },
    'no credentials': { ...SIGN, credentials: [] },
    'one credential twice': { ...SIGN, credentials: [credential, { ...credential, publicKey: 'other' }] },
    'too many credentials': {
      ...SIGN,
      credentials: Array.from({ length: 201 }, (_, id) => ({ ...credential, id: String(id) })),
    },
    'a credential without a key': { ...SIGN, credentials: [{ id: 'AQ' }] },
    'a record that is a text': { ...SIGN, record: 'e30' },
    'a record without signatures': { ...SIGN, record: { statement: 'e30' } },
    'a name that is not a text': { ...SIGN, claims: { workspace: { toString: 'Acme' } } },
    'a name of more than 1,000 characters': { ...SIGN, claims: { workspace: 'a'.repeat(1_001) } },
    'names of more than 200 addresses': {
      ...SIGN,
      claims: { addressNames: Object.fromEntries(Array.from({ length: 201 }, (_, index) => [index, 'x'])) },
    },
    'creation with another algorithm': options({ pubKeyCredParams: [{ type: 'public-key', alg: -257 }] }),
    'creation with another algorithm as well': options({ pubKeyCredParams: [{ alg: -7 }, { alg: -257 }] }),
    'creation without a challenge': options({ challenge: null }),
    'creation without a site': options({ rp: null }),
  }
  for (const [name, data] of Object.entries(malformed)) {
    test(`refuses: ${name}`, () => {
      assert.throws(
        () => readMessage(data),
        (error: unknown) => error instanceof Refusal && error.code === 'message_invalid',
      )
    })
  }

  test('the names of members of every object are just names', () => {
    const { addressNames, keyNames } = readClaims({ addressNames: JSON.parse('{"__proto__":"x"}') as object })
    assert.equal(addressNames.get('__proto__'), 'x')
    assert.equal(addressNames.get('constructor'), undefined)
    assert.equal(keyNames.size, 0)
  })

  test('names are cleaned wherever they appear', () => {
    const dirty = 'Acme\n\u202E0xATTACKER'
    const claims = readClaims({
      workspace: dirty,
      walletName: dirty,
      agentName: dirty,
      addressNames: { a: dirty },
      keyNames: { k: dirty },
    })
    const { workspace, walletName, agentName, addressNames, keyNames } = claims
    const names = [workspace, walletName, agentName, addressNames.get('a'), keyNames.get('k')]
    assert.deepEqual(names, Array<string>(5).fill('Acme 0xATTACKER'))
  })
})

describe('cleanText', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['lines become one line', 'a\r\n\u2028b\t c', 'a b c'],
    ['controls of direction disappear', '\u202Ea\u2066b\u200Fc\u061C', 'abc'],
    ['invisible characters disappear', 'a\u200B\u2060\u3164\u115F\u00AD\u2800b\u{E0041}', 'ab'],
    ['control characters disappear', 'a\u0000\u0007\u001B[1mb', 'a[1mb'],
    ['lone surrogates disappear', 'a\uD800b', 'ab'],
    ['piles of marks are cut', `a${'\u0301'.repeat(50)}`, 'a\u0301\u0301'],
    ['long texts are cut', 'ab'.repeat(100), `${'ab'.repeat(40)}…`],
    ['text in any script stays', 'Käse 店 שלום', 'Käse 店 שלום'],
    ['nothing stays nothing', ' \u200B ', ''],
  ]
  for (const [name, text, expected] of cases) test(name, () => assert.equal(cleanText(text), expected))
})
