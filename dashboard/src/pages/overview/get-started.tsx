import { useQuery } from '@tanstack/react-query'
import type { Overview } from '@bursar/server/src/console/contract/overview.ts'
import { workspaceQuery } from '../../api/queries.ts'
import { ButtonLink } from '../../components/button-link.tsx'
import { CheckIcon } from '../../components/check-icon.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { may, type Right } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

interface Step {
  readonly key: keyof Overview['steps']
  readonly title: string
  readonly meaning: string
  readonly action: string
  /** The right that the step needs. */
  readonly right: Right
  readonly parts: readonly string[]
  /** `#new` opens the form of the page. */
  readonly hash?: string
}

const STEPS: readonly Step[] = [
  {
    key: 'wallet',
    title: 'Create a wallet',
    meaning: 'A wallet holds USDC. Your passkey owns it: agents can only spend with a grant that you sign.',
    action: 'Create a wallet',
    right: 'manageWallets',
    parts: ['wallets'],
    hash: '#new',
  },
  {
    key: 'deposit',
    title: 'Fund the wallet',
    meaning: 'Send USDC to its address.',
    action: 'Go to wallets',
    right: 'manageWallets',
    parts: ['wallets'],
  },
  {
    key: 'agent',
    title: 'Create an agent',
    meaning: 'An agent is the name under which your software pays.',
    action: 'Create an agent',
    right: 'manageAgents',
    parts: ['agents'],
    hash: '#new',
  },
  {
    key: 'grant',
    title: 'Sign a grant',
    meaning: 'A grant sets how much the agent can spend, to which recipients and until when.',
    action: 'Create a grant',
    right: 'manageGrants',
    parts: ['grants', 'new'],
  },
  {
    key: 'key',
    title: 'Create an API key',
    meaning: 'Your software uses the key to call the API.',
    action: 'Create an API key',
    right: 'manageKeys',
    parts: ['developers', 'keys'],
    hash: '#new',
  },
  {
    key: 'payment',
    title: 'Send a payment',
    meaning: 'Use the example requests, which already contain your IDs.',
    action: 'Show examples',
    right: 'read',
    parts: ['developers', 'examples'],
  },
]

const FAUCET = 'Or press “Get 100 test USDC” on the wallet’s page.'

/** The steps to the first payment of an agent, with a button for the next one. */
export function GetStarted({ steps }: Pick<Overview, 'steps'>) {
  const { slug, mode, role, to } = useWorkspace()
  const { data: workspace } = useQuery(workspaceQuery(slug))
  const hasFaucet = workspace?.chains[mode].faucet?.kind === 'endpoint'
  const next = STEPS.find(({ key }) => !steps[key])
  const done = STEPS.filter(({ key }) => steps[key]).length
  return (
    <Section
      title="Get started"
      lead={
        STEPS.every(({ right }) => may(role, right))
          ? `Steps to your agent’s first payment: ${done} of ${STEPS.length} done.`
          : 'An owner or admin of this workspace must complete these steps before an agent’s first payment.'
      }
    >
      <ol className="divide-y divide-line rounded-xl border border-line bg-surface">
        {STEPS.map((step, index) => {
          const { key, title, meaning, action, right, parts, hash = '' } = step
          const isDone = steps[key]
          const isNext = step === next
          return (
            <li
              key={key}
              aria-current={isNext ? 'step' : undefined}
              className="grid grid-cols-[1.75rem_minmax(0,1fr)] items-center gap-x-4 gap-y-3 px-4 py-4 sm:grid-cols-[1.75rem_minmax(0,1fr)_auto] sm:px-5"
            >
              <span
                aria-hidden="true"
                className={`grid size-7 place-items-center self-start rounded-full text-sm font-bold ${isDone ? 'bg-accent text-on-accent' : isNext ? 'border-2 border-accent text-accent' : 'border border-edge text-muted'}`}
              >
                {isDone ? <CheckIcon className="size-4" /> : index + 1}
              </span>
              <div className="min-w-0">
                <h3 className={`font-semibold ${isDone ? 'text-muted' : ''}`}>
                  {isDone && <span className="sr-only">Done: </span>}
                  {isDone || isNext ? title : <TextLink to={to(...parts) + hash}>{title}</TextLink>}
                </h3>
                {!isDone && (
                  <p className="text-[0.9375rem] text-muted">
                    {key === 'deposit' && hasFaucet ? `${meaning} ${FAUCET}` : meaning}
                  </p>
                )}
              </div>
              {isNext && may(role, right) && (
                <p className="col-start-2 sm:col-start-3">
                  <ButtonLink variant="primary" to={to(...parts) + hash}>
                    {action}
                  </ButtonLink>
                </p>
              )}
            </li>
          )
        })}
      </ol>
    </Section>
  )
}
