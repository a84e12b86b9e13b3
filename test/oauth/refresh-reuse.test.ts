import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { readConnection, seedTokens, type ConnectedClient } from '../support/context/connection-rows.ts'
import { readRows } from '../support/database/read-rows.ts'
import type { Answer } from '../support/http-client.ts'
import {
  AUTH_URL,
  expectOauthError,
  FORM_TYPE,
  formatFields,
  openOauthServer,
  readTokens,
  type OauthServer,
} from '../support/service/oauth-server.ts'

const TRIES = 200
/** How many of the tries run at once. */
const TOGETHER = 20
/** The longest time from the response to the second use. */
const DISTANCE_MS_MAX = 50
const SAME_USE_MS = 100

function formOf({ client }: ConnectedClient, refreshToken: string): string {
  return formatFields({ grant_type: 'refresh_token', refresh_token: refreshToken, client_id: client.id })
}

describe('a client that refreshes, and then uses the old refresh token again', () => {
  let given: OauthServer
  before(async () => {
    given = await openOauthServer()
  })
  after(() => given.close())

  test('loses its connection, however soon it does so after the response (D38, D38a)', async () => {
    for (let done = 0; done < TRIES; done += TOGETHER) {
      await Promise.all(Array.from({ length: TOGETHER }, (_, index) => tryOnce(done + index)))
    }
    const rows = await readRows(
      given.context.db,
      'select revoked_because, count(*)::int4 as count from connections group by revoked_because',
    )
    assert.deepEqual(rows, [{ revoked_because: 'refresh_reuse', count: TRIES }])
  })

  test('loses its connection also if it began the second request before the response (D38a)', async () => {
    const seeded = await seedTokens(given.context)
    const begun = request(`${given.url}/oauth/token`, {
      method: 'POST',
      headers: { host: new URL(AUTH_URL).host, 'content-type': FORM_TYPE, 'transfer-encoding': 'chunked' },
    })
    const [first = '', ...rest] = formOf(seeded, seeded.tokens.refreshToken)
    begun.write(first)
    readTokens(await refresh(seeded, seeded.tokens.refreshToken))
    begun.end(rest.join(''))
    const [response] = (await once(begun, 'response')) as [IncomingMessage]
    response.resume()
    assert.equal(response.statusCode, 400)
    assert.equal((await readConnection(given.context, seeded)).revokedBecause, 'refresh_reuse')
  })

  async function tryOnce(index: number): Promise<void> {
    const seeded = await seedTokens(given.context)
    const startMs = performance.now()
    const second = readTokens(await refresh(seeded, seeded.tokens.refreshToken))
    assert.ok(performance.now() - startMs >= SAME_USE_MS)
    const distanceMs = (index * DISTANCE_MS_MAX) / TRIES
    // With a distance of 0, the second use is in the same turn of the event loop as the response.
    if (distanceMs > 0) await delay(distanceMs)
    expectOauthError(await refresh(seeded, seeded.tokens.refreshToken), 'invalid_grant')
    expectOauthError(await refresh(seeded, second.refresh_token), 'invalid_grant')
  }

  function refresh(seeded: ConnectedClient, refreshToken: string): Promise<Answer> {
    return given.post('/oauth/token', formOf(seeded, refreshToken))
  }
})
