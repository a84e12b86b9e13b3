import type { AddedServer } from '../../../sandbox/src/processes/servers.ts'
import type { SandboxFacts } from '../../../sandbox/src/state/sandbox-facts.ts'
import { startThrowAwaySandbox, type ThrowAwaySandbox } from '../../../sandbox/src/throw-away-sandbox.ts'
import { createSandboxWorkspace } from './create-sandbox-workspace.ts'
import { share } from './share.ts'
import { call, type AnswerBody } from '../http-client.ts'

/** The service of a sandbox, as an agent host meets it, and a person who consents. */
export interface AgentHost {
  readonly baseUrl: string
  readonly authUrl: string
  readonly controlUrl: string
  readonly dataDir: string
  /** The demo workspace: its keys, wallets, agent, and an invitation for an owner. */
  readonly workspace: SandboxFacts['workspace']
  /** Sends a POST to the sandbox's control API. Throws unless it succeeds. */
  control(path: string, body: object): Promise<AnswerBody>
  /**
   * Lets the person open the address and approve for the demo agent in test mode. Returns the address that the browser
   * is sent to.
   */
  consent(authorizeUrl: URL): Promise<URL>
  /** Starts a second server process on the same database. */
  addServer(): Promise<AddedServer>
  /** Returns the status of `GET /v1/me` with a token. */
  statusOfMe(token: string): Promise<number>
}

/** An agent host with its own sandbox. */
export interface OwnAgentHost extends AgentHost {
  close(): Promise<void>
}

export async function openAgentHost(serverEnv: Record<string, string> = {}): Promise<OwnAgentHost> {
  const sandbox = await startThrowAwaySandbox({ serverEnv })
  return { ...openHostOf(sandbox, sandbox.facts.workspace), close: () => sandbox.remove() }
}

/** Opens the sandbox that the test files in this process share, with a workspace that only the caller uses. */
export async function openSharedAgentHost(): Promise<AgentHost> {
  const sandbox = await share('agent host', async () => {
    const started = await startThrowAwaySandbox()
    return { ...started, close: () => started.remove() }
  })
  return openHostOf(sandbox, await createSandboxWorkspace(sandbox))
}

/** Opens one workspace of a sandbox that others use too. */
export function openHostOf(sandbox: ThrowAwaySandbox, workspace: AgentHost['workspace']): AgentHost {
  const { base_url: baseUrl, auth_url: authUrl, control_url: controlUrl } = sandbox.facts
  const control = async (path: string, body: object): Promise<AnswerBody> => {
    const answer = await call(controlUrl, 'POST', path, { body })
    if (answer.status !== 200 && answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`)
    return answer.body
  }
  return {
    baseUrl,
    authUrl,
    controlUrl,
    dataDir: sandbox.dataDir,
    workspace,
    control,
    async consent(authorizeUrl) {
      const body = { authorize_url: authorizeUrl.href, mode: 'test', agent_id: workspace.agent_id }
      return new URL((await control(`/workspaces/${workspace.slug}/consent`, body)).location)
    },
    addServer: () => sandbox.addServer({ port: 0 }),
    statusOfMe: async (token) => (await call(baseUrl, 'GET', '/v1/me', { key: token })).status,
  }
}
