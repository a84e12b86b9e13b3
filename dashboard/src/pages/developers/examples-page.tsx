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
import {
  buyResource,
  checkPrice,
  createPayment,
  getCaller,
  getPayment,
  listAgents,
  VERIFY_WEBHOOK,
  type ExampleLanguage,
} from './examples.ts'
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
        lead="Ready-to-run requests with the IDs of this workspace. They read the API key from the environment variable BURSAR_KEY."
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
            <strong>This is live mode.</strong> The payment and the purchase below move real USDC.
          </p>
        </Notice>
      )}
      {example === undefined ? (
        <QueryState error={error} onRetry={retry} lines={16} />
      ) : (
        <>
          <MissingSteps missing={example.missing} />
          <Section
            title="Check the key"
            lead="Returns the workspace and mode of the key, what it can do and what it can spend. If the key is for one agent only, agent_id is this agent."
          >
            <Request line="GET /v1/me" language={language} code={getCaller(example.values, language)} />
          </Section>
          <Section
            title="List agents"
            lead="Returns each agent with the wallets it can spend from and what remains of its limits."
          >
            <Request line="GET /v1/agents" language={language} code={listAgents(example.values, language)} />
          </Section>
          <Section
            title="Send a payment"
            lead="Requests with the same idempotency key make one payment only. Use a new idempotency key for each new payment. If your key is for one agent only, agent_id must be this agent."
          >
            <Request line="POST /v1/payments" language={language} code={createPayment(example.values, language)} />
          </Section>
          <Section
            title="Get the payment"
            lead={
              <>
                Use the ID from the response. The payment is pending at first and confirmed a few seconds later. It is
                also listed under <TextLink to={to('payments')}>Payments</TextLink>.
              </>
            }
          >
            <Request line="GET /v1/payments/{id}" language={language} code={getPayment(example.values, language)} />
          </Section>
          <Section
            title="Buy a web resource"
            lead={
              <>
                Some resources ask for a payment (x402, MPP). Replace RESOURCE_URL with the address of one. The first
                request asks for its price, and pays nothing. The second one pays, at most max_amount_usdc, and returns
                what the resource answered. If you lose the answer, repeat the request with the same idempotency key: it
                pays nothing more.
                {!example.canBuy && (
                  <>
                    {' '}
                    No active grant allows purchases yet: <TextLink to={to('grants')}>sign one</TextLink> that does.
                  </>
                )}
              </>
            }
          >
            <Request line="POST /v1/x402/check" language={language} code={checkPrice(example.values, language)} />
            <Request line="POST /v1/x402/pay" language={language} code={buyResource(example.values, language)} />
          </Section>
        </>
      )}
      {/* The sections below need no data, but are shown together with the rest so that the page does not jump. */}
      {(example !== undefined || error !== null) && (
        <>
          <Section
            title="Verify a webhook"
            lead="In TypeScript for Node.js, without dependencies. Libraries that verify Stripe signatures work as well."
          >
            <CodeBlock
              what="Verification of the Service-Signature header"
              copied="the function"
              code={VERIFY_WEBHOOK}
            />
          </Section>
          <ConnectExample baseUrl={example?.values.baseUrl} />
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

/** What is missing before a payment can succeed. */
function MissingSteps({
  missing,
}: {
  readonly missing: { readonly [step in 'key' | 'grant' | 'recipient']: boolean }
}) {
  const { mode, to } = useWorkspace()
  const steps: readonly ReactNode[] = [
    missing.grant && (
      <>
        No agent can spend yet. <TextLink to={to('grants', 'new')}>Sign a grant</TextLink>. Its agent and wallet then
        appear in the examples below.
      </>
    ),
    missing.key && (
      <>
        There is no {mode} key. <TextLink to={to('developers', 'keys')}>Create one</TextLink> and set BURSAR_KEY to it.
      </>
    ),
    missing.recipient && (
      <>
        There is no recipient. <TextLink to={to('recipients')}>Add a recipient</TextLink>, or replace RECIPIENT_ADDRESS
        with an address.
      </>
    ),
  ].filter((step) => step !== false)
  if (steps.length === 0) return null
  return (
    <Notice>
      <p className="font-semibold">Before you can send a payment</p>
      <ul className="grid list-disc gap-1 pl-5">
        {steps.map((step, index) => (
          <li key={index}>{step}</li>
        ))}
      </ul>
    </Notice>
  )
}
