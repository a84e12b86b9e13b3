import { withMembers } from './read-body.ts'
import { createResult, type Result } from './result.ts'
import { send, type CallOptions, type Connection } from './send.ts'
import type { Agent } from './types.ts'

/** The agents of the workspace. Use `bursar.agents`. */
export class Agents {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Registers an agent, whose id has 1 to 64 characters, and returns it. If the agent already exists, nothing changes.
   * Only an API key without restrictions can do this.
   *
   * Errors: `BadRequestError` with the code `agent_cap_reached` if the plan allows no more agents.
   *
   * @example
   * ```ts
   * const agent = await bursar.agents.create('shopper')
   * log(agent.status)
   * ```
   */
  create(id: string, options?: CallOptions): Result<Agent> {
    const read = withMembers<{ agent: Agent }>({ agent: 'object' })
    const call = { method: 'POST', path: '/v1/agents', body: { id }, read } as const
    return createResult(send(this.#connection, call, options), ({ agent }) => agent)
  }

  /**
   * Returns all agents of this workspace and mode, oldest first.
   *
   * @example
   * ```ts
   * for (const agent of await bursar.agents.list()) log(agent.id, agent.status)
   * ```
   */
  list(options?: CallOptions): Result<readonly Agent[]> {
    const read = withMembers<{ agents: readonly Agent[] }>({ agents: 'array' })
    const sent = send(this.#connection, { method: 'GET', path: '/v1/agents', read }, options)
    return createResult(sent, ({ agents }) => agents)
  }

  /**
   * Returns an agent with its wallets, and what it may spend from each of them now.
   *
   * Errors: `NotFoundError` if there is no such agent.
   *
   * @example
   * ```ts
   * const agent = await bursar.agents.get('shopper')
   * for (const wallet of agent.wallets) log(wallet.address, wallet.remaining_24h_usdc)
   * ```
   */
  get(id: string, options?: CallOptions): Result<Agent> {
    const read = withMembers<{ agent: Agent }>({ agent: 'object' })
    const sent = send(this.#connection, { method: 'GET', path: `/v1/agents/${encodeURIComponent(id)}`, read }, options)
    return createResult(sent, ({ agent }) => agent)
  }
}
