import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddedServer } from '../../../sandbox/src/processes/servers.ts'
import type { SandboxFacts } from '../../../sandbox/src/state/sandbox-facts.ts'
import { startThrowAwaySandbox, type ThrowAwaySandbox } from '../../../sandbox/src/throw-away-sandbox.ts'
import { createSandboxWorkspace } from './create-sandbox-workspace.ts'
import { prepareSandbox } from './prepared-sandbox.ts'
import { share } from './share.ts'
import { openUsdcChain, type UsdcChain } from './usdc-chain.ts'
import { FEW_SLOTS } from '../few-slots.ts'
import { call, type AnswerBody } from '../http-client.ts'
import { startDocumentServer, type DocumentServer } from '../wires/document-server.ts'

/**
 * A sandbox's service as an agent host uses it, and a person who consents. An agent host is an application that runs
 * agents, such as a chat client; it connects with OAuth.
 */
export interface AgentHost {
  readonly baseUrl: string
  readonly authUrl: string
  readonly controlUrl: string
  readonly dataDir: string
  /** The workspace, like the demo workspace: its keys, wallets, agent, and an invitation for an owner. */
  readonly workspace: SandboxFacts['workspace']
  /** The test chain, read without the service. */
  readonly chain: UsdcChain
  /** Sends a POST request to the sandbox's control API. Throws if it fails. */
  control(path: string, body: object): Promise<AnswerBody>
  /**
   * Lets the person open the authorization URL, and approve the request for the demo agent in test mode. Returns the
   * address to which the browser is redirected.
   */
  consent(authorizeUrl: URL): Promise<URL>
  /** Starts a second server process on the same database. */
  addServer(): Promise<AddedServer>
  /** Returns the status of `GET /v1/me` with this token. */
  statusOfMe(token: string): Promise<number>
}

/** An agent host in a shared sandbox, and a web site that publishes metadata documents of clients (D73). */
export interface SharedAgentHost extends AgentHost {
  /** The service trusts the certificate of this web site. */
  readonly documents: DocumentServer
}

/** Opens the sandbox that the test files of a folder share. Creates a workspace in it that only the caller uses. */
export async function openSharedAgentHost(): Promise<SharedAgentHost> {
  const sandbox = await share('agent host', startSandboxWithDocuments)
  return { ...openHostOf(sandbox, await createSandboxWorkspace(sandbox)), documents: sandbox.documents }
}

async function startSandboxWithDocuments() {
  const documents = await startDocumentServer()
  const folder = await mkdtemp(join(tmpdir(), 'bursar-documents-'))
  const removeAll = async (): Promise<void> => {
    await documents.close()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const certificate = join(folder, 'certificate.pem')
    await writeFile(certificate, documents.certificate)
    const serverEnv = { NODE_EXTRA_CA_CERTS: certificate }
    const sandbox = await startThrowAwaySandbox({
      serverEnv,
      prepared: await prepareSandbox(),
      memory: 'large',
      walletSlots: FEW_SLOTS,
    })
    const close = async (): Promise<void> => {
      await sandbox.remove()
      await removeAll()
    }
    return { ...sandbox, documents, close }
  } catch (error) {
    await removeAll()
    throw error
  }
}

/** Returns an agent host that uses this workspace of the sandbox. Other tests may use the same sandbox. */
export function openHostOf(
  sandbox: Pick<ThrowAwaySandbox, 'facts' | 'dataDir' | 'addServer'>,
  workspace: AgentHost['workspace'],
): AgentHost {
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
    chain: openUsdcChain(sandbox.facts.chains.test),
    control,
    async consent(authorizeUrl) {
      const body = { authorize_url: authorizeUrl.href, mode: 'test', agent_id: workspace.agent_id }
      return new URL((await control(`/workspaces/${workspace.slug}/consent`, body)).location)
    },
    addServer: () => sandbox.addServer({ port: 0 }),
    statusOfMe: async (token) => (await call(baseUrl, 'GET', '/v1/me', { key: token })).status,
  }
}
