import { countCodePoints } from './text.ts'

/** An agent's public identifier, NFC-normalized (D7). Only `parseAgentId` creates one. */
export type AgentId = string & { readonly __kind: 'agent id' }

const AGENT_ID_CODE_POINTS_MAX = 64
/**
 * Characters that are not allowed: control, format, surrogate and private-use characters, and line and paragraph
 * separators.
 */
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u

/**
 * Parses an agent id. Returns null if its length, a forbidden character, or leading or trailing white space is not
 * allowed, or if it is `.` or `..` (D7).
 */
export function parseAgentId(text: string): AgentId | null {
  const id = text.normalize('NFC')
  const length = countCodePoints(id)
  if (length < 1 || length > AGENT_ID_CODE_POINTS_MAX) return null
  if (FORBIDDEN.test(id) || id !== id.trim()) return null
  if (id === '.' || id === '..') return null
  return id as AgentId
}
