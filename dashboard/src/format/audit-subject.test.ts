import assert from 'node:assert/strict'
import { test } from 'node:test'
import { locateSubject } from './audit-subject.ts'

const rows = [
  ['grant.activated', 'grt_1', 'test', ['grants', 'grt_1']],
  ['agent.created', 'a/b', 'live', ['agents', 'a/b']],
  // Agent IDs are chosen by users, so they can look like any other ID.
  ['agent.created', 'pay_me', 'live', ['agents', 'pay_me']],
  ['wallet.created', '0x1', 'test', ['wallets', '0x1']],
  ['webhook.created', 'whk_1', 'test', ['developers', 'webhooks', 'whk_1']],
  ['webhook.replayed', 'dlv_1', 'test', ['developers', 'deliveries', 'dlv_1']],
  ['recipient.labeled', '0x1', 'test', ['recipients']],
  ['key.rotated', 'key_1', 'live', ['developers', 'keys']],
  ['connection.approved', 'con_1', 'live', ['developers', 'connections']],
  ['agent.deleted', 'bot', 'test', null],
  ['webhook.deleted', 'whk_1', 'test', null],
  ['member.joined', 'usr_1', null, null],
  ['grant.activated', 'grt_1', null, null],
  ['grant.activated', null, 'test', null],
] as const
for (const [action, subject, mode, parts] of rows) {
  test(`${action} of ${subject} in ${mode} mode leads to ${parts?.join(' / ') ?? 'no page'}`, () => {
    const entry = { action, subject, mode }
    assert.deepEqual(locateSubject(entry), parts === null ? null : { mode, parts })
  })
}
