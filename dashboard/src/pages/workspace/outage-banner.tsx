import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Outage } from '@bursar/server/src/console/contract/outages.ts'
import { liveKey } from '../../api/query-key.ts'
import { query } from '../../api/query.ts'
import { Notice } from '../../components/notice.tsx'
import { explainOutages } from '../../format/outage-text.ts'

const REFRESH_MS = 15_000
/** During an outage, the page checks more often, so that the banner disappears soon after the outage ends. */
const OUTAGE_REFRESH_MS = 5_000
const NONE: readonly Outage[] = []

/**
 * Says what does not work while the enclave or the mode's chain cannot be reached. It is shown only during an outage.
 */
export function OutageBanner({ slug, mode }: { readonly slug: string; readonly mode: Mode }) {
  const texts = explainOutages(useOutages(slug, mode), mode)
  return (
    <div role="status" className="grid gap-3 empty:absolute print:hidden">
      {texts.map(({ outage, title, broken, working }) => (
        <Notice key={outage} tone="warning">
          <div className="grid gap-1">
            <p className="font-semibold">{title}</p>
            <p>{broken}</p>
            <p>{working}</p>
          </div>
        </Notice>
      ))}
    </div>
  )
}

function outagesQuery(slug: string, mode: Mode) {
  const input = { params: { slug }, query: { mode } }
  return queryOptions({
    ...query('GET /console/workspaces/:slug/outages', input, { pick: ({ outages }) => outages }),
    refetchInterval: ({ state }) => (state.data?.length ? OUTAGE_REFRESH_MS : REFRESH_MS),
  })
}

/** What cannot be reached at the moment. At the end of an outage, the workspace's data is read again. */
function useOutages(slug: string, mode: Mode): readonly Outage[] {
  const client = useQueryClient()
  const { data: outages = NONE } = useQuery(outagesQuery(slug, mode))
  const before = useRef(0)
  useEffect(() => {
    if (outages.length < before.current) void client.invalidateQueries({ queryKey: liveKey(slug, mode) })
    before.current = outages.length
  }, [client, slug, mode, outages])
  return outages
}
