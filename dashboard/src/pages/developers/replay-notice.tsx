import { useQuery } from '@tanstack/react-query'
import type { Delivery } from '@bursar/server/src/console/contract/deliveries.ts'
import { deliveryQuery } from '../../api/queries.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { DeliveryStatus } from './webhook-status.tsx'

/** The status of a replay, on the page where the user requested it. Empty until the user requests a replay. */
export function ReplayNotice({ delivery }: { readonly delivery: Delivery | undefined }) {
  return (
    <div role="status" className="empty:absolute">
      {delivery !== undefined && <Replayed key={delivery.id} delivery={delivery} />}
    </div>
  )
}

function Replayed({ delivery }: { readonly delivery: Delivery }) {
  const { slug, mode, to } = useWorkspace()
  const { data } = useQuery(deliveryQuery(slug, mode, delivery.id))
  return (
    <Notice>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span>
          Resent: <TextLink to={to('developers', 'deliveries', delivery.id)}>see the new delivery</TextLink>
        </span>
        <DeliveryStatus delivery={data?.delivery ?? delivery} />
      </p>
    </Notice>
  )
}
