import type { ReactNode } from 'react'
import { useSearchParams } from 'react-router'
import { ChoiceField } from '../../components/choice-field.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { Waiting } from '../../components/waiting.tsx'
import { useWorkspace } from '../workspace/workspace-context.ts'
import { ConnectExample } from './connect-example.tsx'
import { listAgents, lookAtPayment, pay, VERIFY_WEBHOOK, whoAmI } from './examples.ts'
import { useExamplePlace } from './use-example-place.ts'

const LANGUAGES = [
  { value: 'curl', text: 'curl' },
  { value: 'typescript', text: 'TypeScript' },
]

export function ExamplesPage() {
  const { name, mode, to } = useWorkspace()
  const [search, setSearch] = useSearchParams()
  const language = search.get('in') === 'typescript' ? 'typescript' : 'curl'
  const { example, error, retry } = useExamplePlace()
  return (
    <>
      <PageHeading
        title="Examples"
        place={name}
        lead="Requests with this workspace’s own ids, to paste and send. They take the key from BURSAR_KEY in the environment."
        actions={
          <ChoiceField
            label="Written for"
            value={language}
            choices={LANGUAGES}
            onChange={(value) =>
              setSearch(value === 'curl' ? {} : { in: value }, { replace: true, preventScrollReset: true })
            }
          />
        }
      />
      {mode === 'live' && (
        <Notice tone="warning">
          <p>
            <strong>This is live mode.</strong> The payment below moves real USDC.
          </p>
        </Notice>
      )}
      {example === undefined ? (
        <Waiting error={error} onRetry={retry} lines={8} />
      ) : (
        <>
          <Steps lacks={example.lacks} />
          <Section title="Say who you are" lead="Which workspace and mode the key belongs to, and what it can spend.">
            <CodeBlock what="GET /v1/me" code={whoAmI(example.place, language)} />
          </Section>
          <Section
            title="List the agents"
            lead="Each with the wallets it may spend from, and what is left of its caps."
          >
            <CodeBlock what="GET /v1/agents" code={listAgents(example.place, language)} />
          </Section>
          <Section
            title="Pay"
            lead="Sent twice with the same idempotency key it is one payment: choose a new key for each one that you mean."
          >
            <CodeBlock what="POST /v1/payments" code={pay(example.place, language)} />
          </Section>
          <Section
            title="Look at the payment"
            lead={
              <>
                With the id that the answer holds. It is pending at first, and confirmed some seconds later; you find it
                under <TextLink to={to('payments')}>Payments</TextLink>, too.
              </>
            }
          >
            <CodeBlock what="GET /v1/payments/{id}" code={lookAtPayment(example.place, language)} />
          </Section>
        </>
      )}
      <Section
        title="Check that a webhook is ours"
        lead="In TypeScript on Node.js, with nothing to install. Verifiers that know Stripe’s form of signature work, too."
      >
        <CodeBlock what="The signature in Service-Signature" code={VERIFY_WEBHOOK} />
      </Section>
      <ConnectExample baseUrl={example?.place.baseUrl} />
    </>
  )
}

/** What has to be there before the payment goes through. */
function Steps({ lacks }: { readonly lacks: { readonly [step in 'key' | 'grant' | 'recipient']: boolean } }) {
  const { mode, to } = useWorkspace()
  const steps: readonly ReactNode[] = [
    lacks.grant && (
      <>
        No agent may spend from a wallet here. <TextLink to={to('grants', 'new')}>Sign a grant</TextLink>, and its agent
        and wallet stand below.
      </>
    ),
    lacks.key && (
      <>
        There is no {mode} key. <TextLink to={to('developers', 'keys')}>Create one</TextLink>, and put it into
        BURSAR_KEY.
      </>
    ),
    lacks.recipient && (
      <>
        Nobody to pay is named. <TextLink to={to('recipients')}>Name a recipient</TextLink>, or put an address in the
        place of RECIPIENT_ADDRESS.
      </>
    ),
  ].filter((step) => step !== false)
  if (steps.length === 0) return null
  return (
    <Notice>
      <p className="font-semibold">Before the payment goes through</p>
      <ul className="grid list-disc gap-1 pl-5">
        {steps.map((step, index) => (
          <li key={index}>{step}</li>
        ))}
      </ul>
    </Notice>
  )
}
