import { countCodePoints } from './text.ts'

/** An agent's public identifier, NFC-normalized (D7). Only `parseAgentId` makes one. */
export type AgentId = string & { readonly __kind: 'agent id' }

const AGENT_ID_CODE_POINTS_MAX = 64
/** Control, format, surrogate, private-use, line and paragraph separators. */
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u

/** Parses an agent id, or answers null when it breaks D7: length, forbidden characters, outer white space, `.` and `..`. */
export function parseAgentId(text: string): AgentId | null {
  const id = text.normalize('NFC')
  const length = countCodePoints(id)
  if (length < 1 || length > AGENT_ID_CODE_POINTS_MAX) return null
  if (FORBIDDEN.test(id) || id !== id.trim()) return null
  if (id === '.' || id === '..') return null
  return id as AgentId
}
