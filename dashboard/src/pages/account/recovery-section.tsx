import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { issueRecoveryCodes } from '../../api/passkeys.ts'
import { sessionQuery } from '../../api/session.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { RecoveryCodes } from '../../components/recovery-codes.tsx'
import { Section } from '../../components/section.tsx'
import { useSession } from '../../components/session-context.ts'

export function RecoverySection() {
  const { recovery_codes_left: count } = useSession()
  const client = useQueryClient()
  const [codes, setCodes] = useState<readonly string[] | null>(null)

  if (codes !== null) {
    return (
      <Section key="codes" title="Your new recovery codes" takesFocus>
        <div className="max-w-xl">
          <RecoveryCodes codes={codes} onKept={() => setCodes(null)} />
        </div>
      </Section>
    )
  }
  return (
    <Section
      title="Recovery codes"
      lead={`${count === 1 ? 'One code is' : `${count} codes are`} left. Each signs you in once, without a passkey.`}
    >
      <p>
        <ConfirmDialog
          label="Make new codes"
          title="Make new recovery codes?"
          confirmLabel="Make new codes"
          isHarmless
          onConfirm={async () => {
            setCodes(await issueRecoveryCodes())
            await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
          }}
        >
          The codes that you have now stop working at once.
        </ConfirmDialog>
      </p>
    </Section>
  )
}
