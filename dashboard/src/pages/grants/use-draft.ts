import { parseDraft, parseStoredDraft, type ParsedDraft, type GrantDraft } from '../../format/grant-draft.ts'
import { useNow } from '../../components/use-now.ts'
import { useSession } from '../../components/session-context.ts'
import { useStoredState } from '../../components/use-stored-state.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

const STEP_MS = 15_000

interface DraftState {
  readonly draft: GrantDraft
  readonly parsed: ParsedDraft
  readonly change: (part: Partial<GrantDraft>) => void
  /** Whether the draft is from an earlier visit of the form. */
  readonly isRestored: boolean
  /** Forgets the draft, because a grant was made of it. */
  readonly forget: () => void
  /** Begins again with the first draft. */
  readonly startOver: () => void
}

/**
 * The state of the form for a grant: the draft as typed, and its parsed value. `form` says which form it is. The draft
 * survives until a grant was made of it.
 */
export function useDraft(form: string, first: () => GrantDraft): DraftState {
  const key = useDraftKey(form)
  const { value: draft, change, ...rest } = useStoredState({ key, parse: parseStoredDraft, first })
  const parsed = parseDraft(draft, useNow(STEP_MS))
  return {
    draft,
    parsed,
    change: (part) => change((before) => ({ ...before, ...part })),
    ...rest,
  }
}

/** The name under which the input of a form is stored. */
export function useDraftKey(form: string): string {
  const { slug, mode } = useWorkspace()
  const { user } = useSession()
  return ['draft', user.id, slug, mode, form].join(' ')
}
