import { useQueries } from '@tanstack/react-query'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { ApiKey } from '@bursar/server/src/console/contract/keys.ts'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import { grantsQuery, keysQuery, recipientsQuery, workspaceQuery } from '../../api/queries.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import type { ExampleValues } from './examples.ts'

/** The sample address of the Ethereum checksum specification (EIP-55). Payments to it in test mode cost nothing. */
const TEST_RECIPIENT = '0x52908400098527886E0F7030069857D2E4169EE7'

interface Example {
  readonly values: ExampleValues
  /** What the workspace still needs. Until it has these, the examples fail or contain placeholders. */
  readonly missing: { readonly key: boolean; readonly grant: boolean; readonly recipient: boolean }
  /** Whether an active grant allows purchases. */
  readonly canBuy: boolean
}

/** The values in the examples. Undefined while loading. */
export function useExampleValues(): { example: Example | undefined; error: unknown; retry: () => void } {
  const { slug, mode } = useWorkspace()
  const [workspace, grants, recipients, keys] = useQueries({
    queries: [workspaceQuery(slug), grantsQuery(slug, mode), recipientsQuery(slug, mode), keysQuery(slug, mode)],
  })
  const queries = [workspace, grants, recipients, keys]
  const error = queries.find((query) => query.error !== null)?.error ?? null
  const retry = () => queries.forEach((query) => void query.refetch())
  if (!workspace.data || !grants.data || !recipients.data || !keys.data) return { example: undefined, error, retry }
  const grant = grants.data.find(({ state }) => state === 'active')
  const buying = grants.data.find(({ state, x402 }) => state === 'active' && x402)
  const to = findRecipient(grant, recipients.data) ?? (mode === 'test' ? TEST_RECIPIENT : null)
  const buyer = {
    agentId: (buying ?? grant)?.agent_id ?? 'AGENT_ID',
    wallet: (buying ?? grant)?.wallet ?? 'WALLET_ADDRESS',
  }
  const values = {
    baseUrl: workspace.data.base_url,
    mode,
    agentId: grant?.agent_id ?? 'AGENT_ID',
    wallet: grant?.wallet ?? 'WALLET_ADDRESS',
    to: to ?? 'RECIPIENT_ADDRESS',
    buyer,
  }
  const missing = { key: !keys.data.some(isUsable), grant: grant === undefined, recipient: to === null }
  return { example: { values, missing, canBuy: buying !== undefined }, error: null, retry }
}

/** The first recipient that the grant allows, else the first one in the address book. */
function findRecipient(grant: Grant | undefined, recipients: readonly Recipient[]): string | null {
  return grant?.recipient_allowlist[0] ?? recipients[0]?.address ?? null
}

function isUsable({ state }: ApiKey): boolean {
  return state === 'active' || state === 'rotated'
}
