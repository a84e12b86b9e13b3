import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readNote } from '../../../../test/support/context/evidence-file.ts'
import { formatCheckpoint, NoteSigner } from './signed-note.ts'

/**
 * From `TestSign` in `sumdb/note/note_test.go` of golang.org/x/mod. Ed25519 signatures are deterministic, so the whole
 * note must be equal. The key there is `PRIVATE+KEY+PeterNeumann+c74f20a3+` and the base64 of the type and the seed.
 */
const GO = {
  name: 'PeterNeumann',
  seed: Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1),
  verifierKey: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  signature:
    '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
}

describe('a signed note', () => {
  test('it is equal to what the Go library makes with the same key, and so is the verifier key', () => {
    const signer = new NoteSigner(GO.name, GO.seed)
    assert.equal(signer.verifierKey, GO.verifierKey)
    assert.equal(signer.sign(GO.text), `${GO.text}\n${GO.signature}`)
  })

  test('a checkpoint verifies with nothing but its verifier key', () => {
    const signer = new NoteSigner('api.example.com/log', Buffer.alloc(32, 7))
    const note = signer.sign(formatCheckpoint({ origin: 'api.example.com/log', size: 0, root: Buffer.alloc(32) }))
    assert.equal(readNote(note, signer.verifierKey), `api.example.com/log\n0\n${'A'.repeat(43)}=\n`)
  })
})
