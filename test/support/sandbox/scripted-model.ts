import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { exchangeCode, registerClient, startAuthorization } from './oauth-client.ts'
import type { PayerFixture } from './payer-fixture.ts'
import type { SandboxFixture } from './sandbox-fixture.ts'

/** What a model sees after a call. */
export interface SeenAnswer {
  readonly isError: boolean
  /** The text that the host shows to the model. */
  readonly text: string
  readonly content: {
    readonly summary?: string
    readonly error?: { readonly code: string; readonly message: string; readonly next: string }
    readonly payment?: { readonly id: string; readonly status: string; readonly amount_usdc: string }
    readonly replayed?: boolean
    readonly [member: string]: unknown
  }
}

/** A caller that knows only the list of tools, like a model in an agent host. */
export interface ScriptedModel {
  /**
   * Calls a tool. Of `intentions`, passes only those that the tool lists as arguments. `overrides` are added even if
   * the tool does not list them. `signal` ends the call, like a host that stops waiting.
   */
  call(
    tool: string,
    intentions: Readonly<Record<string, unknown>>,
    options?: { overrides?: Readonly<Record<string, unknown>>; signal?: AbortSignal },
  ): Promise<SeenAnswer>
  close(): Promise<void>
}

/**
 * Connects an agent host with OAuth, as the payer's agent. With the negotiation `auto`, both sides use version
 * 2026-07-28 of MCP.
 */
export async function connectModel(
  fixture: SandboxFixture,
  { slug, mode, agentId }: PayerFixture,
  negotiation: 'auto' | 'legacy' = 'auto',
): Promise<ScriptedModel> {
  const authUrl = fixture.sandbox.facts.auth_url
  const authorization = startAuthorization({ authUrl }, await registerClient({ authUrl }))
  const consent = { authorize_url: authorization.url.href, mode, agent_id: agentId }
  const { location } = (await fixture.control(`/workspaces/${slug}/consent`, consent)).body
  const code = String(new URL(location).searchParams.get('code'))
  const { access_token: token } = await exchangeCode({ authUrl }, authorization, code)

  const client = new Client({ name: 'scripted model', version: '1' }, { versionNegotiation: { mode: negotiation } })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', fixture.baseUrl), { requestInit }))
  const { tools } = await client.listTools()
  return {
    async call(name, intentions, { overrides = {}, signal } = {}) {
      const tool = tools.find((listed) => listed.name === name)
      if (tool === undefined) throw new Error(`The list of tools does not contain ${name}.`)
      const { properties = {}, required = [] } = tool.inputSchema
      const missing = required.filter((argument) => !(argument in intentions))
      if (missing.length > 0) throw new Error(`The model does not know what to write as ${missing.join(', ')}.`)
      const known = Object.entries(intentions).filter(([argument]) => argument in properties)
      const args = { ...Object.fromEntries(known), ...overrides }
      const result = await client.callTool({ name, arguments: args }, signal === undefined ? {} : { signal })
      const [first] = result.content
      const text = first?.type === 'text' ? first.text : ''
      return { isError: result.isError === true, text, content: JSON.parse(text) as SeenAnswer['content'] }
    },
    close: () => client.close(),
  }
}
