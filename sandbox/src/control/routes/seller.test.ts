import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { fetchOnce } from '../../lib/fetch-once.ts'
import { createClient, textAt, type Client } from '../../demo/http-client.ts'
import { openControlSandbox } from '../../../../test/support/sandbox/control-sandbox.ts'

describe('the seller of a sandbox', () => {
  let control: Client
  let sellerUrl: string
  before(async () => {
    const { facts } = await openControlSandbox()
    control = createClient(facts.control_url)
    sellerUrl = facts.seller_url
  })

  it('starts when a resource is created, and counts the requests', async () => {
    const made = await control.post('/seller/resources', { price_usdc: '0.25', protocol: 'mpp' })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const [id, url] = [textAt(made.body, 'resource.id'), textAt(made.body, 'resource.url')]
    assert.equal(url, `${sellerUrl}/r/${id}`)
    assert.equal((await fetchOnce(url)).status, 402)
    const found = await control.get(`/seller/resources/${id}`)
    const { resource } = found.body as { readonly resource: Readonly<Record<string, unknown>> }
    assert.deepEqual([found.status, resource['requests'], resource['paid_requests']], [200, 1, 0])
  })

  it('rejects a behaviour that does not exist, and a resource that was not created', async () => {
    for (const body of [{ faults: ['explodes'] }, { protocol: 'cash' }, { delay_ms: 0 }, { price_usdc: '0' }]) {
      assert.equal((await control.post('/seller/resources', body)).status, 400, JSON.stringify(body))
    }
    assert.equal((await control.get('/seller/resources/none')).status, 404)
  })
})
