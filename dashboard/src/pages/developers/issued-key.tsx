import type { IssuedApiKey } from '@bursar/server/src/console/contract/keys.ts'
import { Button } from '../../components/button.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { OneTimeSecret } from '../../components/one-time-secret.tsx'
import { Section } from '../../components/section.tsx'
import { TimeText } from '../../components/time-text.tsx'

/** The secret of a new key, which is shown only once. */
export function IssuedKey({ issued, onSaved }: { readonly issued: IssuedApiKey; readonly onSaved: () => void }) {
  const { key, secret, grace_until } = issued
  return (
    <Section
      title={grace_until === undefined ? `“${key.name}” is ready` : `The new key for “${key.name}”`}
      lead={
        grace_until !== undefined && (
          <>
            Both keys work until <TimeText at={grace_until} isExact />. Replace the old key by then.
          </>
        )
      }
      takesFocus
    >
      <OneTimeSecret label="API key" secret={secret} what="the key" />
      <CodeBlock what="For your shell" copied="the command for your shell" code={`export BURSAR_KEY=${secret}`} />
      <p>
        <Button variant="primary" onClick={onSaved}>
          I have saved it
        </Button>
      </p>
    </Section>
  )
}
