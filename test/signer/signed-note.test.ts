import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatCheckpoint, NoteSigner } from '../../server/src/domain/transparency-log/signed-note.ts'
import { EvidenceError } from '../../signer/src/evidence/evidence-error.ts'
import { nameKey, originOf, readCheckpoint, readVerifierKey } from '../../signer/src/evidence/signed-note.ts'

/** From `sumdb/note/note_test.go` of golang.org/x/mod. */
const GO_KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const ORIGIN = 'api.example.com/log'
const SEED = Buffer.alloc(32, 7)
const signer = new NoteSigner(ORIGIN, SEED)
const other = new NoteSigner(ORIGIN, Buffer.alloc(32, 8))
const root = Buffer.alloc(32, 0xfb)
const text = formatCheckpoint({ origin: ORIGIN, size: 20_852_163, root })
const note = signer.sign(text)
const [signature = ''] = note.split('\n').slice(-2)
const [otherSignature = ''] = other.sign(text).split('\n').slice(-2)

describe('a checkpoint that somebody has kept', () => {
  test('is read with the key of its log', async () => {
    const key = await readVerifierKey(signer.verifierKey)
    assert.deepEqual(await readCheckpoint(note, key), { origin: ORIGIN, size: 20_852_163, root: new Uint8Array(root) })
    assert.equal(originOf(note), ORIGIN)
    const renamed = await nameKey(key.publicKey, 'api.example.com/log/2')
    const moved = new NoteSigner('api.example.com/log/2', SEED)
    const movedNote = moved.sign(formatCheckpoint({ origin: 'api.example.com/log/2', size: 1, root }))
    assert.deepEqual(renamed, await readVerifierKey(moved.verifierKey))
    assert.equal((await readCheckpoint(movedNote, renamed)).size, 1)
  })

  test('may also have signatures of others, which are ignored', async () => {
    const key = await readVerifierKey(signer.verifierKey)
    const checkpoint = await readCheckpoint(note, key)
    assert.deepEqual(await readCheckpoint(`${text}\n${otherSignature}\n${signature}\n`, key), checkpoint)
    const witness = `— witness.example ${Buffer.alloc(76).toString('base64')}`
    assert.deepEqual(await readCheckpoint(`${note}${witness}\n`, key), checkpoint)
  })

  test('is refused after any byte of it was changed', async () => {
    const key = await readVerifierKey(signer.verifierKey)
    const bytes = Buffer.from(note)
    for (let at = 0; at < bytes.length; at += 1) {
      for (const flip of [0x01, 0x10, 0x80]) {
        const changed = Buffer.from(bytes)
        changed[at] = (changed[at] as number) ^ flip
        await assert.rejects(readCheckpoint(changed.toString(), key), EvidenceError, changed.toString())
      }
    }
  })

  const [, , base64 = ''] = signature.split(' ')
  const refused: readonly [string, string, RegExp][] = [
    ['another log', other.sign(text.replace(ORIGIN, 'x.example/log')), /it is of the log x\.example\/log/],
    ['no signature', `${text}\n`, /it must end with signatures/],
    ['no empty line', text, /an empty line/],
    ['the signature of another key', other.sign(text), /it has no signature of the key/],
    ['two signatures of the key', `${note}${signature}\n`, /more than one signature of the key/],
    ['a signature of another text', note.replace('20852163', '20852164'), /its signature is wrong/],
    ['a signature that is cut', note.replace(base64, base64.slice(0, 88)), /its signature is wrong/],
    ['bits that are left over in base64', note.replace('+/s=', '+/t='), /the lines origin, size and root/],
    ['a leading zero', signer.sign(text.replace('20852163', '020852163')), /the lines origin, size and root/],
    ['a size of zero', signer.sign(text.replace('20852163', '0')), /the lines origin, size and root/],
    [
      'a size beyond 2^53',
      signer.sign(text.replace('20852163', '9007199254740992')),
      /the lines origin, size and root/,
    ],
    ['an extension line', signer.sign(`${text}more\n`), /the lines origin, size and root/],
    ['carriage returns', note.replaceAll('\n', '\r\n'), /an empty line/],
    ['no newline at the end', note.slice(0, -1), /it must end with signatures/],
    ['text after the signatures', `${note}more\n`, /a signature is malformed/],
    ['an endless text', `${note}${`${signature}\n`.repeat(40)}`, /it is too long/],
  ]
  for (const [name, changed, reason] of refused) {
    test(`is refused with ${name}`, async () => {
      const key = await readVerifierKey(signer.verifierKey)
      await assert.rejects(readCheckpoint(changed, key), (error: EvidenceError) => {
        assert.equal(error.part, 'checkpoint')
        assert.match(error.reason, reason)
        return true
      })
    })
  }
})

describe('a verifier key', () => {
  test('of the Go library is read', async () => {
    const { name, id, publicKey } = await readVerifierKey(GO_KEY)
    assert.deepEqual([name, Buffer.from(id).toString('hex'), publicKey.length], ['PeterNeumann', 'c74f20a3', 32])
  })

  test('is refused if its parts do not belong together, or if it is not an Ed25519 key', async () => {
    const refused = [
      GO_KEY.replace('Peter', 'Pieter'),
      GO_KEY.replace('c74f20a3', 'c74f20a4'),
      GO_KEY.replace('c74f20a3', 'C74F20A3'),
      GO_KEY.replace('+AR', '+AQ'),
      GO_KEY.replace('+AR', '+BR'),
      GO_KEY.slice(0, -4),
      `${GO_KEY}\n`,
      'PeterNeumann',
      '',
    ]
    for (const key of refused) await assert.rejects(readVerifierKey(key), EvidenceError, key)
  })
})
