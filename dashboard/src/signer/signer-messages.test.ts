import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseReply } from './signer-messages.ts'

test('only complete messages of the signer page are read', () => {
  const read = [
    { bursar: 'ready' },
    { bursar: 'canceled' },
    { bursar: 'signed', assertion: {} },
    { bursar: 'created', registration: {} },
    { bursar: 'refused', code: 'record_required', message: 'No.' },
  ]
  for (const message of read) assert.equal(parseReply(message), message)
  const ignored = [
    ...[null, 'ready', 7, {}, { type: 'ready' }, { bursar: 'sign' }, { bursar: 'signed' }, { bursar: 'created' }],
    ...[{ bursar: 'refused' }, { bursar: 'refused', message: 7 }],
  ]
  for (const message of ignored) assert.equal(parseReply(message), null, JSON.stringify(message))
})
