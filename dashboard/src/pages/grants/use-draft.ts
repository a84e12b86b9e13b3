import { useState } from 'react'
import { parseDraft, type ParsedDraft, type GrantDraft } from '../../format/grant-draft.ts'
import { useNow } from '../../components/use-now.ts'

const STEP_MS = 15_000

/** The state of the grant form: the draft as typed, and its parsed value. */
export function useDraft(first: () => GrantDraft): {
  readonly draft: GrantDraft
  readonly parsed: ParsedDraft
  readonly change: (part: Partial<GrantDraft>) => void
} {
  const [draft, setDraft] = useState(first)
  const parsed = parseDraft(draft, useNow(STEP_MS))
  return { draft, parsed, change: (part) => setDraft((before) => ({ ...before, ...part })) }
}
