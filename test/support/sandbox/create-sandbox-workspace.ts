import type { SandboxFacts } from '../../../sandbox/src/state/sandbox-facts.ts'
import { openState } from '../../../sandbox/src/state/sandbox-state.ts'
import type { ThrowAwaySandbox } from '../../../sandbox/src/throw-away-sandbox.ts'
import { Database } from '../../../server/src/db/database.ts'
import { getWorkspace } from '../../../server/src/domain/workspaces/get-workspace.ts'
import { createInvitation } from '../../../server/src/domain/members/create-invitation.ts'
import { createClock } from '../../../server/src/lib/clock.ts'
import { createLogger } from '../../../server/src/lib/logger.ts'
import type { Mode } from '../../../server/src/values/mode.ts'
import { call, type JsonAnswer } from '../http-client.ts'
import { findSandboxDatabase } from './sandbox-database.ts'

/** The terms of the grants in the demo workspace. */
const TERMS = { max_per_tx_usdc: '10', daily_cap_usdc: '100' }
const FUND_USDC = '1000'
const INVITATION_USES_MAX = 100

/**
 * Creates a workspace like the sandbox's demo workspace. It has the same name and the same agent, but another slug.
 * Each test file in a shared sandbox creates one, so no file is affected by the changes of another.
 */
export async function createSandboxWorkspace(sandbox: ThrowAwaySandbox): Promise<SandboxFacts['workspace']> {
  const { facts } = sandbox
  const post = async (base: string, path: string, body: object, key?: string): Promise<JsonAnswer['body']> => {
    const answer = await call(base, 'POST', path, { body, ...(key === undefined ? {} : { key }) })
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
    return answer.body
  }
  const { slug, keys } = (await post(facts.control_url, '/workspaces', { name: facts.workspace.slug })).workspace
  const agentId = facts.workspace.agent_id
  const createWallet = async (mode: Mode): Promise<string> => {
    const wallet = { mode, fund_usdc: FUND_USDC }
    const [{ address }] = await Promise.all([
      post(facts.control_url, `/workspaces/${slug}/wallets`, wallet).then((body) => body.wallet),
      post(facts.base_url, '/v1/agents', { id: agentId }, keys[mode]),
    ])
    await post(facts.control_url, `/workspaces/${slug}/grants`, { mode, agent_id: agentId, wallet: address, ...TERMS })
    return address
  }
  const [test, live, invitation] = await Promise.all([
    createWallet('test'),
    createWallet('live'),
    invite(sandbox, slug),
  ])
  const inviteUrl = `${facts.auth_url}/invite/${invitation}`
  return { slug, keys, wallets: { test, live }, agent_id: agentId, invite_url: inviteUrl }
}

/** Creates an invitation for an owner, and returns its secret. */
async function invite({ dataDir, port }: ThrowAwaySandbox, slug: string): Promise<string> {
  const { url } = findSandboxDatabase({ dataDir, port })
  const db = new Database({ url, connectionsMax: 1 }, createLogger('silent'))
  try {
    const context = { db, clock: createClock(openState(dataDir).current.clockOffsetMs) }
    const workspace = await getWorkspace(context, slug)
    const actor = { kind: 'operator' } as const
    return (await createInvitation(context, { workspace, role: 'owner', actor, usesMax: INVITATION_USES_MAX })).secret
  } finally {
    await db.close()
  }
}
