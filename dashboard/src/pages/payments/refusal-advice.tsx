import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { RefusedRequest } from '@bursar/server/src/console/contract/refusals.ts'
import { grantsQuery } from '../../api/queries.ts'
import { ButtonLink } from '../../components/button-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { may } from '@bursar/server/src/values/role.ts'
import { formatSuggestion } from '../../format/grant-suggestion.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { detailOf } from './refusal-checks.ts'

interface Advice {
  readonly text: ReactNode
  readonly links: readonly { readonly text: string; readonly to: string }[]
}

/** Advice on what to do about a rejected request, with links. */
export function RefusalAdvice({ refusal }: { readonly refusal: RefusedRequest }) {
  const { slug, mode, role, to } = useWorkspace()
  const { agent_id, wallet } = refusal
  const { data: grants } = useQuery(grantsQuery(slug, mode, { agent: agent_id, wallet }))
  const { text, links } = adviseOn(refusal, grants?.find(({ status }) => status !== 'revoked') ?? null, to)
  return (
    <div className="grid gap-4 rounded-xl border border-line bg-surface p-4 sm:p-5">
      <p>{text}</p>
      {!may(role, 'manageGrants') && <p className="text-muted">An owner or admin of the workspace can change this.</p>}
      {links.length > 0 && (
        <p className="flex flex-wrap gap-3">
          {links.map((link, index) => (
            <ButtonLink
              key={link.text}
              to={link.to}
              variant={index === 0 && may(role, 'manageGrants') ? 'primary' : 'plain'}
            >
              {link.text}
            </ButtonLink>
          ))}
        </p>
      )}
    </div>
  )
}

type To = (...parts: readonly string[]) => string

function adviseOn(refusal: RefusedRequest, grant: Grant | null, to: To): Advice {
  const { code, details, agent_id, wallet, resource_url } = refusal
  const isPurchase = resource_url !== null
  const resetsAt = detailOf(details, 'resets_at')
  // The forms are filled in so that the same request would be allowed.
  const suggestion = formatSuggestion({
    recipient: refusal.to,
    amountUsdc: refusal.amount_usdc,
    spentUsdc: code === 'daily_cap_exceeded' ? detailOf(details, 'spent_24h_usdc') : null,
    isPurchase,
  })
  const replaceWith = (active: Grant) => ({
    text: 'Replace grant',
    to: `${to('grants', active.id, 'replace')}?${new URLSearchParams(suggestion)}`,
  })
  const replace = grant?.status === 'active' ? [replaceWith(grant)] : []
  const create = {
    text: 'New grant',
    to: `${to('grants', 'new')}?${new URLSearchParams({ agent: agent_id, wallet, ...suggestion })}`,
  }
  switch (code) {
    case 'agent_not_found':
      return {
        text: 'Create the agent, or correct the ID in your program. Test and live mode have separate agents.',
        links: [{ text: 'Go to agents', to: to('agents') }],
      }
    case 'wallet_not_found':
      return {
        text: 'Correct the address in your program, or create a wallet. Test and live mode have separate wallets.',
        links: [{ text: 'Go to wallets', to: to('wallets') }],
      }
    case 'permission_not_found':
      return grant === null ? { text: NO_GRANT, links: [create] } : adviseOnGrant(grant, to)
    case 'permission_expired':
      return {
        text: 'Replace the grant with one that has a later end date, or no end date. The wallet’s owner must sign the replacement.',
        links: replace.length === 0 ? [create] : replace,
      }
    case 'purchases_not_allowed':
      return {
        text: 'To let the agent buy, replace the grant with one that allows purchases. The wallet’s owner must sign the replacement.',
        links: replace,
      }
    case 'contract_not_allowed':
      return {
        text: 'Revoke this grant and create a new one. A new grant allows the USDC contract that this server uses.',
        links: grant === null ? [create] : [{ text: 'View grant', to: to('grants', grant.id) }],
      }
    case 'recipient_not_allowed':
      return {
        text: isPurchase
          ? 'The seller wants to be paid at an address that the grant does not allow. To let the agent buy here, replace the grant with one that includes this address, or allows any recipient.'
          : 'To allow this recipient, replace the grant with one that includes it.',
        links: replace,
      }
    case 'amount_too_large':
      return {
        text: isPurchase
          ? 'The seller sets the price. To let the agent buy this, replace the grant with one that has a higher per-payment limit.'
          : 'The agent can send a smaller payment, or you can replace the grant with one that has a higher per-payment limit.',
        links: replace,
      }
    case 'daily_cap_exceeded':
      return {
        text:
          resetsAt === null ? (
            `The amount exceeds the whole 24-hour limit, so waiting does not help. ${isPurchase ? 'You can' : 'The agent can send a smaller payment, or you can'} replace the grant with one that has a higher limit.`
          ) : (
            <>
              The agent can retry after <TimeText at={resetsAt} isExact />, if it does not spend more before then. By
              that time, enough of the earlier payments will be more than 24 hours old. To let it pay sooner, replace
              the grant with one that has a higher limit.
            </>
          ),
        links: replace,
      }
    case 'plan_cap_exceeded':
      return {
        text: (
          <>
            Live payments work again from{' '}
            {resetsAt === null ? 'the first of next month' : <TimeText at={resetsAt} hasZone />}, when the next month
            begins. To pay sooner, ask the server operator for a larger plan.
          </>
        ),
        links: [{ text: 'View plan', to: to('plan') }],
      }
    case 'insufficient_balance':
      return {
        text: 'Add USDC to the wallet, then let the agent retry.',
        links: [{ text: 'Add USDC', to: to('wallets', wallet) }],
      }
    case 'storage_full':
      return {
        text: 'Each response of a seller is kept for 24 hours. Let the agent retry later, when older responses were deleted. If this happens often, ask the server operator for a larger plan.',
        links: [{ text: 'View plan', to: to('plan') }],
      }
    case 'insufficient_gas':
      return {
        text: 'On this server, wallets pay for gas themselves. Send some of the chain’s native coin to the wallet, then let the agent retry.',
        links: [{ text: 'View wallet', to: to('wallets', wallet) }],
      }
    default:
      return {
        text: 'The response to the agent, shown below, says what was wrong. Correct the request and retry.',
        links: [],
      }
  }
}

const NO_GRANT = 'Create a grant for the agent on this wallet. It takes effect once the wallet’s owner has signed it.'

/**
 * Advice if the agent has a grant on the wallet now. The grant was created after the request, or did not allow payments
 * at the time of the request.
 */
function adviseOnGrant(grant: Grant, to: To): Advice {
  const page = to('grants', grant.id)
  if (grant.state === 'pending') {
    return {
      text: 'There is a grant, but the wallet’s owner has not signed it yet.',
      links: [{ text: 'View grant', to: page }],
    }
  }
  if (grant.state === 'suspended') {
    return {
      text: 'The grant is suspended. To let the agent pay again, the wallet’s owner must resume the grant, or sign a replacement.',
      links: [
        { text: 'Replace grant', to: to('grants', grant.id, 'replace') },
        { text: 'View grant', to: page },
      ],
    }
  }
  if (grant.state === 'expired') {
    return {
      text: 'There is a grant, but it has expired. Open it to see what to do.',
      links: [{ text: 'View grant', to: page }],
    }
  }
  return {
    text: 'There is an active grant now. Let the agent retry.',
    links: [{ text: 'View grant', to: page }],
  }
}
