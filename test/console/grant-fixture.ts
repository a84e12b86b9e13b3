import { randomBytes } from 'node:crypto'
import type { SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import { createAgent } from '../../server/src/domain/agents/create-agent.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import type { Role } from '../../server/src/values/role.ts'
import { createWallet } from '../../server/src/domain/wallets/create-wallet.ts'
import type { Address } from '../../server/src/values/address.ts'
import type { Mode } from '../../server/src/values/mode.ts'
import { seedWorkspace } from '../support/context/connection-rows.ts'
import type { ConsoleServer } from '../support/service/console-server.ts'
import { addWalletOwner, answer } from '../support/context/people.ts'
import { agent } from '../support/context/seed.ts'
import { openVisitor, type Visitor } from './person.ts'

export interface WireGrant {
  readonly id: string
  readonly status: string
  readonly state: string
  readonly replaces: string | null
  readonly replaced_by: string | null
  readonly is_mine_to_sign: boolean
  readonly [member: string]: unknown
}

export interface WireSigningRequest {
  readonly grant: WireGrant
  readonly signing_request: {
    readonly payload: string
    readonly expires_at: string
    readonly credentials: readonly { readonly id: string; readonly public_key: string; readonly name: string }[]
    readonly before: readonly unknown[] | null
  } | null
}

export const TERMS = {
  max_per_tx_usdc: '1.5',
  daily_cap_usdc: '10',
  recipient_allowlist: [],
  expires_at: null,
} as const

/**
 * A workspace with an agent, and the requests that the grants page makes. The workspace's owner also owns a wallet.
 */
export class GrantFixture {
  readonly server: ConsoleServer
  readonly workspace: Workspace
  readonly person: Visitor
  /** The person's wallet passkey, which owns the wallet. */
  readonly owner: SoftwarePasskey
  readonly agentId = agent(`payer ${randomBytes(3).toString('hex')}`)
  readonly wallet: Address

  private constructor(
    server: ConsoleServer,
    workspace: Workspace,
    { person, owner, wallet }: { person: Visitor; owner: SoftwarePasskey; wallet: Address },
  ) {
    this.server = server
    this.workspace = workspace
    this.person = person
    this.owner = owner
    this.wallet = wallet
  }

  static async open(server: ConsoleServer, mode: Mode = 'test'): Promise<GrantFixture> {
    const ctx = server.context
    const workspace = await seedWorkspace(ctx)
    const person = await openVisitor(server)
    await addMember(ctx, { workspace, userId: person.userId, role: 'owner', actor: OPERATOR })
    const owner = await addWalletOwner(ctx, person.userId)
    const { credentialId } = owner
    const owned = { workspaceId: workspace.id, mode, name: 'Treasury', credentialId, actor: OPERATOR }
    const { address: wallet } = await createWallet(ctx, owned)
    const fixture = new GrantFixture(server, workspace, { person, owner, wallet })
    await createAgent(ctx, { workspaceId: workspace.id, mode, id: fixture.agentId, actor: OPERATOR })
    return fixture
  }

  at(path: string): string {
    return `/console/workspaces/${this.workspace.slug}/${path}`
  }

  /** Signs up another person, and makes them a member of the workspace. */
  async join(role: Role): Promise<Visitor> {
    const visitor = await openVisitor(this.server, 'Grace')
    await addMember(this.server.context, { workspace: this.workspace, userId: visitor.userId, role, actor: OPERATOR })
    return visitor
  }

  async list(query = ''): Promise<readonly WireGrant[]> {
    const path = `${this.at('grants')}?mode=test${query}`
    return (await this.person.browser.ask<{ grants: WireGrant[] }>('GET', path)).grants
  }

  async show(id: string, { browser } = this.person): Promise<WireGrant> {
    return (await browser.ask<{ grant: WireGrant }>('GET', this.at(`grants/${id}`))).grant
  }

  async create(change: object = {}): Promise<WireGrant> {
    const body = { mode: 'test', agent_id: this.agentId, wallet: this.wallet, ...TERMS, ...change }
    return (await this.person.browser.ask<{ grant: WireGrant }>('POST', this.at('grants'), body, 201)).grant
  }

  async replace(id: string, change: object = {}): Promise<WireGrant> {
    const path = this.at(`grants/${id}/replacement`)
    return (await this.person.browser.ask<{ grant: WireGrant }>('POST', path, { ...TERMS, ...change }, 201)).grant
  }

  requestSignature(id: string, change: string): Promise<WireSigningRequest> {
    return this.person.browser.ask('POST', this.at(`grants/${id}/signing-request`), { change })
  }

  /** Signs a change of the grant with the owner's wallet passkey, in the given person's browser. */
  async sign(id: string, change: string, { browser } = this.person): Promise<WireGrant> {
    const { signing_request: request } = await this.requestSignature(id, change)
    if (request === null) throw new Error('there is nothing to sign')
    const body = { response: answer(this.owner, { challenge: request.payload }) }
    return (await browser.ask<{ grant: WireGrant }>('POST', this.at(`grants/${id}/signature`), body)).grant
  }
}
