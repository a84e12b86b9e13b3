import { randomBytes } from 'node:crypto'
import { addressesFrom } from '../../../sandbox/src/addresses.ts'
import { serverEnvironment } from '../../../sandbox/src/processes/environments.ts'
import { openState } from '../../../sandbox/src/state/sandbox-state.ts'
import { readConfig } from '../../../server/src/config.ts'
import { toSpki } from '../../../server/src/domain/wallets/owner-passkey.ts'
import { openEnclave } from '../../../server/src/enclave/open-enclave.ts'
import { createClock } from '../../../server/src/lib/clock.ts'
import { createLogger } from '../../../server/src/lib/logger.ts'
import type { AgentHost } from './agent-host.ts'
import { findSandboxDatabase } from './sandbox-database.ts'

const ENCLAVE_TIMEOUT_MS = 10_000
const GRANT = { maxPerTxMicro: 5_000_000, dailyCapMicro: 20_000_000 }

/**
 * Creates a test wallet of the kind that existed before wallet passkeys: its owner is the newest sign-in passkey of the
 * workspace's members. The agent, which must exist, gets an active grant. Returns the wallet's address.
 */
export async function createOldWallet(
  { baseUrl, dataDir }: Pick<AgentHost, 'baseUrl' | 'dataDir'>,
  { slug, agentId, name }: { slug: string; agentId: string; name: string },
): Promise<string> {
  const port = Number(new URL(baseUrl).port)
  const { url: databaseUrl, query } = findSandboxDatabase({ dataDir, port })
  const addresses = addressesFrom(port)
  const state = openState(dataDir).current
  const config = readConfig({ ...serverEnvironment({ addresses, state, databaseUrl }) })
  const clock = createClock(state.clockOffsetMs)
  const enclave = openEnclave(
    { ...config.enclave, timeoutMs: ENCLAVE_TIMEOUT_MS },
    { clock, logger: createLogger('silent') },
  )

  const [owner] = await query(
    `select a.id as account_id, p.credential_id, p.public_key_cose from accounts a
      join members m on m.account_id = a.id join passkeys p on p.user_id = m.user_id
      where a.slug = $1 order by p.created_at desc limit 1`,
    [slug],
  )
  const ownerQuorumId = await enclave.createQuorum({ publicKeys: [toSpki(owner?.['public_key_cose'])], name: 'Owner' })
  const idempotencyKey = randomBytes(16).toString('hex')
  const wallet = await enclave.createWallet({ ownerQuorumId, signers: [], name, idempotencyKey })
  const policyId = await enclave.createPolicy({ name: agentId, ownerQuorumId, idempotencyKey })
  const now = clock.now()
  await query(
    `insert into wallets (account_id, mode, address, name, enclave_wallet_id, owner_quorum_id, owner_credential_id,
        owner_public_key, created_at) values ($1, 'test', $2, $3, $4, $5, $6, $7, $8)`,
    [
      ...[owner?.['account_id'], wallet.address, name, wallet.enclaveWalletId, ownerQuorumId],
      ...[owner?.['credential_id'], owner?.['public_key_cose'], now],
    ],
  )
  await query(
    `insert into grants (account_id, id, mode, agent_id, wallet_address, max_per_tx_micro, daily_cap_micro,
        recipient_allowlist, contract_allowlist, status, enclave_policy_id, created_at, activated_at)
      values ($1, $2, 'test', $3, $4, $5, $6, '{}', $7, 'active', $8, $9, $9)`,
    [
      ...[owner?.['account_id'], createGrantId(), agentId, wallet.address, GRANT.maxPerTxMicro, GRANT.dailyCapMicro],
      ...[[wallet.address], policyId, now],
    ],
  )
  return wallet.address
}

function createGrantId(): string {
  return `grt_0${randomBytes(20).toString('hex').toUpperCase().slice(0, 25)}`
}
