import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AUDIT_ACTIONS } from '@bursar/server/src/domain/audit/audit-entry.ts'
import { formatAction, formatActor, listActionChoices, listDetails } from './audit-text.ts'
import { formatTime } from './date.ts'

const ID = `key_${'0'.repeat(20)}ABCDEF`

test('every action of the audit log is a sentence, and a choice of the filter', () => {
  const choices = listActionChoices()
  for (const action of AUDIT_ACTIONS) {
    assert.match(formatAction(action), /^[a-z]+ .*[a-z)]$|^(?:joined|signed (?:in|out|up))$/, action)
    assert.ok(
      choices.some(({ value }) => value === action),
      action,
    )
  }
})

test('an unknown action is unchanged', () => assert.equal(formatAction('moon.landed'), 'moon.landed'))

test('an actor without a name is shown with its kind', () => {
  const known = { name: 'Ada', former: false }
  assert.equal(formatActor({ kind: 'user', id: 'usr_1', known }), 'Ada')
  assert.equal(formatActor({ kind: 'client', id: 'svc_client_1', known }), 'Application “Ada”')
  assert.equal(formatActor({ kind: 'key', id: ID, known }), 'API key “Ada”')
  assert.equal(formatActor({ kind: 'key', id: ID, known: null }), 'API key key_…ABCDEF')
  assert.equal(formatActor({ kind: 'user', id: 'usr_1', known: null }), 'usr_1')
  assert.equal(formatActor({ kind: 'operator', id: null, known: null }), 'Server operator')
})

test('details are names and words instead of ids and codes', () => {
  const details = {
    mode: 'test',
    credential_id: 'BqGCdefghijk',
    wallet: `0x${'52'.repeat(20)}`,
    amount_usdc: '1234.5',
    failure_code: 'never_received',
    new_key: ID,
    events: ['payment.created'],
  }
  const known_details = { wallet: { name: 'Main', former: false } }
  const shown = listDetails({ details, known_details }).map(({ name, text }) => `${name}: ${text}`)
  assert.deepEqual(shown, [
    'wallet passkey: BqGCdefg…',
    'wallet: Main',
    'amount: 1,234.50 USDC',
    'reason: never received',
    'new key: key_…ABCDEF',
  ])
})

test('details that are no text and no number are left out', () => {
  const details = { role: 'admin', uses: 2, other_sessions: 3, agent_id: 'bot', scopes: ['a'], none: null }
  const shown = listDetails({ details, known_details: {} }).map(({ name, text }) => `${name}: ${text}`)
  assert.deepEqual(shown, ['role: admin', 'uses: 2', 'other sessions: 3', 'agent: bot'])
})

const AT = '2026-11-28T15:48:26.588Z'
const VALUES = [
  [AT, formatTime(AT)],
  ['svc_client_01M7ZCNDZKZEHEFBVJMNJPS0BW', 'svc_client_…JPS0BW'],
  ['inv_01M7ZCNDSHGT3ASEQZ28DKES7E', 'inv_…DKES7E'],
  ['0x52908400098527886E0F7030069857D2E4169EE7', '0x5290…9EE7'],
  [`0x${'ab'.repeat(32)}`, '0xabab…abab'],
  ['dlv_01M7ZK5MTGSS8NMQRHBJABZZYE_01M7ZK5FHE4HY9GZV1A5G110EC', 'dlv_…ABZZYE'],
  ['inv_of_my_own', 'inv_of_my_own'],
] as const
for (const [whole, text] of VALUES) {
  test(`${whole} in the details is shown as ${text}, and its exact value is kept`, () => {
    assert.deepEqual(listDetails({ details: { value: whole }, known_details: {} }), [{ name: 'value', text, whole }])
  })
}
