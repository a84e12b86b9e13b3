import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createSoftwarePasskey, type SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import { canonicalJson, type Json } from '../../signer/src/canonical-json.ts'
import { decodeRecord } from '../../signer/src/decode/record.ts'
import { decodeRequest } from '../../signer/src/decode/request.ts'
import { findRecord, type Credential, type SignedRecord } from '../../signer/src/find-record.ts'
import { Refusal, type RefusalCode } from '../../signer/src/refusal.ts'
import { isRememberedKey, rememberKey } from '../../signer/src/remembered-keys.ts'
import { checkRemembered, rememberRecord, type Statement } from '../../signer/src/remembered-records.ts'
import { findRemembered, rememberRequest } from '../../signer/src/remembered-requests.ts'
import { openStore, type Store } from '../../signer/src/store.ts'
import { ENCLAVE, NOW, RECIPIENT, RECORD_STATEMENT, request } from './sample-requests.ts'

const RP_ID = 'signer.localhost'
const owner = createPasskey()
const other = createPasskey()

function createPasskey(rpId = RP_ID): SoftwarePasskey {
  return createSoftwarePasskey({ rpId, origin: `http://${rpId}` })
}

function toCredential({ credentialId, publicKeySpki }: SoftwarePasskey): Credential {
  return { id: credentialId, rawId: new Uint8Array(Buffer.from(credentialId, 'base64url')), publicKey: publicKeySpki }
}

function signRecord(statement: Json, passkeys: readonly SoftwarePasskey[]): SignedRecord {
  const payload = Buffer.from(canonicalJson(statement))
  return {
    statement: payload.toString('base64url'),
    assertions: passkeys.map((one) => ({ credentialId: one.credentialId, ...one.assert(payload).response })),
  }
}

async function find(signed: SignedRecord | null, ...passkeys: readonly SoftwarePasskey[]) {
  return await findRecord(signed, { credentials: passkeys.map(toCredential), rpId: RP_ID })
}

const refusedWith = (code: RefusalCode) => (error: unknown) => error instanceof Refusal && error.code === code

describe('findRecord', () => {
  test('returns the record, and the passkeys that signed it', async () => {
    const { record, signers } = await find(signRecord(RECORD_STATEMENT, [owner]), owner, other)
    assert.equal(record.walletId, 'wallet1')
    assert.deepEqual(signers, [toCredential(owner)])
  })

  test('returns several passkeys if each has signed the record', async () => {
    const { signers } = await find(signRecord(RECORD_STATEMENT, [owner, other]), owner, other)
    assert.equal(signers.length, 2)
  })

  const genuine = signRecord(RECORD_STATEMENT, [owner])
  const changed = Buffer.from(canonicalJson({ ...RECORD_STATEMENT, policies: ['policy1', 'attacker'] }))
  const refused: Record<string, [SignedRecord | null, RefusalCode]> = {
    'no record': [null, 'record_required'],
    'a record without a signature': [{ ...genuine, assertions: [] }, 'record_required'],
    'a record that another passkey signed': [signRecord(RECORD_STATEMENT, [other]), 'record_required'],
    'a record that another passkey signed under this passkey’s id': [
      {
        ...genuine,
        assertions: signRecord(RECORD_STATEMENT, [other]).assertions.map((one) => ({
          ...one,
          credentialId: owner.credentialId,
        })),
      },
      'record_required',
    ],
    'a record that was changed after it was signed': [
      { ...genuine, statement: changed.toString('base64url') },
      'record_required',
    ],
    'a signature of something else': [
      { ...genuine, assertions: signRecord({ other: 1 }, [owner]).assertions },
      'record_required',
    ],
    'a request of the enclave instead of a record': [signRecord({ version: 1 }, [owner]), 'record_invalid'],
    'a record that is not canonical': [
      { ...genuine, statement: Buffer.from(JSON.stringify(RECORD_STATEMENT, null, 1)).toString('base64url') },
      'record_invalid',
    ],
    'a record that is not base64url': [{ ...genuine, statement: '*' }, 'record_invalid'],
    'a record of a version to come': [signRecord({ ...RECORD_STATEMENT, version: 2 }, [owner]), 'request_unknown'],
    'a record with more policies than signers': [
      signRecord({ ...RECORD_STATEMENT, policies: ['policy1', 'policy2', 'policy3'] }, [owner]),
      'request_unknown',
    ],
    'a record that names a policy twice': [
      signRecord({ ...RECORD_STATEMENT, policies: ['policy1', 'policy1'] }, [owner]),
      'request_unknown',
    ],
    'a record with an unknown member': [signRecord({ ...RECORD_STATEMENT, note: '' }, [owner]), 'request_unknown'],
  }
  for (const [name, [signed, code]] of Object.entries(refused)) {
    test(`refuses: ${name}`, async () => {
      await assert.rejects(find(signed, owner), refusedWith(code))
    })
  }

  test('refuses a record of a passkey that belongs to another site', async () => {
    const signIn = createPasskey('localhost')
    await assert.rejects(find(signRecord(RECORD_STATEMENT, [signIn]), signIn), refusedWith('record_required'))
  })
})

describe('what a browser remembers', () => {
  const open = (): Store =>
    openStore(() => {
      throw new Error('no storage')
    })
  const stated = (changes: Record<string, Json> = {}): Statement => {
    const value = { ...RECORD_STATEMENT, ...changes }
    return { record: decodeRecord(value), statement: Buffer.from(canonicalJson(value)).toString('base64url') }
  }
  const elsewhere = {
    wallet_id: 'wallet2',
    address: RECIPIENT,
    quorum_id: 'quorum2',
    policies: ['policy3'],
    signers: ['signer3'],
  }

  test('the same record is accepted again, and so is that of another wallet', () => {
    const store = open()
    checkRemembered(store, stated())
    rememberRecord(store, stated())
    checkRemembered(store, stated())
    checkRemembered(store, stated(elsewhere))
    rememberRecord(store, stated(elsewhere))
    checkRemembered(store, stated())
  })

  const contradicting: Record<string, Record<string, Json>> = {
    'another record for the same address': { policies: ['policy1', 'policy9'] },
    'a wallet with the id of another wallet': { ...elsewhere, wallet_id: 'wallet1' },
    'a wallet with the owners of another wallet': { ...elsewhere, quorum_id: 'quorum1' },
    'a wallet with a policy of another wallet': { ...elsewhere, policies: ['policy2'] },
    'a wallet with a signer of another wallet': { ...elsewhere, signers: ['signer2'] },
  }
  for (const [name, changes] of Object.entries(contradicting)) {
    test(`refuses: ${name}`, () => {
      const store = open()
      rememberRecord(store, stated())
      assert.throws(() => checkRemembered(store, stated(changes)), refusedWith('record_differs'))
    })
  }

  test('equal ids of another enclave are other things', () => {
    const store = open()
    rememberRecord(store, stated())
    checkRemembered(store, stated({ address: RECIPIENT, enclave_url: 'https://other.example' }))
  })

  test('only keys that were used are known', () => {
    const store = open()
    rememberKey(store, owner.publicKeySpki)
    assert.equal(isRememberedKey(store, owner.publicKeySpki), true)
    assert.equal(isRememberedKey(store, other.publicKeySpki), false)
  })

  const readRequest = (changes: Record<string, Json> = {}) => {
    const payload = new Uint8Array(Buffer.from(canonicalJson(request(changes))))
    return { decoded: decodeRequest(payload), payload }
  }

  test('the last request for a policy is known, and no request for another one', () => {
    const store = open()
    const first = readRequest()
    rememberRequest(store, { ...first, signedAt: NOW })
    const otherPolicy = readRequest({ url: `${ENCLAVE}/v1/policies/policy2` })
    assert.equal(findRemembered(store, otherPolicy.decoded), null)
    const later = new Date(NOW.getTime() + 1)
    rememberRequest(store, { ...readRequest({ body: { rules: [] } }), signedAt: later })
    assert.deepEqual(findRemembered(store, first.decoded), { signedAt: later, terms: null, publicKeys: [] })
  })

  test('if there is no room for a request, the one before is forgotten too', () => {
    const store = open()
    const signed = readRequest()
    rememberRequest(store, { ...signed, signedAt: NOW })
    const full: Store = {
      ...store,
      setItem: () => {
        throw new DOMException('full', 'QuotaExceededError')
      },
    }
    rememberRequest(full, { ...signed, signedAt: NOW })
    assert.equal(findRemembered(store, signed.decoded), null)
  })
})
