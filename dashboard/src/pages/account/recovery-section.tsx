import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { request } from '../../api/request.ts'
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
          <RecoveryCodes codes={codes} onSaved={() => setCodes(null)} />
        </div>
      </Section>
    )
  }
  return (
    <Section
      title="Recovery codes"
      lead={`You have ${count === 1 ? 'one code' : `${count} codes`} left. Each code signs you in once without a passkey.`}
    >
      <p>
        <ConfirmDialog
          label="Generate new codes"
          title="Generate new recovery codes?"
          confirmLabel="Generate new codes"
          isHarmless
          onConfirm={async () => {
            setCodes((await request('POST /console/recovery-codes', { body: {} })).recovery_codes)
            await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
          }}
        >
          Your current codes stop working immediately.
        </ConfirmDialog>
      </p>
    </Section>
  )
}
