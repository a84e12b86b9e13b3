import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { useOutages } from '../../api/outages.ts'
import { Notice } from '../../components/notice.tsx'
import { explainOutages } from '../../format/outage-text.ts'

/**
 * Says what does not work while the enclave or the mode's chain cannot be reached. It is shown only during an outage.
 */
export function OutageBanner({ slug, mode }: { readonly slug: string; readonly mode: Mode }) {
  const texts = explainOutages(useOutages(slug, mode), mode)
  return (
    <div role="status" className="grid gap-3 empty:absolute">
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
