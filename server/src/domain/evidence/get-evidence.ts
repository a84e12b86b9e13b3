import { canonicalJson } from '../../lib/canonical-json.ts'
import { parseJson } from '../../lib/parse-json.ts'
import type { Mode } from '../../values/mode.ts'
import { Problem, problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { getPayment, paymentNotFound } from '../payments/get-payment.ts'
import { checkStillHere } from '../workspaces/check-still-here.ts'
import {
  BEHIND,
  findEvidence,
  type Collected,
  type LeafWithTexts,
  type NotReady,
  type Unavailable,
} from './find-evidence.ts'
import { DOES_NOT_PROVE, EVIDENCE_FORMAT } from './evidence-format.ts'
import { formatLeaf, formatSeal, formatSignature, hashOf } from './format-evidence.ts'
import { compareLeaves, openLogs, proveLeaves, type OpenLogs } from './open-logs.ts'

/** How long a caller waits before it asks again, if it is not known when the evidence will be ready. */
const RETRY_SECONDS = 5
/** A signature is decrypted at most this long after it has become useless (`jobs/clean-up.ts`). */
const OPENING_MS = 60_000

/**
 * Returns the file that proves who allowed a payment (D81), in canonical JSON. `docs/evidence.md` specifies it. The file
 * of a payment changes only if its log has grown, or its grant is revoked.
 *
 * Errors: 404; 403 `agent_not_authorized`; 409 `evidence_not_ready` while the payment is pending, while a leaf waits for
 * the log, and while somebody might use a signature again; 409 `evidence_unavailable` if the payment was not logged, if
 * the file would be too large, or if it would tell the caller about other agents; 503 `workspace_moving`.
 */
export async function getEvidence(
  ctx: Pick<Context, 'db' | 'clock' | 'transparencyLog'>,
  {
    workspaceId,
    mode,
    id,
    boundAgentId,
  }: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly id: string
    /** The only agent whose payments the caller may prove. Null if it may prove all payments, also withdrawals. */
    readonly boundAgentId: string | null
  },
): Promise<string> {
  const payment = await getPayment(ctx, { workspaceId, mode, id })
  // A withdrawal has no agent. A credential of one agent does not see it (D62).
  if (boundAgentId !== null && payment.agentId === null) throw paymentNotFound()
  if (boundAgentId !== null && payment.agentId !== boundAgentId) throw ofAnotherAgent()
  const logs = await openLogs(ctx, workspaceId)
  if (logs === null) throw toProblem(ctx, BEHIND)
  const [collected = BEHIND] = await findEvidence(ctx, logs, { workspaceId, mode, payments: [payment] })
  // What was read after the rows have left for another cell is not complete.
  await checkStillHere(ctx, workspaceId)
  if (collected.kind !== 'collected') throw toProblem(ctx, collected)
  if (boundAgentId !== null && namesOtherAgents(collected, boundAgentId)) throw toProblem(ctx, OF_OTHER_AGENTS)
  const shown = boundAgentId === null ? collected : hideStops(collected)
  return await formatFile(ctx, logs, { workspaceId, collected: shown })
}

const OF_OTHER_AGENTS = { kind: 'unavailable', reason: 'names_other_agents' } as const

/**
 * Returns whether an owner resumed grants of other agents with the same signature. Its statement contains their limits,
 * and cannot be given out in part.
 */
function namesOtherAgents({ signatures }: Collected, agentId: string): boolean {
  return signatures.some(({ resumed }) => [...resumed.values()].some((grant) => grant.agent_id !== agentId))
}

/** Leaves out the details of stops, which say how many grants they suspended, also those of other agents. */
function hideStops({ sharedLeaves, ...collected }: Collected): Collected {
  const hide = (leaf: LeafWithTexts): LeafWithTexts => {
    const { action } = parseJson(leaf.content) as { readonly action?: unknown }
    return action === 'agents.stopped' ? { ...leaf, texts: { details: null } } : leaf
  }
  return { ...collected, sharedLeaves: sharedLeaves.map(hide) }
}

async function formatFile(
  ctx: Pick<Context, 'db'>,
  open: OpenLogs,
  { workspaceId, collected }: { readonly workspaceId: string; readonly collected: Collected },
): Promise<string> {
  const leaves = [...collected.ownLeaves, ...collected.sharedLeaves].toSorted(compareLeaves)
  const proofs = await proveLeaves(ctx, open, { workspaceId, leaves })
  // The last log is there even without leaves, because its key seals the file.
  const isListed = (number: number) => number === open.logs.length - 1 || leaves.some(({ log }) => log === number)
  const logs = open.logs.flatMap((log, number) => {
    const own = leaves.filter((leaf) => leaf.log === number)
    return isListed(number) ? [{ ...log, leaves: own.map((leaf) => formatLeaf(leaf, proofs)) }] : []
  })
  const file = {
    format: EVIDENCE_FORMAT,
    logs,
    signatures: collected.signatures.map(formatSignature),
    does_not_prove: DOES_NOT_PROVE,
  }
  return canonicalJson({ ...file, seal: formatSeal(open, EVIDENCE_FORMAT, hashOf(canonicalJson(file))) })
}

function toProblem({ clock }: Pick<Context, 'clock'>, why: NotReady | Unavailable | typeof OF_OTHER_AGENTS): Problem {
  if (why.kind === 'unavailable') return problem('evidence_unavailable', { details: { reason: why.reason } })
  const now = clock.now().getTime()
  const retryAt = why.retryAt === null ? null : new Date(Math.max(why.retryAt.getTime() + OPENING_MS, now))
  return problem('evidence_not_ready', {
    details: { reason: why.reason, retry_at: retryAt?.toISOString() ?? null },
    retryAfterSeconds: Math.max(RETRY_SECONDS, retryAt === null ? 0 : Math.ceil((retryAt.getTime() - now) / 1_000)),
  })
}

function ofAnotherAgent(): Problem {
  return new Problem('forbidden', 'This credential may only prove payments of its own agent; GET /v1/me returns it.', {
    code: 'agent_not_authorized',
  })
}
