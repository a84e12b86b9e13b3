import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import { createSoftwarePasskey, restoreSoftwarePasskey } from './software-passkey.ts'

const RP_ID = 'localhost'
const ORIGIN = 'http://localhost:4101'
const challenge = Buffer.from('{"a":1}')

test('a registration and an assertion satisfy a WebAuthn server, and the counter rises', async () => {
  const passkey = createSoftwarePasskey({ rpId: RP_ID, origin: ORIGIN })
  const registration = await verifyRegistrationResponse({
    response: passkey.register(challenge),
    expectedChallenge: challenge.toString('base64url'),
    expectedOrigin: ORIGIN,
    expectedRPID: RP_ID,
    requireUserVerification: true,
  })
  assert.equal(registration.verified, true)
  const { credential } = registration.registrationInfo ?? {}
  assert.ok(credential)
  assert.equal(credential.id, passkey.credentialId)
  assert.deepEqual(new Uint8Array(credential.publicKey), passkey.publicKeyCose)

  const verify = async (response: ReturnType<typeof passkey.assert>, counter: number) =>
    await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge.toString('base64url'),
      expectedOrigin: ORIGIN,
      expectedRPID: RP_ID,
      requireUserVerification: true,
      credential: { ...credential, counter },
    })
  const first = await verify(passkey.assert(challenge), 0)
  assert.equal(first.verified, true)
  assert.equal(first.authenticationInfo.newCounter, 1)
  const restored = restoreSoftwarePasskey(
    JSON.parse(JSON.stringify(passkey.export())) as ReturnType<typeof passkey.export>,
  )
  const second = await verify(restored.assert(challenge), 1)
  assert.equal(second.verified, true)
  assert.equal(second.authenticationInfo.newCounter, 2)
  assert.equal(restored.counter, 2)
})

test('the server rejects an assertion of another passkey', async () => {
  const passkey = createSoftwarePasskey({ rpId: RP_ID, origin: ORIGIN })
  const other = createSoftwarePasskey({ rpId: RP_ID, origin: ORIGIN })
  const { verified } = await verifyAuthenticationResponse({
    response: other.assert(challenge),
    expectedChallenge: challenge.toString('base64url'),
    expectedOrigin: ORIGIN,
    expectedRPID: RP_ID,
    credential: { id: other.credentialId, publicKey: passkey.publicKeyCose, counter: 0 },
  })
  assert.equal(verified, false)
})
