import { AGENT_ID_CODE_POINTS_MAX } from './limits.ts'
import { countCodePoints } from './text.ts'

/** An agent's public identifier, NFC-normalized (D7). Only `parseAgentId` creates one. */
export type AgentId = string & { readonly __kind: 'agent id' }

/** Completes the message about an id that `parseAgentId` rejects. */
export const AGENT_ID_RULE =
  'must have 1 to 64 characters, without control or invisible characters or white space at the ends, and must not be . or ..'

/**
 * Characters that are not allowed: control, format, surrogate and private-use characters, and line and paragraph
 * separators.
 */
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u

/**
 * Parses an agent id. Returns null if its length is not allowed, if it contains a forbidden character, if it begins or
 * ends with white space, or if it is `.` or `..` (D7).
 */
export function parseAgentId(text: string): AgentId | null {
  const id = text.normalize('NFC')
  const length = countCodePoints(id)
  if (length < 1 || length > AGENT_ID_CODE_POINTS_MAX) return null
  if (FORBIDDEN.test(id) || id !== id.trim()) return null
  if (id === '.' || id === '..') return null
  return id as AgentId
}
