import type { Config } from '../../../server/src/config.ts'
import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import { issueKey } from '../../../server/src/domain/keys/issue-key.ts'
import type { Mode } from '../../../server/src/values/mode.ts'
import { openService, type Service } from '../../../server/src/service.ts'
import { send, type Answer, type Call } from '../http-client.ts'
import { openContractCheck, type ContractCheck } from './check-contract.ts'
import { openFront, type Front } from './front.ts'
import { readRows } from '../database/read-rows.ts'
import { RECIPIENT, type Seed } from '../context/seed.ts'
import { openTestContext, type TestContext } from '../context/test-context.ts'

export interface TestService extends TestContext {
  readonly service: Service
  /** The address at which the tests reach the service, which is that of `front`. */
  readonly url: string
  readonly front: Front
  /** Compares the responses of `/v1` with the contract. */
  readonly contract: ContractCheck
  /** Sends a request. If its path is an operation of `/v1`, the response must be one that the contract describes. */
  call(call: Call): Promise<Answer>
  /** Creates an API key in the seeded workspace and mode. The key has its own rate limit. */
  issueKey(seeded: Seed, mode?: Mode): Promise<string>
  /** Counts the rows of agents, payments and events. */
  countRows(): Promise<Readonly<Record<string, number>>>
}

/** Adds the background jobs to a test service. */
export const withJobs = (config: Config): Config => ({ ...config, role: 'all' })

/**
 * Opens the service on a free port, with a fresh database. Fake servers replace the enclave and the chains. The
 * background jobs run only if `change` adds them (`withJobs`): most tests do not need them, and in the tests of
 * OAuth they took a seventh of the processor time.
 */
export async function openTestService(
  change: (config: Config) => Config | Promise<Config> = (config) => config,
): Promise<TestService> {
  const given = await openTestContext()
  const config = await change({ ...given.config, role: 'api' })
  const service = await openService(config).catch(async (error: unknown) => {
    await given.close()
    throw error
  })
  const front = await openFront(`http://127.0.0.1:${service.ports[0]}`)
  const { url } = front
  const contract = await openContractCheck()
  return {
    ...given,
    service,
    url,
    front,
    contract,
    // Requests to `/v1` have a host name that the service does not know. The service treats an unknown host name as the
    // host of the REST API (D1). All other requests name the host of AUTH_URL.
    async call(call) {
      if (!call.path.startsWith('/v1')) return await send(url, { host: new URL(config.authUrl).host, ...call })
      const answer = await send(url, call)
      contract.check(call, answer)
      return answer
    },
    async issueKey(seeded, mode = seeded.mode) {
      return (await issueKey(given.context, { workspaceId: seeded.workspace.id, mode, actor: OPERATOR })).secret
    },
    async countRows() {
      const tables = ['agents', 'payments', 'events']
      const counts = tables.map(async (table) => {
        const [row] = await readRows(given.context.db, `select count(*) as rows from ${table}`)
        return [table, Number(row?.['rows'])] as const
      })
      return Object.fromEntries(await Promise.all(counts))
    },
    async close() {
      await front.close()
      // The second call ends the delay of a stop that has one.
      void service.stop()
      await service.stop()
      await given.close()
    },
  }
}

/** Makes a valid body for `POST /v1/payments`. Without `changes`, the service accepts the payment. */
export function paymentBody(seeded: Seed, changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { agent_id: seeded.agentId, wallet: seeded.wallet, to: RECIPIENT, amount_usdc: '1', ...changes }
}
