import { Notice } from '../../components/notice.tsx'
import { TextButton } from '../../components/text-link.tsx'
import { describeSuggestion, type GrantSuggestion } from '../../format/grant-suggestion.ts'

interface DraftNoticeProps {
  /** Null if no rejected request led the user to the form. */
  readonly suggestion: GrantSuggestion | null
  readonly isRestored: boolean
  readonly onStartOver: () => void
}

/** Says why a form for a grant is not empty. */
export function DraftNotice({ suggestion, isRestored, onStartOver }: DraftNoticeProps) {
  if (suggestion !== null) {
    return (
      <Notice>
        <p className="wrap-anywhere">{describeSuggestion(suggestion)}</p>
      </Notice>
    )
  }
  if (!isRestored) return null
  return (
    <Notice>
      <p>
        You began this form before. <TextButton onClick={onStartOver}>Start over</TextButton>
      </p>
    </Notice>
  )
}
