import { BatchRefusal, CallReverted, NodeBehind, NodeFault } from './errors.ts'

/**
 * This file recognizes why a node rejected a call or a batch. JSON-RPC defines no codes for the reasons, and each
 * implementation uses different codes. If a code has several meanings, the message decides. The result only decides how
 * we repeat the request. A reason that we do not recognize counts as an ordinary fault of the node.
 */

/**
 * Codes with which nodes reject a whole batch because of its size:
 * - -32600, invalid request: geth and Besu, for more than 1,000 calls
 * - -32005, limit exceeded: Nethermind
 * - -32010: nodes that use jsonrpsee (reth)
 * - -32014: proxyd, in front of most public nodes of the OP stack, for more than 10 calls
 */
const BATCH_CODES: ReadonlySet<unknown> = new Set([-32600, -32005, -32010, -32014])
const BATCH_WORDS = /\bbatch\b|too (?:large|big)|too many (?:rpc )?(?:calls|requests in)/i
/**
 * How nodes reject one query for logs of too many blocks or with too many results. Some gateways then reject the whole
 * batch, also with the codes above, but fewer calls would not help.
 */
const RANGE_WORDS = /\bblocks?\b|\brange\b|\bresults\b|getlogs/i
/** How geth rejects the remaining calls of a batch when the response has become too long. */
const RESPONSE_WORDS = /response too large|\bbatch (?:request )?(?:limit|size|too)|\bbatch of more than\b/i
/**
 * How nodes reject a request because of a rate limit. Smaller batches would not help, because they would mean more
 * requests.
 */
const RATE_WORDS = /\brate\b|per (?:second|minute|hour|day)|daily|quota|capacity|compute units|throttl|credits/i
/**
 * How nodes reject a block that they do not have yet. geth and Erigon: header not found, block range extends beyond
 * current head block. reth: unknown block number.
 */
const BEHIND_WORDS =
  /header not found|header for hash not found|unknown block|block (?:number |height )?(?:\S+ )?(?:is )?not (?:found|available)|beyond (?:the )?(?:current )?head|block ?out ?of ?range|future block/i

/** The code with which geth, reth, Besu, Anvil and others report a reverted call. */
const REVERTED_CODE = 3
/** How nodes report that the called code has failed. Nethermind and older nodes: VM execution error. */
const REVERTED_WORDS = /\brevert(?:ed)?\b|invalid opcode|out of gas|vm execution error|stack (?:under|over)flow/i

type RpcError = { readonly code: unknown; readonly words: string }

/** Classifies the error of one call in a batch, if the node accepted the batch as a whole. */
export function readCallRefusal(refused: Readonly<Record<string, unknown>>, { calls }: { calls: number }): NodeFault {
  const { code, words } = readError(refused)
  const message = `rejected the call with code ${formatCode(code)}`
  if (calls > 1 && RESPONSE_WORDS.test(words) && !RATE_WORDS.test(words)) return new BatchRefusal(message)
  if (code === REVERTED_CODE || REVERTED_WORDS.test(words)) return new CallReverted(message)
  return BEHIND_WORDS.test(words) ? new NodeBehind(message) : new NodeFault(message)
}

/** Classifies the single error with which a node rejected a whole batch. */
export function readBatchRefusal(refused: Readonly<Record<string, unknown>>, { calls }: { calls: number }): NodeFault {
  const { code, words } = readError(refused)
  const message = `rejected the batch with code ${formatCode(code)}`
  const isOther = RATE_WORDS.test(words) || RANGE_WORDS.test(words)
  const isSize = (BATCH_CODES.has(code) || BATCH_WORDS.test(words)) && !isOther
  return calls > 1 && isSize ? new BatchRefusal(message) : new NodeFault(message)
}

function readError(refused: Readonly<Record<string, unknown>>): RpcError {
  const message = refused['message']
  return { code: refused['code'], words: typeof message === 'string' ? message : '' }
}

/** Our messages do not include the node's message, because it may contain the node's URL with our API key. */
function formatCode(code: unknown): string {
  return typeof code === 'number' ? String(code) : 'unknown'
}
