import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startFakeDns, type FakeDns } from '../../../../test/support/wires/fake-dns.ts'
import type { ResolveHost } from './policy.ts'
import { createHostResolver } from './resolve-host.ts'

describe('resolving a host', () => {
  let dns: FakeDns
  let resolveHost: ResolveHost
  before(async () => {
    dns = await startFakeDns({
      'both.example': { A: ['93.184.216.34', '93.184.216.35'], AAAA: ['2606:4700::1'] },
      'four.example': { A: ['93.184.216.34'] },
      'six.example': { AAAA: ['2606:4700::1'] },
      'lame.example': { A: ['93.184.216.34'], AAAA: 'SERVFAIL' },
      'alias.example': { cname: 'inside.example', A: ['10.0.0.1'] },
      'empty.example': {},
      'broken.example': 'SERVFAIL',
    })
    resolveHost = createHostResolver([dns.server])
  })
  after(() => dns.close())

  it('returns all IPv4 and IPv6 addresses', async () => {
    assert.deepEqual(await resolveHost('both.example'), [
      { address: '93.184.216.34', family: 4 },
      { address: '93.184.216.35', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ])
  })

  it('returns one kind of addresses if the other kind is missing or its query failed', async () => {
    assert.deepEqual(await resolveHost('four.example'), [{ address: '93.184.216.34', family: 4 }])
    assert.deepEqual(await resolveHost('six.example'), [{ address: '2606:4700::1', family: 6 }])
    assert.deepEqual(await resolveHost('lame.example'), [{ address: '93.184.216.34', family: 4 }])
  })

  it('follows an alias to its addresses', async () => {
    assert.deepEqual(await resolveHost('alias.example'), [{ address: '10.0.0.1', family: 4 }])
  })

  it('fails for a name that does not exist or has no address, and if no name server responds', async () => {
    await assert.rejects(resolveHost('missing.example'), { code: 'ENOTFOUND' })
    await assert.rejects(resolveHost('empty.example'), { code: 'ENODATA' })
    await assert.rejects(resolveHost('broken.example'), { code: 'ESERVFAIL' })
  })

  it('does not ask a name server for localhost', async () => {
    const loopback = [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]
    assert.deepEqual(await resolveHost('localhost'), loopback)
    assert.deepEqual(await resolveHost('hooks.localhost'), loopback)
    assert.deepEqual(
      dns.questions.filter((question) => question.includes('localhost')),
      [],
    )
  })
})
