import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { grantsQuery } from '../../api/grants.ts'
import type { Grant, Refusal } from '../../api/wire-spending.ts'
import { ButtonLink } from '../../components/button-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { isAdmin } from '../../roles.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { detailOf } from './refusal-checks.ts'

interface Advice {
  readonly text: ReactNode
  readonly links: readonly { readonly text: string; readonly to: string }[]
}

/** What can be done about a refusal, by its code, and where. */
export function RefusalAdvice({ refusal }: { readonly refusal: Refusal }) {
  const { slug, mode, role, to } = useWorkspace()
  const { agent_id, wallet } = refusal
  const { data: grants } = useQuery(grantsQuery(slug, mode, { agent: agent_id, wallet }))
  const { text, links } = adviseOn(refusal, grants?.find(({ status }) => status !== 'revoked') ?? null, to)
  return (
    <div className="grid gap-4 rounded-xl border border-line bg-surface p-4 sm:p-5">
      <p>{text}</p>
      {!isAdmin(role) && <p className="text-muted">An owner or admin of the workspace can change this.</p>}
      {links.length > 0 && (
        <p className="flex flex-wrap gap-3">
          {links.map((link, index) => (
            <ButtonLink key={link.text} to={link.to} variant={index === 0 && isAdmin(role) ? 'primary' : 'plain'}>
              {link.text}
            </ButtonLink>
          ))}
        </p>
      )}
    </div>
  )
}

type To = (...parts: readonly string[]) => string

function adviseOn(refusal: Refusal, grant: Grant | null, to: To): Advice {
  const { code, details, agent_id, wallet } = refusal
  const resetsAt = detailOf(details, 'resets_at')
  const replace =
    grant?.status === 'active' ? [{ text: 'Replace the policy', to: to('grants', grant.id, 'replace') }] : []
  const create = {
    text: 'New grant',
    to: `${to('grants', 'new')}?${new URLSearchParams({ agent: agent_id, wallet })}`,
  }
  switch (code) {
    case 'agent_not_found':
      return {
        text: 'Create the agent, or correct the id in the program that asked. The other mode has agents of its own.',
        links: [{ text: 'Go to agents', to: to('agents') }],
      }
    case 'wallet_not_found':
      return {
        text: 'Correct the address in the program that asked, or create a wallet. The other mode has wallets of its own.',
        links: [{ text: 'Go to wallets', to: to('wallets') }],
      }
    case 'permission_not_found':
      return grant === null ? { text: NO_GRANT, links: [create] } : adviseOnGrant(grant, to)
    case 'permission_expired':
      return {
        text: 'The owner can replace the policy with one that ends later, or never. It takes one signature.',
        links: replace.length === 0 ? [create] : replace,
      }
    case 'contract_not_allowed':
      return { text: 'The owner replaces the policy: the new one is written for the contract in use.', links: replace }
    case 'recipient_not_allowed':
      return {
        text: 'If this recipient is to be paid, the owner replaces the policy with one that allows it too.',
        links: replace,
      }
    case 'amount_too_large':
      return {
        text: 'The agent can pay less at a time, or the owner replaces the policy with a higher maximum.',
        links: replace,
      }
    case 'daily_cap_exceeded':
      return {
        text:
          resetsAt === null ? (
            'The amount is above the whole cap, so waiting does not help. The agent can pay less, or the owner replaces the policy with a higher cap.'
          ) : (
            <>
              By <TimeText at={resetsAt} isExact /> enough of the window has passed: the agent can then ask for the same
              once more, unless something else was spent meanwhile. Or the owner replaces the policy with a higher cap.
            </>
          ),
        links: replace,
      }
    case 'plan_cap_exceeded':
      return {
        text: (
          <>
            Live payments go on {resetsAt === null ? 'next month' : <TimeText at={resetsAt} isExact />}, when the
            allowance begins anew, or on a larger plan.
          </>
        ),
        links: [{ text: 'See the plan', to: to('plan') }],
      }
    case 'insufficient_balance':
      return {
        text: 'Fund the wallet, then let the agent ask again.',
        links: [{ text: 'Fund the wallet', to: to('wallets', wallet) }],
      }
    case 'insufficient_gas':
      return {
        text: 'This server lets wallets pay for gas themselves. Send some of the chain’s own coin to the wallet, then let the agent ask again.',
        links: [{ text: 'See the wallet', to: to('wallets', wallet) }],
      }
    default:
      return { text: 'The message says what was wrong. Correct the request, then ask again.', links: [] }
  }
}

const NO_GRANT = 'Give the agent a grant on this wallet. It allows nothing before the wallet’s owner has signed it.'

/** There is a grant by now, or there was one that allowed nothing. */
function adviseOnGrant(grant: Grant, to: To): Advice {
  const page = to('grants', grant.id)
  if (grant.state === 'pending') {
    return { text: 'There is a grant, and its owner has not signed it yet.', links: [{ text: 'Sign it', to: page }] }
  }
  if (grant.state === 'suspended') {
    return {
      text: 'The grant is suspended. Only a new signature brings it back: the owner replaces its policy.',
      links: [
        { text: 'Replace the policy', to: to('grants', grant.id, 'replace') },
        { text: 'See the grant', to: page },
      ],
    }
  }
  return {
    text: 'There is an active grant by now: let the agent ask again.',
    links: [{ text: 'See the grant', to: page }],
  }
}
