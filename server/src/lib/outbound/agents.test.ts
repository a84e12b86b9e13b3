import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { request } from 'node:http'
import { Socket, type LookupFunction, type TcpNetConnectOpts } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { startFakeDns } from '../../../../test/support/wires/fake-dns.ts'
import { openPoster } from '../../../../test/support/wires/open-poster.ts'
import { startRawServer, type RawServer } from '../../../../test/support/wires/raw-server.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { createClock } from '../clock.ts'
import { createAgents } from './agents.ts'
import { AddressBlocked } from './outbound-error.ts'
import { createHostResolver } from './resolve-host.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
const PUBLIC = '93.184.216.34'

describe('connections to receivers', () => {
  let server: RawServer
  let url: string
  before(async () => {
    server = await startRawServer((socket) => socket.write(OK))
    url = `http://hook.localhost:${server.port}/`
  })
  after(() => server.close())

  let answers: string[][]
  let asked: string[]
  const resolve = async (hostname: string): Promise<LookupAddress[]> => {
    asked.push(hostname)
    const addresses = answers.length > 1 ? answers.shift() : answers[0]
    return (addresses ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  beforeEach(() => {
    asked = []
  })

  it('try at most three addresses, IPv4 and IPv6, with enough time for each', async () => {
    const v4 = Array.from({ length: 10 }, (_, index) => `93.184.216.${index + 1}`)
    const v6 = ['2606:4700::1', '2606:4700::2']
    answers = [[...v4, ...v6], [...v6, ...v4], v4]
    const agents = createAgents({ allowLoopback: false, ownOrigins: [], resolve }, createClock())
    const dialled: string[][] = []
    for (const connection of ['pooled', 'new', 'new'] as const) {
      for (const protocol of ['https:', 'http:'] as const) {
        const agent = agents.pick(new URL(`${protocol}//hook.example/`), connection)
        // The connection options, which the agent's type does not expose.
        const options = Reflect.get(agent, 'options') as TcpNetConnectOpts
        // Node's default of 250 ms is too short for a distant receiver or one lost packet.
        assert.equal(options.autoSelectFamilyAttemptTimeout, 3_000)
        if (protocol === 'http:') dialled.push(await lookUp(options.lookup))
      }
    }
    agents.close()
    assert.deepEqual(dialled, [
      ['93.184.216.1', '93.184.216.2', '2606:4700::1'],
      ['2606:4700::1', '2606:4700::2', '93.184.216.1'],
      ['93.184.216.1', '93.184.216.2', '93.184.216.3'],
    ])
  })

  it('are not made if any address of the host is not allowed', async () => {
    const poster = openPoster({ resolve })
    const madeBefore = server.connections.made
    for (const bad of [
      '10.0.0.1',
      '169.254.169.254',
      '::ffff:127.0.0.1',
      '64:ff9b::a9fe:a9fe',
      'fd00:ec2::254',
      '::',
    ]) {
      for (const addresses of [[bad], ['127.0.0.1', bad], [bad, '127.0.0.1'], [PUBLIC, bad], [bad, PUBLIC]]) {
        answers = [addresses]
        const { error, statusCode } = await poster.post(url)
        assert.deepEqual({ error, statusCode }, { error: 'blocked_address', statusCode: null }, addresses.join())
      }
    }
    assert.equal(server.connections.made, madeBefore)
    poster.close()
  })

  it('are not made to loopback where it is not allowed, whatever its name is', async () => {
    const poster = openPoster({ resolve, allowLoopback: false })
    for (const addresses of [['127.0.0.1'], ['::1'], [PUBLIC, '127.0.0.1'], ['127.9.9.9', PUBLIC]]) {
      answers = [addresses]
      assert.equal((await poster.post('https://hook.example/')).error, 'blocked_address', addresses.join())
    }
    assert.equal(asked.length, 4)
    poster.close()
  })

  it('resolve a host once, and use the address that was checked', async () => {
    const poster = openPoster({ resolve })
    answers = [['127.0.0.1'], ['10.0.0.1']]
    assert.equal((await poster.post(url)).statusCode, 200)
    assert.deepEqual(asked, ['hook.localhost'])
    // The second request reuses the connection to the address that was checked. Only a new connection resolves the name
    // again, and it is rejected because of the second DNS response.
    assert.equal((await poster.post(url)).statusCode, 200)
    assert.deepEqual(asked, ['hook.localhost'])
    poster.close()
    const another = openPoster({ resolve })
    assert.equal((await another.post(url)).error, 'blocked_address')
    another.close()
  })

  it('of one host name are not reused for another name with the same address', async () => {
    const poster = openPoster({ resolve })
    answers = [['127.0.0.1']]
    const madeBefore = server.connections.made
    await poster.post(url)
    await poster.post(url.replace('hook.', 'other.'))
    assert.equal(server.connections.made, madeBefore + 2)
    poster.close()
  })

  it('of one workspace are not reused for another workspace', async () => {
    const poster = openPoster({ resolve })
    answers = [['127.0.0.1']]
    const madeBefore = server.connections.made
    for (const connectionsOf of ['acc_1', 'acc_2']) await poster.post(url, { connectionsOf })
    assert.equal(server.connections.made, madeBefore + 2)
    poster.close()
  })

  it('are not kept if they are a minute old, or if the clock was set back', async () => {
    let now = new Date('2026-06-01T12:00:00.000Z')
    const agents = createAgents({ allowLoopback: true, ownOrigins: [], resolve }, { now: () => now })
    const agent = agents.pick(new URL(url), 'pooled')
    const socket = agent.createConnection({ host: '127.0.0.1', port: server.port })
    assert.ok(socket instanceof Socket)
    await once(socket, 'connect')
    const createdAt = now.getTime()
    for (const [ageMs, isKept] of [
      [0, true],
      [59_999, true],
      [60_000, false],
      [-1, false],
    ] as const) {
      now = new Date(createdAt + ageMs)
      assert.equal(agent.keepSocketAlive(socket), isKept, `${ageMs} ms`)
    }
    socket.destroy()
    agents.close()
  })

  it('try the next address if one does not respond', async () => {
    const poster = openPoster({ resolve })
    answers = [['127.0.0.1', '::1', '127.0.0.2']]
    assert.equal((await poster.post(url)).statusCode, 200)
    answers = [['::1', '127.0.0.1']]
    assert.equal((await poster.post(url.replace('hook.', 'six.'))).statusCode, 200)
    poster.close()
  })

  it('distinguish a host without an address from one that is not allowed', async () => {
    const poster = openPoster({ resolve })
    answers = [[]]
    assert.equal((await poster.post(url)).error, 'dns_error')
    poster.close()
    const broken = openPoster({ resolve: () => Promise.reject(new Error('no name server')) })
    assert.equal((await broken.post(url)).error, 'dns_error')
    broken.close()
  })

  it('use the name servers: an alias of a private address is rejected, and a missing name is an error', async () => {
    const dns = await startFakeDns({
      'alias.example': { cname: 'inside.example', A: ['10.0.0.1'] },
      'rebound.example': { A: [PUBLIC], AAAA: ['::1'] },
      'broken.example': 'SERVFAIL',
    })
    const poster = openPoster({ resolve: createHostResolver([dns.server]) })
    assert.equal((await poster.post('https://alias.example/')).error, 'blocked_address')
    assert.equal((await poster.post('https://missing.example/')).error, 'dns_error')
    assert.equal((await poster.post('https://broken.example/')).error, 'dns_error')
    poster.close()
    await dns.close()
  })

  it('are checked again when they are made, because a URL with an IP address is never resolved', async () => {
    const agents = createAgents({ allowLoopback: false, ownOrigins: [], resolve }, createClock())
    const literal = new URL(`http://127.0.0.1:${server.port}/`)
    const requestsBefore = server.requests.length
    for (const kind of ['pooled', 'new'] as const) {
      const error = await new Promise((settle) => {
        request(literal, { agent: agents.pick(literal, kind), method: 'POST' }, settle)
          .on('error', settle)
          .end('{}')
      })
      assert.ok(error instanceof AddressBlocked, String(error))
    }
    assert.deepEqual(asked, [])
    assert.equal(server.requests.length, requestsBefore)
    agents.close()
  })

  it('are kept for later requests, up to a limit, and closed at the end', async () => {
    const poster = openPoster()
    await waitFor('the connections of other tests to be closed', () => server.connections.open === 0)
    await Promise.all(Array.from({ length: 100 }, () => poster.post(url)))
    const { freeSockets } = poster.agents.pick(new URL(url), 'pooled')
    assert.deepEqual(
      Object.values(freeSockets).map((sockets) => sockets?.length),
      [40],
    )
    await waitFor('the surplus to be closed', () => server.connections.open === 40)
    const { made } = server.connections
    await poster.post(url)
    assert.equal(server.connections.made, made)
    poster.close()
    await waitFor('all of them to be closed', () => server.connections.open === 0)
  })
})

function lookUp(lookup: LookupFunction | undefined): Promise<string[]> {
  return new Promise((resolve, reject) => {
    lookup?.('hook.example', { all: true }, (error, addresses) => {
      if (error !== null || !Array.isArray(addresses)) reject(error ?? new Error('one address only'))
      else resolve(addresses.map(({ address }) => address))
    })
  })
}
