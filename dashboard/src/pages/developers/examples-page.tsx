import type { ReactNode } from 'react'
import { useSearchParams } from 'react-router'
import { RadioGroupField } from '../../components/radio-group-field.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { ConnectExample } from './connect-example.tsx'
import { listAgents, getPayment, pay, VERIFY_WEBHOOK, getCaller, type ExampleLanguage } from './examples.ts'
import { useExampleValues } from './use-example-values.ts'

const LANGUAGES = [
  { value: 'curl', text: 'curl' },
  { value: 'typescript', text: 'TypeScript' },
]

export function ExamplesPage() {
  const { name, mode, to } = useWorkspace()
  const [search, setSearch] = useSearchParams()
  const language = search.get('in') === 'typescript' ? 'typescript' : 'curl'
  const { example, error, retry } = useExampleValues()
  return (
    <>
      <PageHeading
        title="Examples"
        breadcrumb={name}
        lead="Requests with this workspace’s own ids, to paste and send. They take the key from BURSAR_KEY in the environment."
        actions={
          <RadioGroupField
            label="Language"
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
        <QueryState error={error} onRetry={retry} lines={16} />
      ) : (
        <>
          <Steps lacks={example.lacks} />
          <Section
            title="Ask what the key is for"
            lead="Which workspace and mode the key belongs to, and what it can spend."
          >
            <Request line="GET /v1/me" language={language} code={getCaller(example.place, language)} />
          </Section>
          <Section
            title="List the agents"
            lead="Each with the wallets it may spend from, and what is left of its caps."
          >
            <Request line="GET /v1/agents" language={language} code={listAgents(example.place, language)} />
          </Section>
          <Section
            title="Pay"
            lead="Sent twice with the same idempotency key it is one payment: choose a new idempotency key for each payment that you mean."
          >
            <Request line="POST /v1/payments" language={language} code={pay(example.place, language)} />
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
            <Request line="GET /v1/payments/{id}" language={language} code={getPayment(example.place, language)} />
          </Section>
        </>
      )}
      {/* What needs nothing from the server waits as well, so that nothing moves away from under somebody who reads. */}
      {(example !== undefined || error !== null) && (
        <>
          <Section
            title="Check that a webhook is from Bursar"
            lead="In TypeScript on Node.js, with nothing to install. Verifiers that know Stripe’s form of signature work, too."
          >
            <CodeBlock what="The signature in Service-Signature" copied="the function" code={VERIFY_WEBHOOK} />
          </Section>
          <ConnectExample baseUrl={example?.place.baseUrl} />
        </>
      )}
    </>
  )
}

interface RequestProps {
  readonly line: string
  readonly language: ExampleLanguage
  readonly code: string
}

function Request({ line, language, code }: RequestProps) {
  return <CodeBlock what={line} copied={`the ${language === 'curl' ? 'command' : 'program'} for ${line}`} code={code} />
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
