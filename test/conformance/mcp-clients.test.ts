import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { makeAddress } from '../support/sandbox/payer-fixture.ts'
import { openSharedAgentHost, type SharedAgentHost } from '../support/sandbox/agent-host.ts'
import { isUnauthorized, MCP_PACKAGES, type McpClient, type McpPackage } from '../support/sandbox/mcp-clients.ts'
import { MemoryProvider, REDIRECT_URI } from '../support/sandbox/memory-provider.ts'
import { exchangeCode, registerClient, startAuthorization } from '../support/sandbox/oauth-client.ts'

/**
 * The published MCP clients, unchanged. Each one knows only the URL of the MCP server. It finds the authorization
 * server, gets a token, and pays. The sandbox's control API acts as the person who consents.
 */
describe('MCP clients', () => {
  let host: SharedAgentHost
  let url: URL
  before(async () => {
    host = await openSharedAgentHost()
    url = new URL('/mcp', host.baseUrl)
  })

  for (const { name, version, open } of MCP_PACKAGES) {
    test(`${name}: from the URL to a confirmed payment`, async () => {
      const client = await connect(open, new MemoryProvider())
      assert.equal(client.version(), version)
      assert.deepEqual(await client.listTools(), [
        'get_budget',
        'list_wallets',
        'preview_payment',
        'send_payment',
        'check_price',
        'fetch_paid',
        'get_payment',
        'list_ledger',
      ])
      await payOnce(client)
      await client.close()
    })

    test(`${name}: from a URL that was written with a slash at the end`, async () => {
      const client = await connect(open, new MemoryProvider(), new URL('/mcp/', host.baseUrl))
      assert.equal((await client.callTool('get_budget', {})).isError, false)
      await client.close()
    })

    test(`${name}: with a client id that is the URL of its metadata document`, async () => {
      const path = `/${encodeURIComponent(name)}.json`
      const clientMetadataUrl = host.documents.publish(path, { client_name: name, redirect_uris: [REDIRECT_URI] })
      const provider = new MemoryProvider({ clientMetadataUrl })
      const client = await connect(open, provider)
      assert.equal(provider.clientId(), clientMetadataUrl)
      await payOnce(client)
      await client.close()
    })

    test(`${name}: asks for more, if a tool needs a scope that its token does not have`, async () => {
      const provider = await createNarrowProvider()
      const client = open({ url, provider })
      await client.connect()
      assert.equal((await client.callTool('get_budget', {})).isError, false)
      const payment = { to: makeAddress(), amount_usdc: '0.01', purchase_id: `step-up ${name}` }
      await assert.rejects(client.callTool('send_payment', payment), isUnauthorized)
      const asked = provider.takeRedirect()
      assert.deepEqual(asked.searchParams.get('scope')?.split(' ').toSorted(), ['wallet:read', 'wallet:transfer'])
      await client.finish(await host.consent(asked))
      const { isError, content } = await client.callTool('send_payment', payment)
      assert.equal(isError, false, JSON.stringify(content))
      await client.close()
    })
  }

  async function connect(open: McpPackage['open'], provider: MemoryProvider, written = url): Promise<McpClient> {
    const asking = open({ url: written, provider })
    await assert.rejects(asking.connect(), isUnauthorized)
    const callback = await host.consent(provider.takeRedirect())
    assert.equal(callback.searchParams.get('state'), provider.state())
    await asking.finish(callback)
    const client = open({ url: written, provider })
    await client.connect()
    return client
  }

  async function payOnce(client: McpClient): Promise<void> {
    const budget = await client.callTool('get_budget', {})
    const [wallet] = budget.content['wallets'] as { address: string }[]
    assert.equal(wallet?.address, host.workspace.wallets.test)
    const args = { to: makeAddress(), amount_usdc: '0.25', purchase_id: crypto.randomUUID() }
    const sent = await client.callTool('send_payment', args)
    assert.equal(sent.isError, false, JSON.stringify(sent.content))
    const { id } = sent.content['payment'] as { id: string }
    const { content } = await client.callTool('get_payment', { payment_id: id, wait_seconds: 30 })
    const payment = content['payment'] as { status: string; tx_hash: string }
    assert.equal(payment.status, 'confirmed')
    const transfers = (await host.chain.listTransfers(wallet.address)).filter(({ to }) => to === args.to.toLowerCase())
    assert.deepEqual(
      transfers.map(({ txHash, amountMicro }) => [txHash, amountMicro]),
      [[payment.tx_hash, 250_000n]],
    )
  }

  /** A client that has connected before, and whose token only allows it to read. */
  async function createNarrowProvider(): Promise<MemoryProvider> {
    const metadata = { redirect_uris: [REDIRECT_URI] }
    const clientId = await registerClient(host, metadata)
    const change = { scope: 'wallet:read', redirect_uri: REDIRECT_URI, resource: url.href }
    const authorization = startAuthorization(host, clientId, change)
    const callback = await host.consent(authorization.url)
    const tokens = await exchangeCode(host, authorization, String(callback.searchParams.get('code')))
    const provider = new MemoryProvider()
    provider.saveClientInformation({ client_id: clientId, ...metadata, issuer: host.authUrl })
    // Leaves out the refresh token. With it, the earlier SDK would only refresh, and then give up, because a refresh
    // cannot add a scope.
    provider.saveTokens({
      access_token: tokens.access_token,
      scope: tokens.scope,
      token_type: 'Bearer',
      issuer: host.authUrl,
    })
    return provider
  }
})
