import type { IssuedApiKey } from '../../api/wire-developers.ts'
import { Button } from '../../components/button.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { OneTimeSecret } from '../../components/one-time-secret.tsx'
import { Section } from '../../components/section.tsx'
import { TimeText } from '../../components/time-text.tsx'

/** A new key's secret, the one time that it is shown. */
export function IssuedKey({ issued, onKept }: { readonly issued: IssuedApiKey; readonly onKept: () => void }) {
  const { key, secret, grace_until } = issued
  return (
    <Section
      title={grace_until === undefined ? `“${key.name}” is ready` : `The new key for “${key.name}”`}
      lead={
        grace_until !== undefined && (
          <>
            Put it in the old one’s place by <TimeText at={grace_until} isExact />: until then both work.
          </>
        )
      }
      takesFocus
    >
      <OneTimeSecret label="The key" secret={secret} what="the key" />
      <CodeBlock what="For your shell" copied="the command for your shell" code={`export BURSAR_KEY=${secret}`} />
      <p>
        <Button variant="primary" onClick={onKept}>
          I have kept it
        </Button>
      </p>
    </Section>
  )
}
